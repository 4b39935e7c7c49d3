//! The report in Markdown, for code reviews, CI summaries and notebooks.
//!
//! Markup in names and sentences from recorded programs is escaped.

use std::fmt::Write as _;

use loadscope_diagnose::{Cause, Severity};
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::Report;
use super::facts::{causes, facts, held, opening, ready, source, steps, truncated};
use super::verdict::{self, Fact};
use crate::format::{percent, printable, signed};

/// Returns the report in GitHub's Markdown: verdict, waits by cause, findings, forecasts and facts.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, report);
    out.trim_end().to_owned()
}

fn write(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let run = survey.run;
    if let Some(warning) = truncated(report) {
        writeln!(out, "{}\n", plain(&warning))?;
    }
    let line = |fact: Fact| format!("**{}** {}", fact.label, plain(&fact.text));
    let lines: Vec<String> = verdict::facts(report).into_iter().map(line).collect();
    // Two spaces at the end of a line are a line break in Markdown.
    writeln!(out, "{}\n", lines.join("  \n"))?;
    if let Some(loader) = &report.loader {
        writeln!(out, "{}\n", plain(&loader.sentence()))?;
    }
    for sentence in super::past::sentences(run) {
        writeln!(out, "{}\n", plain(&sentence))?;
    }
    blame(out, report)?;
    phases(out, report)?;
    hot_code(out, report)?;
    findings(out, report)?;
    outlook(out, report)?;
    let mut about = source(&run.info);
    if report.summary.samples > 0 {
        about += &format!(" · {}", facts(&report.summary));
    }
    writeln!(out, "{}", plain(&about))?;
    if let Some(line) = run.info.python_line() {
        writeln!(out, "\n{}", code(&line))?;
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
        writeln!(out, "### {heading}\n")?;
        for ((_, (text, remedy)), number) in findings {
            let (text, remedy) = (plain(&text), plain(&remedy));
            writeln!(out, "{number}. {text}  \n   → {remedy}")?;
        }
        if heading == say!("Findings")
            && let Some(overlap) = report.diagnosis.overlap()
        {
            writeln!(out, "\n{overlap}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn blame(out: &mut String, report: &Report) -> std::fmt::Result {
    let survey = &report.survey;
    let waited = survey.blame.waited;
    if waited.0 <= 0 {
        return Ok(());
    }
    writeln!(out, "{}", say!("| Waits by cause | time | share |"))?;
    writeln!(out, "|---|--:|--:|")?;
    let mut row = |name: &str, time: Nanos| {
        let share = percent(time.0 as f64 / waited.0 as f64);
        writeln!(
            out,
            "| {} | {} | {share} |",
            plain(name),
            plain(&survey.format_time(time))
        )
    };
    let (causes, rest) = causes(report);
    for (cause, time) in causes {
        row(cause.label(), time)?;
        if cause == Cause::Fetching {
            for (name, time) in steps(report) {
                row(&say!("Fetching: {name}"), time)?;
            }
        }
    }
    if rest.0 > 0 {
        row(say!("Everything else"), rest)?;
    }
    writeln!(out)?;
    if let Some(ready) = ready(report) {
        writeln!(out, "{}\n", plain(&held(report, ready)))?;
    }
    if let Some(opening) = opening(report) {
        writeln!(out, "{}\n", plain(&opening))?;
    }
    Ok(())
}

/// Writes the phases of the training step.
fn phases(out: &mut String, report: &Report) -> std::fmt::Result {
    let Some(phases) = &report.phases else {
        return Ok(());
    };
    let heading = plain(&super::phases::heading(phases, &report.survey));
    let (time, share) = (say!("time per step"), say!("share"));
    writeln!(out, "| {heading} | {time} | {share} |")?;
    writeln!(out, "|---|--:|--:|")?;
    for row in super::phases::rows(phases, &report.survey) {
        let time = row.format_time(&report.survey);
        let share = super::code::share(row.share);
        let label = row.phase.label();
        writeln!(out, "| {label} | {} | {} |", plain(&time), plain(&share))?;
    }
    writeln!(out)?;
    match super::phases::remark(report.survey.run) {
        Some(remark) => writeln!(out, "{remark}\n"),
        None => Ok(()),
    }
}

/// Writes the lines of code that take the time.
fn hot_code(out: &mut String, report: &Report) -> std::fmt::Result {
    for section in super::code::sections(&report.code) {
        writeln!(
            out,
            "| {} | {} | {} |",
            plain(&section.heading),
            say!("share"),
            say!("function")
        )?;
        writeln!(out, "|---|--:|---|")?;
        for row in &section.rows {
            let (place, share) = (plain(&row.place), plain(&super::code::share(row.share)));
            writeln!(out, "| {place} | {share} | {} |", plain(&row.function))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes the table of forecasts.
fn outlook(out: &mut String, report: &Report) -> std::fmt::Result {
    let rows = super::outlook::rows(report);
    if rows.is_empty() {
        return Ok(());
    }
    let say = |time: Nanos| plain(&report.survey.format_time(time));
    writeln!(
        out,
        "{}",
        say!("| Forecasts for other settings | time | change | waited | 90 % interval |")
    )?;
    writeln!(out, "|---|--:|--:|--:|---|")?;
    for row in rows {
        let change = row.change.map(signed).unwrap_or_default();
        let between = row.between.filter(|(low, high)| low < high);
        let between = between.map(|(low, high)| say!("{} to {}", say(low), say(high)));
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            plain(&row.name),
            say(row.took),
            plain(&change),
            say(row.waited),
            between.unwrap_or_default()
        )?;
    }
    for remark in super::outlook::remarks(report) {
        writeln!(out, "\n{}", plain(&remark))?;
    }
    writeln!(out)
}

/// Escapes all Markdown in a text and puts it on one line.
fn plain(text: &str) -> String {
    let text = printable(text);
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '!'
            | '&' | '$' => {
                out.push('\\');
                out.push(c);
            }
            // A word joiner prevents mentions (@user), which notify a user, and links (https://).
            '@' | ':' if c == '@' || rest.peek() == Some(&'/') => {
                out.push(c);
                out.push('\u{2060}');
            }
            c => out.push(c),
        }
    }
    out
}

/// Returns a code span, with more backticks around it than in any run of backticks in `text`.
fn code(text: &str) -> String {
    let text = printable(text).replace(['\n', '\r'], " ");
    let longest = text.split(|c| c != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or_default() + 1);
    format!("{fence} {text} {fence}")
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Run, RunOptions};

    use super::*;
    use crate::Datasets;
    use crate::simulated;

    fn slow() -> Run {
        simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        })
    }

    #[test]
    fn markdown_begins_with_the_verdict_and_has_both_tables() {
        let run = slow();
        let text = markdown(&Report::with_prospects(&run, false, Datasets::default()));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("**Waited** 1.11"), "{text}");
        assert!(
            lines[1].starts_with("**Cause** batch 4: sample 4 took"),
            "{text}"
        );
        assert!(lines[2].starts_with("**Best change** in\\_order"), "{text}");
        let tables = lines.iter().filter(|line| line.starts_with('|'));
        let columns: Vec<usize> = tables.map(|line| line.matches(" |").count()).collect();
        assert!(
            columns.contains(&3) && columns.contains(&5),
            "both tables are there: {text}"
        );
        assert!(text.contains("### Findings"), "{text}");
        assert!(text.contains("` DataLoader("), "{text}");
    }

    #[test]
    fn untrusted_texts_are_escaped() {
        let mut run = slow();
        run.info.dataset = "<img src=x> [a](javascript:b) | `c` **d**\nhttps://e @user".to_owned();
        let text = markdown(&Report::of(&run, false, Datasets::default()));
        let line = text.lines().find(|line| line.contains("img"));
        let line = line.expect("the dataset is named");
        assert!(
            line.starts_with(r"Dataset: \<img src=x\> \[a\](javascript:"),
            "{line}"
        );
        assert!(line.contains(r"\| \`c\` \*\*d\*\* https:"), "{line}");
        assert!(
            !line.contains("https://") && !line.contains("@user"),
            "{line}"
        );
        assert_eq!(code("a ``b"), "``` a ``b ```");
    }
}
