//! The report as a self-contained HTML page with SVG images and a light and a dark theme.
//!
//! [`html!`] escapes every text, so that names from recordings cannot become tags.

use loadscope_diagnose::Cause;
use loadscope_trace::{Activity, Lane, Nanos, count};
use loadscope_words::say;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::Report;
use super::program::{Phase, Program};
use crate::format::{capital, percent, printable, signed};

mod code;
mod style;

use code::{code, step_phases};
use style::{WIDTH, class, dot, prose, severity_class, style};

/// Height of the bars, px.
const BAR: f64 = 28.0;
/// Height of the timeline strip, px.
const STRIP: f64 = 64.0;
/// Number of time slices in the strip.
const PARTS: i64 = 240;

/// Returns the report as an HTML page.
pub fn html(report: &Report) -> String {
    let page = page(report).into_string();
    // Escapes bidirectional control characters, which could reverse the text of the page.
    let mut page = printable(&page).into_owned();
    page.push('\n');
    page
}

fn page(report: &Report) -> Markup {
    let verdict = &report.diagnosis.verdict;
    html! {
        (DOCTYPE)
        html lang=(loadscope_words::language().code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                title { (prose(&report.survey.run.info.dataset)) " – Loadscope" }
                // Constant text without names from the recording, so unescaped is safe.
                style { (PreEscaped(style())) }
            }
            body {
                main {
                    @if let Some(warning) = super::facts::truncated(report) {
                        p.lead.critical { (prose(&warning)) }
                    }
                    h1 class=(severity_class(verdict.severity)) {
                        @if let Some(label) = super::remedy::label(report, &verdict.headline) { (label) ": " }
                        (prose(&verdict.headline))
                    }
                    @for (_, warning) in super::alarms::alarms(report.survey.run) {
                        p.lead.critical { (prose(warning)) }
                    }
                    @if let Some(cause) = &verdict.cause {
                        p.lead {
                            @if let Some(label) = super::remedy::label(report, cause) { b { (label) } " " }
                            (prose(&capital(cause)))
                        }
                    }
                    @if let Some(left_out) = &verdict.left_out {
                        p.lead.weak { (prose(left_out)) }
                    }
                    @for fact in super::verdict::best_change(report) {
                        p.lead { b { (fact.label) } " " (prose(&fact.text)) }
                    }
                    @if let Some(loader) = &report.loader {
                        p.lead.weak { (prose(&loader.sentence())) }
                    }
                    @for sentence in super::past::sentences(report.survey.run) {
                        p.lead.weak { (prose(&sentence)) }
                    }
                    @if let Some(program) = report.loader.as_ref().and_then(|l| l.program.as_ref()) {
                        (program_bar(program))
                    }
                    (blame(report))
                    (strip(report))
                    (step_phases(report))
                    (code(report))
                    (findings(report))
                    (outlook(report))
                    (samples(report))
                    (facts(report))
                }
            }
        }
    }
}

/// A cause with its part of the waited time.
struct Part {
    class: &'static str,
    label: &'static str,
    explanation: &'static str,
    time: Nanos,
    /// Named steps of the cause with their times.
    steps: Vec<(String, Nanos)>,
}

/// Returns a bar and a table of the waited time by cause. The markup is empty without waits.
fn blame(report: &Report) -> Markup {
    let blame = &report.survey.blame;
    if blame.waited.0 <= 0 {
        return Markup::default();
    }
    let share = |time: Nanos| time.0 as f64 / blame.waited.0 as f64;
    let (causes, rest) = super::facts::causes(report);
    let causes = causes.into_iter().map(|(cause, time)| Part {
        class: class(cause),
        label: cause.label(),
        explanation: cause.explanation(),
        time,
        steps: match cause {
            Cause::Fetching => super::facts::steps(report),
            _ => Vec::new(),
        },
    });
    let rest = (rest.0 > 0).then_some(Part {
        class: "weakest",
        label: say!("Everything else"),
        explanation: say!("Less than 0.5\u{2009}% each"),
        time: rest,
        steps: Vec::new(),
    });
    let parts: Vec<Part> = causes.chain(rest).collect();
    let not_measured: Vec<&str> = blame.not_measured.iter().map(|c| c.label()).collect();
    html! {
        h2 { (say!("Waits by cause")) }
        (bar(&parts, share))
        div.wide {
            table {
                tr { th { (say!("Cause")) } th.n { (say!("Time")) } th.n { (say!("Share")) } th {} }
                @for part in &parts {
                    tr {
                        td.name { (dot(part.class)) (part.label) }
                        td.n { (report.survey.format_time(part.time)) }
                        td.n { (percent(share(part.time))) }
                        td.weak { (part.explanation) }
                    }
                    @for (name, time) in &part.steps {
                        tr {
                            td.weak { "\u{2003}" (name) }
                            td.n.weak { (report.survey.format_time(*time)) }
                            td.n.weak { (percent(share(*time))) }
                            td {}
                        }
                    }
                }
            }
        }
        @if let Some(ready) = super::facts::ready(report) {
            p.weak { (prose(&super::facts::held(report, ready))) }
        }
        @if let Some(opening) = super::facts::opening(report) {
            p.weak { (prose(&opening)) }
        }
        @if !not_measured.is_empty() {
            p.weak { (say!("Not measured: ")) (not_measured.join(say!(", "))) }
        }
    }
}

/// Returns a bar and a table of the program's time by loader.
fn program_bar(program: &Program) -> Markup {
    let class = |what: Phase| match what {
        Phase::Steps => "step",
        Phase::Waiting => "stall",
        Phase::Starting => "wait",
        Phase::Elsewhere => "weakest",
    };
    let mut end = 0.0;
    let placed = program.parts.iter().map(|part| {
        let (x, width) = (end, program.share(part) * WIDTH);
        end += width;
        (part, x, width)
    });
    let weighty = program
        .parts
        .iter()
        .filter(|part| program.share(part) >= 0.005);
    html! {
        h2 { (say!("How the program spent its time")) }
        svg viewBox=(view_box(WIDTH, BAR)) role="img" aria-label=(say!("Shares of the program's time")) {
            @for (part, x, width) in placed {
                rect class=(class(part.what)) x=(px(x)) width=(px(width)) height=(BAR) {
                    title { (prose(&part.label())) ": " (percent(program.share(part))) }
                }
            }
        }
        div.wide {
            table {
                tr { th { (say!("Part")) } th.n { (say!("Time")) } th.n { (say!("Share")) } }
                @for part in weighty {
                    tr {
                        td.name { (dot(class(part.what))) (prose(&capital(&part.label()))) }
                        td.n { (part.time) }
                        td.n { (percent(program.share(part))) }
                    }
                }
            }
        }
    }
}

/// Returns a stacked bar. The width of each part is its share.
fn bar(parts: &[Part], share: impl Fn(Nanos) -> f64) -> Markup {
    let mut end = 0.0;
    let placed = parts.iter().map(|part| {
        let (x, width) = (end, share(part.time) * WIDTH);
        end += width;
        (part, x, width)
    });
    html! {
        svg viewBox=(view_box(WIDTH, BAR)) role="img" aria-label=(say!("Shares of the wait")) {
            @for (part, x, width) in placed {
                rect class=(part.class) x=(px(x)) width=(px(width)) height=(BAR) {
                    title { (part.label) ": " (percent(share(part.time))) }
                }
            }
        }
    }
}

fn view_box(width: f64, height: f64) -> String {
    format!("0 0 {width} {height}")
}

/// Formats a length or coordinate in an image.
fn px(length: f64) -> String {
    format!("{length:.2}")
}

/// Returns the timeline of the run as a stacked chart: training below, waiting above.
fn strip(report: &Report) -> Markup {
    let survey = &report.survey;
    let total = survey.total().0;
    if total <= 0 {
        return Markup::default();
    }
    let at = |k: i64| {
        survey.start + Nanos((i128::from(total) * i128::from(k) / i128::from(PARTS)) as i64)
    };
    let width = WIDTH / PARTS as f64;
    // Tuples of x, CSS class, height of the columns below, and height.
    let columns = (0..PARTS).flat_map(|k| {
        let (start, end) = (at(k), at(k + 1));
        let length = (end - start).0.max(1) as f64;
        let spent = survey.run.spent(Lane::Trainer, start, end);
        let height = |activity| (spent.time_in(activity).0 as f64 / length).clamp(0.0, 1.0) * STRIP;
        let (trains, waits) = (height(Activity::Training), height(Activity::Waiting));
        let x = k as f64 * width;
        [(x, "step", 0.0, trains), (x, "stall", trains, waits)]
    });
    let seen = columns.filter(|(.., height)| *height > 0.0);
    html! {
        h2 { (say!("The trainer")) }
        svg viewBox=(view_box(WIDTH, STRIP)) role="img" aria-label=(say!("Training and waiting over time")) {
            rect.ground width=(WIDTH) height=(STRIP) {}
            @for (x, class, below, height) in seen {
                rect class=(class) x=(px(x)) y=(px(STRIP - below - height)) width=(px(width)) height=(px(height)) {}
            }
        }
        p.axis { span { "0" } span { (survey.format_time(survey.total())) } }
        p.weak { (dot("step")) (say!("Training \u{2003}")) (dot("stall")) (say!("Waiting")) }
    }
}

/// Returns the table of forecasts, with a bar of training and waits for each setting.
fn outlook(report: &Report) -> Markup {
    let title = html! { h2 { (say!("Forecasts for other settings")) } };
    if let Some(reason) = super::outlook::reason(report) {
        // The verdict may already contain the reason.
        return match report.diagnosis.verdict.outlook.is_some() {
            true => Markup::default(),
            false => html! { (title) p { (prose(&reason)) } },
        };
    }
    let rows = super::outlook::rows(report);
    let Some(longest) = rows.iter().map(|r| r.took.0).max() else {
        return Markup::default();
    };
    html! {
        (title)
        div.wide {
            table {
                tr { th { (say!("Setting")) } th.n { (say!("Time")) } th.n { (say!(column: "change")) } th.n { (say!("Waited")) } th.bar {} }
                @for row in &rows { (setting(report, row, longest)) }
            }
        }
        @for remark in super::outlook::remarks(report) {
            p { (prose(&remark)) }
        }
        @if let Some(Ok(prospects)) = &report.prospects {
            @for assumption in &prospects.assumptions {
                p.weak { (prose(&capital(assumption))) }
            }
        }
    }
}

/// Returns the table row of one setting. `longest` is the time of the slowest setting, ns.
fn setting(report: &Report, row: &super::outlook::Row, longest: i64) -> Markup {
    let share = |time: Nanos| time.0 as f64 / longest.max(1) as f64 * 100.0;
    let trains = px(share(row.took - row.waited).max(0.0));
    html! {
        tr {
            td { (prose(&row.name)) }
            td.n { (report.survey.format_time(row.took)) }
            td.n { (row.change.map(signed).unwrap_or_default()) }
            td.n { @if row.waited.0 == 0 { "0" } @else { (report.survey.format_time(row.waited)) } }
            td.bar {
                svg viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label=(say!("Time, and the wait in it")) {
                    rect.step width=(trains) height="10" {}
                    rect.stall x=(trains) width=(px(share(row.waited))) height="10" {}
                }
            }
        }
    }
}

fn findings(report: &Report) -> Markup {
    let (texts, remedies) = (
        super::remedy::texts(report),
        super::remedy::remedies(report),
    );
    html! {
        @if !report.diagnosis.findings.is_empty() {
            h2 { (say!("Findings")) }
            ol {
                @for (finding, (text, remedy)) in report.diagnosis.findings.iter().zip(texts.iter().zip(remedies)) {
                    li {
                        b { (finding.severity.label()) } " " (prose(text))
                        br;
                        "→ " (prose(&remedy))
                    }
                }
            }
            @if let Some(overlap) = report.diagnosis.overlap() {
                p.weak { (overlap) }
            }
        }
    }
}

fn samples(report: &Report) -> Markup {
    let samples = &report.fetching.samples;
    let run = report.survey.run;
    html! {
        @if !samples.is_empty() {
            h2 { (say!("Samples that caused the longest waits")) }
            div.wide {
                table {
                    tr { th { (say!("Sample")) } th { (say!("Batch")) } th.n { (say!("Waited")) } th.n { (say!("Took")) } }
                    @for sample in samples {
                        tr {
                            td.m { (sample.index.map_or("—".to_owned(), count)) }
                            td { (run.batches()[sample.row].id.to_string()) }
                            td.n { (sample.waited.to_string()) }
                            td.n { (sample.wall.to_string()) }
                        }
                    }
                }
            }
        }
    }
}

fn facts(report: &Report) -> Markup {
    let info = &report.survey.run.info;
    let s = &report.summary;
    html! {
        h2 { (say!("The run")) }
        p { (prose(&super::facts::source(info))) }
        @if let Some(line) = info.python_line() {
            pre { (prose(&line)) }
        }
        p { (super::facts::facts(s)) }
        @if s.dropped > 0 {
            p.critical { (count(s.dropped)) (say!(" events were dropped")) }
        }
    }
}

#[cfg(test)]
mod tests;
