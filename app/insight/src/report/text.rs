//! The report as plain text for a terminal.

use std::fmt::Write as _;

use loadscope_diagnose::{Cause, Severity};
use loadscope_trace::Nanos;
use loadscope_words::{display_width, pad_end, pad_start, say};

use super::Report;
use super::facts::{causes, facts, held, opening, ready, source, steps, truncated};
use crate::format::{percent, plural, signed};

/// Length of the bar for 100 %, characters.
const BAR: f64 = 24.0;

/// Minimum width of the column of causes, characters.
const NAMES: usize = 26;

/// Returns the report as text: verdict, waits by cause, findings, forecasts and facts.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, report);
    out.trim_end().to_owned()
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let run = survey.run;
    if let Some(warning) = truncated(report) {
        writeln!(out, "{warning}")?;
    }
    for line in super::verdict::lines(&super::verdict::facts(report)) {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    let about = report.loader.iter().map(|loader| loader.sentence());
    let about: Vec<String> = about.chain(super::past::sentences(run)).collect();
    for sentence in &about {
        writeln!(out, "{sentence}")?;
    }
    if !about.is_empty() {
        writeln!(out)?;
    }
    blame(out, report)?;
    phases(out, report)?;
    code(out, report)?;
    findings(out, report)?;
    outlook(out, report)?;
    writeln!(out, "{}", source(&run.info))?;
    if let Some(line) = run.info.python_line() {
        writeln!(out, "{line}")?;
    }
    let s = &report.summary;
    match s.samples {
        _ if run.has_only_parts() => {
            for (_, message) in run.messages().iter().take(20) {
                writeln!(out, "{}", message.text)?;
            }
        }
        // The source does not record samples.
        0 if run.info.python_line().is_none() => {
            writeln!(
                out,
                "{}",
                plural(s.batches, say!(n: "batch"), say!(n: "batches"))
            )?;
        }
        _ => writeln!(out, "{}", facts(s))?,
    }
    Ok(())
}

fn findings(out: &mut String, report: &Report) -> std::fmt::Result {
    let remedies = super::remedy::remedies(report);
    let texts = super::remedy::texts(report).into_iter();
    let findings = report.diagnosis.findings.iter().zip(texts.zip(remedies));
    let findings = findings.zip(1..);
    let (weighty, notes): (Vec<_>, Vec<_>) =
        findings.partition(|((f, _), _)| f.severity > Severity::Note);
    for (heading, findings) in [(say!("Findings"), weighty), (say!("Also"), notes)] {
        if findings.is_empty() {
            continue;
        }
        writeln!(out, "{heading}")?;
        for ((_, (text, remedy)), number) in findings {
            writeln!(out, "{number}. {text}")?;
            writeln!(out, "   → {remedy}")?;
        }
        if heading == say!("Findings")
            && let Some(overlap) = report.diagnosis.overlap()
        {
            writeln!(out, "{overlap}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn blame(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let blame = &survey.blame;
    if blame.waited.0 <= 0 {
        return Ok(());
    }
    writeln!(out, "{}", say!("Waits by cause"))?;
    let steps = steps(report);
    // The names need 3 more characters: 2 to indent a step, 1 before the numbers.
    let widest = steps.iter().map(|(name, _)| display_width(name) + 3).max();
    let width = widest.unwrap_or_default().max(NAMES);
    let mut row = |name: &str, time: Nanos| {
        let share = time.0 as f64 / blame.waited.0 as f64;
        let bar = "█".repeat((share * BAR).round() as usize);
        let line = format!(
            "{}{:>10}{:>8}  {bar}",
            pad_end(name, width),
            survey.format_time(time),
            percent(share)
        );
        writeln!(out, "  {}", line.trim_end())
    };
    let (causes, rest) = causes(report);
    for (cause, time) in causes {
        row(cause.label(), time)?;
        if cause == Cause::Fetching {
            for (name, time) in &steps {
                row(&format!("  {name}"), *time)?;
            }
        }
    }
    if rest.0 > 0 {
        row(say!("Everything else"), rest)?;
    }
    if blame
        .time_of(Cause::InWorker)
        .is_some_and(|time| time.0 > 0)
    {
        writeln!(out, "  {}", Cause::InWorker.explanation())?;
    }
    if let Some(ready) = ready(report) {
        writeln!(out, "  {}", held(report, ready))?;
    }
    if let Some(opening) = opening(report) {
        writeln!(out, "  {opening}")?;
    }
    if !blame.not_measured.is_empty() {
        let names: Vec<&str> = blame.not_measured.iter().map(|c| c.label()).collect();
        writeln!(
            out,
            "{}",
            say!("  Not measured: {}", names.join(say!(", ")))
        )?;
    }
    writeln!(out)
}

/// Writes the phases of the training step.
fn phases(out: &mut String, report: &Report) -> std::fmt::Result {
    let Some(phases) = &report.phases else {
        return Ok(());
    };
    writeln!(out, "{}", super::phases::heading(phases, &report.survey))?;
    for row in super::phases::rows(phases, &report.survey) {
        let bar = "█".repeat((row.share.share * BAR).round() as usize);
        let line = format!(
            "  {}{:>10}{}  {bar}",
            pad_end(row.phase.label(), NAMES),
            row.format_time(&report.survey),
            pad_start(&super::code::share(row.share), 16),
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    if let Some(remark) = super::phases::remark(report.survey.run) {
        writeln!(out, "  {remark}")?;
    }
    writeln!(out)
}

/// Writes the lines of code that take the time.
fn code(out: &mut String, report: &Report) -> std::fmt::Result {
    let sections = super::code::sections(&report.code);
    if sections.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", say!("Lines of code"))?;
    let rows = sections.iter().flat_map(|section| &section.rows);
    let widest = rows.map(|row| display_width(&row.place) + 2).max();
    let width = widest.unwrap_or_default().max(NAMES - 2);
    for section in &sections {
        writeln!(out, "  {}", section.heading)?;
        for row in &section.rows {
            let share = super::code::share(row.share);
            let place = pad_end(&row.place, width);
            writeln!(
                out,
                "    {place}{}  {}",
                pad_start(&share, 16),
                row.function
            )?;
        }
    }
    writeln!(out)
}

/// Writes the table of forecasts, or the reason why it is missing.
fn outlook(out: &mut String, report: &Report) -> std::fmt::Result {
    // The verdict may already contain the reason.
    let is_reported = report.diagnosis.verdict.outlook.is_some();
    if let Some(reason) = super::outlook::reason(report) {
        if is_reported {
            return Ok(());
        }
        return writeln!(out, "{reason}\n");
    }
    let rows = super::outlook::rows(report);
    if rows.is_empty() {
        return Ok(());
    }
    let say = |time: Nanos| match time.0 {
        0 => "0".to_owned(),
        _ => report.survey.format_time(time),
    };
    let longest = rows.iter().map(|r| display_width(&r.name)).max();
    let width = longest.unwrap_or_default() + 2;
    writeln!(
        out,
        "{}{}{}{}  {}",
        pad_end(say!("Forecasts for other settings"), width + 2),
        pad_start(say!(column: "time"), 12),
        pad_start(say!(column: "change"), 12),
        pad_start(say!(column: "waited"), 12),
        say!("90 % interval")
    )?;
    for row in rows {
        let change = row.change.map(signed).unwrap_or_default();
        let between = row.between.filter(|(low, high)| low < high);
        let between = between.map(|(low, high)| say!("{} to {}", say(low), say(high)));
        let line = format!(
            "  {}{:>12}{change:>12}{:>12}  {}",
            pad_end(&row.name, width),
            say(row.took),
            say(row.waited),
            between.unwrap_or_default()
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    for remark in super::outlook::remarks(report) {
        writeln!(out, "  {remark}")?;
    }
    writeln!(out)
}
