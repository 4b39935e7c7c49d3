//! `loadscope info`: the facts about a recording.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::anyhow;
use loadscope_trace::{Level, Nanos, Run, Summary};

use crate::format;
use crate::headline::Headline;
use crate::session::{read_run, refusal};

pub fn run(file: &Path, json: bool) -> anyhow::Result<ExitCode> {
    let (run, cut) = read_run(file, |_| true).map_err(|e| anyhow!(refusal(file, &e)))?;
    if json {
        print_json(&run, cut)?;
    } else {
        print_text(&run, cut)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// One JSON object with the summary, the options and whether the file is whole.
pub(super) fn print_json(run: &Run, cut: bool) -> anyhow::Result<()> {
    let mut object = serde_json::to_value(Summary::of(run))?;
    if let Some(map) = object.as_object_mut() {
        map.insert("cut".to_owned(), cut.into());
        map.insert("origin".to_owned(), run.info.origin.label().into());
        map.insert("pinning".to_owned(), run.info.pinning.clone().into());
        map.insert(
            "options".to_owned(),
            serde_json::to_value(&run.info.options)?,
        );
    }
    say(&object.to_string())
}

/// The same facts for people.
pub(super) fn print_text(run: &Run, cut: bool) -> anyhow::Result<()> {
    let mut text = String::new();
    write_text(&mut text, run, cut)?;
    say(text.trim_end())
}

fn write_text(out: &mut String, run: &Run, cut: bool) -> std::fmt::Result {
    let s = Summary::of(run);
    let seconds = |s: f64| Nanos::from_secs_f64(s).to_string();
    writeln!(out, "{} · {}", run.info.dataset, run.info.origin.label())?;
    writeln!(out, "{}", run.info.options.python_line())?;
    writeln!(out)?;
    let mut row = |name: &str, value: String| writeln!(out, "{name:<16}{value:>16}");
    row("epochs", format::count(s.epochs))?;
    row("batches", format::count(s.batches))?;
    row("samples", format::count(s.samples))?;
    row("time", seconds(s.seconds))?;
    row("samples/s", format!("{:.1}", s.samples_per_second))?;
    row("waited", seconds(s.waited_seconds))?;
    row("held", format::count(s.held))?;
    row("failed", format::count(s.failed))?;
    row("discarded", format::count(s.discarded))?;
    row("events", format::count(s.events))?;
    row("events lost", format::count(s.dropped))?;
    writeln!(out)?;
    if let Some(headline) = Headline::of(run) {
        writeln!(out, "{}", headline.verdict)?;
        if let Some(cause) = headline.cause {
            writeln!(out, "{cause}")?;
        }
    }
    for (at, m) in run
        .messages()
        .iter()
        .filter(|(_, m)| m.level >= Level::Warning)
        .take(20)
    {
        let level = if m.level == Level::Error {
            "error"
        } else {
            "warning"
        };
        writeln!(out, "{level} at {at}: {}", m.text)?;
    }
    if cut {
        writeln!(
            out,
            "The file is cut off in the middle; everything before the cut was read"
        )?;
    }
    Ok(())
}

/// Prints, and takes a reader that has seen enough (`| head`) for a success.
pub(super) fn say(text: &str) -> anyhow::Result<()> {
    match writeln!(std::io::stdout(), "{text}") {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(e.into()),
        _ => Ok(()),
    }
}
