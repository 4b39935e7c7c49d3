//! The report as one page: pictures drawn here, nothing fetched from elsewhere, in dark and in light.

use std::fmt::Write as _;

use loadscope_trace::{Activity, Lane, Nanos, count};

use super::Report;
use crate::format::percent;

mod style;

use style::{capital, class, dot, escaped, severity_class, style};

/// The width that pictures are drawn for, px; they grow and shrink with the page.
const WIDTH: f64 = 960.0;
/// The height of the bar of blame, px.
const BAR: f64 = 28.0;
/// The height of the strip of the run, px.
const STRIP: f64 = 64.0;
/// Into so many parts the strip is divided.
const PARTS: i64 = 240;

/// The whole page.
pub fn html(report: &Report) -> String {
    let mut page = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut page, report);
    page
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let verdict = &report.diagnosis.verdict;
    let run = report.survey.run;
    let title = escaped(&format!("{} – Loadscope", run.info.dataset));
    write!(
        out,
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width\"><title>{title}</title><style>{}</style></head><body><main>",
        style()
    )?;
    write!(
        out,
        "<h1 class=\"{}\">{}</h1>",
        severity_class(verdict.severity),
        escaped(&verdict.headline)
    )?;
    for part in verdict.cause.iter().chain(&verdict.outlook) {
        write!(out, "<p class=\"lead\">{}</p>", escaped(&capital(part)))?;
    }
    if let Some(loader) = &report.loader {
        let sentence = escaped(&loader.sentence());
        write!(out, "<p class=\"lead weak\">{sentence}</p>")?;
    }
    blame(out, report)?;
    strip(out, report)?;
    findings(out, report)?;
    outlook(out, report)?;
    samples(out, report)?;
    facts(out, report)?;
    out.push_str("</main></body></html>\n");
    Ok(())
}

fn blame(out: &mut String, report: &Report) -> std::fmt::Result {
    let blame = &report.survey.blame;
    if blame.waited.0 <= 0 {
        return Ok(());
    }
    let share = |time: Nanos| time.0 as f64 / blame.waited.0 as f64;
    write!(
        out,
        "<h2>What the trainer waited for</h2><svg viewBox=\"0 0 {WIDTH} {BAR}\" role=\"img\" \
         aria-label=\"Shares of the waited time\">"
    )?;
    let (causes, rest) = super::facts::causes(report);
    let mut parts: Vec<(&str, &str, &str, Nanos)> = (causes.into_iter())
        .map(|(c, time)| (class(c), c.label(), c.explanation(), time))
        .collect();
    if rest.0 > 0 {
        parts.push((
            "weakest",
            "Everything else",
            "Less than 0.5\u{2009}% each",
            rest,
        ));
    }
    let mut x = 0.0;
    for (class, label, _, time) in &parts {
        let width = share(*time) * WIDTH;
        write!(
            out,
            "<rect class=\"{class}\" x=\"{x:.2}\" width=\"{width:.2}\" height=\"{BAR}\"><title>{label}: {}</title></rect>",
            percent(share(*time))
        )?;
        x += width;
    }
    out.push_str("</svg><div class=\"wide\"><table><tr><th>Cause</th><th class=\"n\">Time</th><th class=\"n\">Share</th><th></th></tr>");
    for (class, label, explanation, time) in &parts {
        write!(
            out,
            "<tr><td class=\"name\">{}{label}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"weak\">{explanation}</td></tr>",
            dot(class),
            report.survey.say(*time),
            percent(share(*time)),
        )?;
    }
    out.push_str("</table></div>");
    if !blame.not_measured.is_empty() {
        let names: Vec<&str> = blame.not_measured.iter().map(|c| c.label()).collect();
        write!(
            out,
            "<p class=\"weak\">Not measured: {}</p>",
            names.join(", ")
        )?;
    }
    Ok(())
}

/// The run from left to right: training below, waiting above it.
fn strip(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let total = survey.total().0;
    if total <= 0 {
        return Ok(());
    }
    write!(
        out,
        "<h2>The trainer</h2><svg viewBox=\"0 0 {WIDTH} {STRIP}\" role=\"img\" aria-label=\"When the trainer worked and when \
         it waited\"><rect class=\"ground\" width=\"{WIDTH}\" height=\"{STRIP}\"/>"
    )?;
    let at = |k: i64| {
        survey.start + Nanos((i128::from(total) * i128::from(k) / i128::from(PARTS)) as i64)
    };
    let width = WIDTH / PARTS as f64;
    for k in 0..PARTS {
        let (start, end) = (at(k), at(k + 1));
        let length = (end - start).0.max(1) as f64;
        let spent = survey.run.spent(Lane::Trainer, start, end);
        let height = |activity| (spent.of(activity).0 as f64 / length).clamp(0.0, 1.0) * STRIP;
        let (trains, waits) = (height(Activity::Training), height(Activity::Waiting));
        let x = k as f64 * width;
        for (class, height, below) in [("step", trains, 0.0), ("stall", waits, trains)] {
            if height > 0.0 {
                let y = STRIP - below - height;
                write!(
                    out,
                    "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"/>"
                )?;
            }
        }
    }
    write!(
        out,
        "</svg><p class=\"axis\"><span>0</span><span>{}</span></p><p class=\"weak\">{}Training &emsp;{}Waiting</p>",
        survey.say(survey.total()),
        dot("step"),
        dot("stall")
    )
}

/// What other settings would bring: a bar each, as long as it would take, and the waiting in it.
fn outlook(out: &mut String, report: &Report) -> std::fmt::Result {
    const TITLE: &str = "<h2>What other settings would bring</h2>";
    // The verdict may have said so already.
    let is_told = report.diagnosis.verdict.outlook.is_some();
    if let Some(reason) = super::outlook::reason(report) {
        if is_told {
            return Ok(());
        }
        return write!(out, "{TITLE}<p>{}</p>", escaped(&reason));
    }
    let rows = super::outlook::rows(report);
    let Some(longest) = rows.iter().map(|r| r.took.0).max() else {
        return Ok(());
    };
    write!(
        out,
        "{TITLE}<div class=\"wide\"><table><tr><th>Setting</th><th class=\"n\">Time</th><th class=\"n\">Change</th>\
         <th class=\"n\">Waited</th><th class=\"bar\"></th></tr>"
    )?;
    for row in &rows {
        let share = |time: Nanos| time.0 as f64 / longest.max(1) as f64 * 100.0;
        let trains = share(row.took - row.waited).max(0.0);
        write!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"bar\">\
             <svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Time, and the waiting in it\">\
             <rect class=\"step\" width=\"{trains:.2}\" height=\"10\"/><rect class=\"stall\" x=\"{trains:.2}\" \
             width=\"{:.2}\" height=\"10\"/></svg></td></tr>",
            escaped(&row.name),
            report.survey.say(row.took),
            row.change.map(super::text::signed).unwrap_or_default(),
            match row.waited.0 {
                0 => "0".to_owned(),
                _ => report.survey.say(row.waited),
            },
            share(row.waited)
        )?;
    }
    out.push_str("</table></div>");
    if let Some(left_out) = super::outlook::left_out(report) {
        write!(out, "<p>{}</p>", escaped(&left_out))?;
    }
    if let Some(Ok(prospects)) = &report.prospects {
        for assumption in &prospects.assumptions {
            write!(
                out,
                "<p class=\"weak\">{}</p>",
                escaped(&capital(assumption))
            )?;
        }
    }
    Ok(())
}

fn findings(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.diagnosis.findings.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Why, and what to do</h2><ol>");
    for finding in &report.diagnosis.findings {
        write!(
            out,
            "<li><b>{}</b> {}<br>→ {}</li>",
            finding.severity.label(),
            escaped(&finding.text),
            escaped(&finding.remedy)
        )?;
    }
    out.push_str("</ol>");
    Ok(())
}

fn samples(out: &mut String, report: &Report) -> std::fmt::Result {
    let samples = &report.fetching.samples;
    if samples.is_empty() {
        return Ok(());
    }
    out.push_str(
        "<h2>Samples that were waited for longest</h2><div class=\"wide\"><table><tr><th>Sample</th><th>Batch</th><th class=\"n\">Waited</th>\
         <th class=\"n\">Took</th></tr>",
    );
    let run = report.survey.run;
    for sample in samples {
        let name = sample.index.map_or("—".to_owned(), count);
        write!(
            out,
            "<tr><td class=\"m\">{name}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            run.batches()[sample.row].id,
            report.survey.say(sample.waited),
            report.survey.say(sample.wall)
        )?;
    }
    out.push_str("</table></div>");
    Ok(())
}

fn facts(out: &mut String, report: &Report) -> std::fmt::Result {
    let info = &report.survey.run.info;
    let s = &report.summary;
    write!(
        out,
        "<h2>The run</h2><p>{} · {}</p>{}<p>{}</p>",
        escaped(&info.dataset),
        escaped(&info.origin.label()),
        info.python_line().map_or(String::new(), |line| format!(
            "<pre>{}</pre>",
            escaped(&line)
        )),
        super::facts::facts(s)
    )?;
    if s.dropped > 0 {
        write!(
            out,
            "<p class=\"critical\">{} events were lost</p>",
            count(s.dropped)
        )?;
    }
    if report.cut {
        out.push_str(
            "<p>The file is cut off in the middle; everything before the cut was read</p>",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::Datasets;
    use crate::simulated::simulated;

    #[test]
    fn the_page_stands_alone_and_escapes_what_it_is_told() {
        let mut run = simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        });
        run.info.dataset = "<script>alert('1')</script>".to_owned();
        let page = html(&Report::of(&run, false, Datasets::default()));
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"), "{page}");
        assert!(
            !page.contains("<script") && !page.contains("http"),
            "{page}"
        );
        assert!(page.contains("0.96\u{202f}s of it for batch 4"), "{page}");
        assert!(page.contains("prefers-color-scheme:dark"));
        // Everything that is opened is closed.
        for tag in [
            "html", "body", "main", "svg", "table", "tr", "td", "th", "ol", "li", "p", "h2",
        ] {
            let open = page.matches(&format!("<{tag}>")).count()
                + page.matches(&format!("<{tag} ")).count();
            assert_eq!(open, page.matches(&format!("</{tag}>")).count(), "{tag}");
        }
        // The parts of the bar fill it.
        let bar = page.split("</svg>").next().unwrap_or_default();
        let widths = bar.split(" width=\"").skip(1);
        let widths = widths.filter_map(|w| w.split('"').next()?.parse::<f64>().ok());
        assert!((widths.sum::<f64>() - WIDTH).abs() < 0.1, "{bar}");
    }
}
