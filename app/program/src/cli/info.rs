//! `loadscope info`: a summary of a recording.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use loadscope_diagnose::WaitSummary;
use loadscope_trace::{Nanos, Run, RunId, Summary};
use loadscope_words::{pad_end, say};
use serde_json::Value;

use super::terminal::{print_line, print_report};
use loadscope_insight::format;
use loadscope_insight::report::loader::{Named, named};
use loadscope_insight::report::past;
use loadscope_ui::timeline::chart::Chart;

mod facts;
mod several;

use facts::{facts, messages};

use super::pick::{OnlyLoaderArg, find_loader, open};
use super::truncation::truncation_message;

pub fn run(file: &Path, loader: &OnlyLoaderArg, json: bool) -> anyhow::Result<ExitCode> {
    let opened = open(file)?;
    let mut all: Vec<(RunId, &Run)> = opened.fleet.runs().collect();
    if let Some(text) = &loader.loader {
        let id = find_loader(&opened, text)?;
        all.retain(|(one, _)| *one == id);
    }
    let cut = opened.cut.then(|| truncation_message(file, &all));
    let nothing = Run::default();
    let one = match all[..] {
        [] => Some((RunId::default(), &nothing)),
        [one] => Some(one),
        _ => None,
    };
    match (one, json) {
        (Some((id, run)), true) => print_line(&object(id, run, opened.cut)?.to_string())?,
        (Some(_), false) if all.is_empty() => {
            print_line(say!("The recording contains no DataLoader"))?
        }
        (Some((_, run)), false) => print_text(run, cut.as_deref())?,
        (None, true) => print_line(&several::object(&all, &opened)?.to_string())?,
        (None, false) => print_report(several::text(&all, cut.as_deref())?.trim_end())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints one JSON object for a run with a single loader.
pub(super) fn print_json(run: &Run, cut: bool) -> anyhow::Result<()> {
    print_line(&object(RunId::default(), run, cut)?.to_string())
}

/// Returns the summary and the options as one JSON object. `cut` is true for a truncated file.
fn object(id: RunId, run: &Run, cut: bool) -> anyhow::Result<Value> {
    let mut object = facts(run)?;
    if let Some(map) = object.as_object_mut() {
        map.insert("cut".to_owned(), cut.into());
        let loaders = named(&[(id, run)]);
        map.insert(
            "loaders".to_owned(),
            loaders.iter().map(Named::json).collect(),
        );
    }
    Ok(object)
}

/// Prints the summary as text. `cut` is the message about a truncated recording.
pub(super) fn print_text(run: &Run, cut: Option<&str>) -> anyhow::Result<()> {
    let mut text = String::new();
    write_text(&mut text, run, cut)?;
    print_report(text.trim_end())
}

fn write_text(out: &mut String, run: &Run, cut: Option<&str>) -> std::fmt::Result {
    let s = Summary::of(run);
    let wait_summary = WaitSummary::of(run);
    let seconds = |s: f64| Nanos::from_secs_f64(s).to_string();
    let mut row = |name: &str, value: String| writeln!(out, "{}{value}", pad_end(name, 16));
    row(say!(column: "dataset"), run.info.dataset.clone())?;
    row(say!(column: "source"), run.info.origin.label())?;
    if let Some(line) = run.info.python_line() {
        row(say!(column: "call"), line)?;
    }
    if run.has_only_parts() {
        row(say!(column: "time"), run.end().to_string())?;
    } else {
        // A value that the source does not record is shown as missing, not as zero.
        let counts = s.samples > 0 || s.batches == 0;
        let of_samples = |text: String| if counts { text } else { "—".to_owned() };
        row(say!(column: "epochs"), format::count(s.epochs))?;
        row(say!(column: "batches"), format::count(s.batches))?;
        row(
            say!(column: "samples"),
            of_samples(format::count(s.samples)),
        )?;
        row(say!(column: "time"), seconds(s.seconds))?;
        row(
            say!(column: "samples/s"),
            of_samples(format!("{:.1}", s.samples_per_second)),
        )?;
        let waited = wait_summary.amount();
        row(
            say!(column: "waited"),
            waited.unwrap_or_else(|| "—".to_owned()),
        )?;
        row(say!(column: "held"), format::count(s.held))?;
        row(say!(column: "failed"), format::count(s.failed))?;
        row(say!(column: "discarded"), format::count(s.discarded))?;
    }
    row(say!(column: "events"), format::count(s.events))?;
    row(say!(column: "events dropped"), format::count(s.dropped))?;
    if let Some(wait) = wait_summary.longest_wait() {
        let took = wait_summary.format_time(wait.took);
        row(
            say!(column: "longest wait"),
            say!("{took} for {}", wait.describe_cause()),
        )?;
    }
    writeln!(out)?;
    parts(out, run)?;
    for sentence in past::sentences(run).into_iter().chain(past::longest(run)) {
        writeln!(out, "{sentence}")?;
    }
    messages(out, run)?;
    if let Some(sentence) = cut {
        writeln!(out, "{sentence}")?;
    }
    Ok(())
}

/// Writes the mean values of the stages of a pipeline other than a `DataLoader`.
fn parts(out: &mut String, run: &Run) -> std::fmt::Result {
    let charts = Chart::all(run);
    let charts = charts.into_iter().filter(Chart::is_of_part);
    let mut any = false;
    for chart in charts {
        let (name, of) = chart.label(run);
        let value = chart.mean(run).map_or("—".to_owned(), |v| chart.text(v));
        writeln!(
            out,
            "{}{}{value:>12}",
            pad_end(of.as_deref().unwrap_or_default(), 28),
            pad_end(name, 20)
        )?;
        any = true;
    }
    if any {
        writeln!(out)?;
    }
    Ok(())
}
