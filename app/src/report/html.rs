//! The report as one page: pictures drawn here, nothing fetched from elsewhere, in dark and in light.

use std::fmt::Write as _;

use eframe::egui::Color32;
use loadscope_trace::{Activity, Cause, Lane, Nanos, Severity, count};

use super::Report;
use crate::format::percent;
use crate::theme::Palette;

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
    blame(out, report)?;
    strip(out, report)?;
    findings(out, report)?;
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
    let mut x = 0.0;
    for (cause, time) in blame.iter() {
        let width = share(time) * WIDTH;
        write!(
            out,
            "<rect class=\"{}\" x=\"{x:.2}\" width=\"{width:.2}\" height=\"{BAR}\"><title>{}: {}</title></rect>",
            class(cause),
            cause.label(),
            percent(share(time))
        )?;
        x += width;
    }
    out.push_str("</svg><table><tr><th>Cause</th><th class=\"n\">Time</th><th class=\"n\">Share</th><th></th></tr>");
    for (cause, time) in blame.iter() {
        write!(
            out,
            "<tr><td><svg class=\"dot\" viewBox=\"0 0 10 10\"><rect class=\"{}\" width=\"10\" height=\"10\" rx=\"2\"/></svg>{}\
             </td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"weak\">{}</td></tr>",
            class(cause),
            cause.label(),
            report.survey.say(time),
            percent(share(time)),
            cause.explanation()
        )?;
    }
    out.push_str("</table>");
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
        "<h2>The trainer</h2><svg viewBox=\"0 0 {WIDTH} {}\" role=\"img\" aria-label=\"When the trainer worked and when it \
         waited\"><rect class=\"ground\" width=\"{WIDTH}\" height=\"{STRIP}\"/>",
        STRIP + 18.0
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
        "<text y=\"{0}\">0</text><text x=\"{WIDTH}\" y=\"{0}\" text-anchor=\"end\">{1}</text></svg>\
         <p class=\"weak\"><svg class=\"dot\" viewBox=\"0 0 10 10\"><rect class=\"step\" width=\"10\" height=\"10\" \
         rx=\"2\"/></svg>Training <svg class=\"dot\" viewBox=\"0 0 10 10\"><rect class=\"stall\" width=\"10\" height=\"10\" \
         rx=\"2\"/></svg>Waiting</p>",
        STRIP + 14.0,
        survey.say(survey.total())
    )
}

fn findings(out: &mut String, report: &Report) -> std::fmt::Result {
    if report.diagnosis.findings.is_empty() {
        return Ok(());
    }
    out.push_str("<h2>Why, and what to do</h2><ol>");
    for finding in &report.diagnosis.findings {
        write!(
            out,
            "<li><b class=\"{}\">{}</b> {}<br><span class=\"weak\">{}</span></li>",
            severity_class(finding.severity),
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
        "<h2>Samples that were waited for longest</h2><table><tr><th>Sample</th><th>Batch</th><th class=\"n\">Waited</th>\
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
    out.push_str("</table>");
    Ok(())
}

fn facts(out: &mut String, report: &Report) -> std::fmt::Result {
    let info = &report.survey.run.info;
    let s = &report.summary;
    write!(
        out,
        "<h2>The run</h2><p>{} · {}</p>{}<p>{} batches, {} samples, {:.1} samples/s</p>",
        escaped(&info.dataset),
        escaped(&info.origin.label()),
        info.python_line().map_or(String::new(), |line| format!(
            "<pre>{}</pre>",
            escaped(&line)
        )),
        count(s.batches),
        count(s.samples),
        s.samples_per_second
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

fn class(cause: Cause) -> &'static str {
    match cause.activity() {
        Some(Activity::Fetching) => "fetch",
        Some(Activity::Collating) => "collate",
        Some(Activity::Pinning) => "pin",
        Some(Activity::Held) => "held",
        Some(_) => "wait",
        None => "weakest",
    }
}

fn severity_class(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Critical => "critical",
    }
}

/// The colours of the window as variables, and what the page is made of.
fn style() -> String {
    let variables = |p: &Palette| {
        let colours = [
            ("panel", p.panel),
            ("canvas", p.canvas),
            ("line", p.line),
            ("text", p.text),
            ("weak", p.weak),
            ("strong", p.strong),
            ("wait", p.wait),
            ("fetch", p.fetch),
            ("collate", p.collate),
            ("pin", p.pin),
            ("held", p.held),
            ("step", p.step),
            ("stall", p.stall),
        ];
        let hex = |c: Color32| format!("#{:02x}{:02x}{:02x}", c.r(), c.g(), c.b());
        let text = colours.map(|(name, colour)| format!("--{name}:{};", hex(colour)));
        text.concat()
    };
    let (light, dark) = (variables(&Palette::LIGHT), variables(&Palette::DARK));
    format!(
        ":root{{color-scheme:light dark;{light}}}@media(prefers-color-scheme:dark){{:root{{{dark}}}}}\
         body{{margin:0;background:var(--canvas);color:var(--text);font:14px/1.5 system-ui,sans-serif}}\
         main{{max-width:{WIDTH}px;margin:0 auto;padding:24px 16px 48px}}\
         h1{{font-size:20px;color:var(--strong);margin:0 0 8px;padding-left:12px;border-left:4px solid var(--step)}}\
         h1.warning,h1.critical{{border-color:var(--stall)}}\
         h2{{font-size:14px;color:var(--strong);margin:32px 0 8px}}.lead{{margin:0 0 4px;padding-left:16px}}\
         svg{{width:100%;display:block}}svg.dot{{display:inline-block;width:10px;height:10px;margin-right:8px}}\
         svg text{{font-size:11px;fill:var(--weak);font-family:ui-monospace,monospace}}\
         table{{border-collapse:collapse;margin-top:12px;width:100%}}\
         th{{text-align:left;font-weight:600;color:var(--weak)}}\
         td,th{{padding:4px 16px 4px 0;border-bottom:1px solid var(--line)}}\
         .n{{text-align:right}}td.n,.m,pre{{font-family:ui-monospace,monospace;font-size:13px;white-space:nowrap}}\
         pre{{background:var(--panel);padding:12px;overflow-x:auto;border-radius:4px}}\
         li{{margin-bottom:12px}}.weak{{color:var(--weak)}}b{{color:var(--strong)}}\
         .critical:not(h1){{color:var(--stall)}}.ground{{fill:var(--panel)}}.weakest{{fill:var(--line)}}\
         .wait{{fill:var(--wait)}}.fetch{{fill:var(--fetch)}}.collate{{fill:var(--collate)}}.pin{{fill:var(--pin)}}\
         .held{{fill:var(--held)}}.step{{fill:var(--step)}}.stall{{fill:var(--stall)}}"
    )
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A name of PyTorch's at the beginning keeps its letters.
fn capital(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first)
            if !text
                .split(' ')
                .next()
                .is_some_and(|word| word.contains(['_', '='])) =>
        {
            first.to_uppercase().chain(chars).collect()
        }
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::session::simulated;

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
        let page = html(&Report::of(&run, false, &[]));
        assert!(page.contains("&lt;script&gt;alert(&#39;1&#39;)"), "{page}");
        assert!(
            !page.contains("<script") && !page.contains("http"),
            "{page}"
        );
        assert!(page.contains("0.96\u{2009}s of it for batch 4"), "{page}");
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

    #[test]
    fn names_keep_their_letters() {
        assert_eq!(capital("a third worker"), "A third worker");
        assert_eq!(capital("in_order=False would"), "in_order=False would");
        assert_eq!(capital("0.96 s of it"), "0.96 s of it");
    }
}
