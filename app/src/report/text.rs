//! The report for people who read it in a terminal.

use std::fmt::Write as _;

use loadscope_trace::{Nanos, Severity, count};

use super::Report;
use crate::format::percent;

/// A bar of the share 1 is so many characters long.
const BAR: f64 = 24.0;

/// The verdict, why, what next, and the numbers.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, report);
    out.trim_end().to_owned()
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let run = survey.run;
    writeln!(out, "{}", report.diagnosis.verdict.text())?;
    writeln!(out)?;
    blame(out, report)?;
    let (weighty, notes): (Vec<_>, Vec<_>) =
        (report.diagnosis.findings.iter()).partition(|f| f.severity > Severity::Note);
    if !weighty.is_empty() {
        writeln!(out, "Why, and what to do")?;
        for (k, finding) in weighty.iter().enumerate() {
            writeln!(out, "{}. {}", k + 1, finding.text)?;
            writeln!(out, "   → {}", finding.remedy)?;
        }
        writeln!(out)?;
    }
    if !notes.is_empty() {
        writeln!(out, "Also")?;
        for finding in notes {
            writeln!(out, "·  {}", finding.text)?;
            writeln!(out, "   → {}", finding.remedy)?;
        }
        writeln!(out)?;
    }
    writeln!(out, "{} · {}", run.info.dataset, run.info.origin.label())?;
    if let Some(line) = run.info.python_line() {
        writeln!(out, "{line}")?;
    }
    let s = &report.summary;
    match s.samples {
        _ if run.tells_only_parts() => {
            for (_, message) in run.messages().iter().take(20) {
                writeln!(out, "{}", message.text)?;
            }
        }
        // The source does not tell.
        0 if run.info.python_line().is_none() => writeln!(out, "{} batches", count(s.batches))?,
        _ => writeln!(
            out,
            "{} batches, {} samples, {:.1} samples/s",
            count(s.batches),
            count(s.samples),
            s.samples_per_second
        )?,
    }
    if report.cut {
        writeln!(
            out,
            "The file is cut off in the middle; everything before the cut was read"
        )?;
    }
    Ok(())
}

fn blame(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let blame = &survey.blame;
    if blame.waited.0 <= 0 {
        return Ok(());
    }
    writeln!(out, "What the trainer waited for")?;
    let mut row = |name: &str, time: Nanos| {
        let share = time.0 as f64 / blame.waited.0 as f64;
        let bar = "█".repeat((share * BAR).round() as usize);
        let line = format!(
            "{name:<26}{:>10}{:>8}  {bar}",
            survey.say(time),
            percent(share)
        );
        writeln!(out, "  {}", line.trim_end())
    };
    for (cause, time) in blame.iter() {
        row(cause.label(), time)?;
        if cause == loadscope_trace::Cause::Fetching {
            for (name, time) in &report.fetching.stages {
                row(&format!("  {name}"), *time)?;
            }
        }
    }
    if let Some(ready) = blame.ready_batches.filter(|t| t.0 > 0) {
        writeln!(
            out,
            "  Finished batches lay {} behind missing ones",
            survey.say(ready)
        )?;
    }
    if !blame.not_measured.is_empty() {
        let names: Vec<&str> = blame.not_measured.iter().map(|c| c.label()).collect();
        writeln!(out, "  Not measured: {}", names.join(", "))?;
    }
    writeln!(out)
}
