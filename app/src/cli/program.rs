//! `loadscope record`, `watch` and `probe`: a PyTorch program, unchanged.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::Args;
use loadscope_trace::{Event, EventKind, Stage, plural};

use super::WindowArgs;
use super::terminal::complain;
use super::window;
use crate::session::{End, PROBE, Record, Session, Update, Watched, end_by, take_signals};

/// A program and how it is recorded.
#[derive(Debug, Args)]
pub struct RecordArgs {
    /// Write the recording to this file (.jsonl or .jsonl.zst) [default: run.jsonl.zst, or the next number that is free]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    program: ProgramArgs,
}

/// A program to be watched.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// Keep up to so many small pictures of a batch, about once a second; 64 at most
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=64))]
    previews: u32,
    /// The program and its arguments: python train.py --epochs 3
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

/// Exit code of shells for a command that cannot be started.
const NOT_STARTED: u8 = 127;

/// Runs a program and writes down what its loaders do. Ends as the program ends.
pub fn record(args: &RecordArgs) -> anyhow::Result<ExitCode> {
    let path = args.output.clone().unwrap_or_else(free_name);
    // Who finds out after ten hours of training has lost them.
    can_be_written(&path).with_context(|| {
        format!(
            "The program was not started: no recording can be written to {}",
            path.display()
        )
    })?;
    take_signals();
    let watched = match Watched::start(&args.program.command, args.program.previews) {
        Ok(watched) => watched,
        Err(e) => return Ok(not_started(&e.to_string())),
    };
    let record = Record::FileOnceTold(path.clone());
    let session = match Session::watch(&watched, record, Arc::new(|| {})) {
        Ok(session) => session,
        // The program runs already, and is not to suffer from it.
        Err(e) => {
            complain(format_args!("{e}. The program is not recorded"));
            let session = Session::watch(&watched, Record::Off, Arc::new(|| {}))?;
            follow(&session);
            return end_as(watched.wait());
        }
    };
    let (seen, complaint) = follow(&session);
    let end = watched.wait();
    match complaint {
        Some(text) => complain(format_args!("{text}. Nothing was written")),
        None => complain(seen.said(&path)),
    }
    end_as(end)
}

/// Runs a program with the window open. Ends as the program ends.
pub fn watch(args: &ProgramArgs, window: &WindowArgs) -> anyhow::Result<ExitCode> {
    take_signals();
    let watched = match Watched::start(&args.command, args.previews) {
        Ok(watched) => watched,
        Err(e) => return Ok(not_started(&e.to_string())),
    };
    let opened = window::watch(&watched, window);
    if let Err(e) = &opened {
        complain(format_args!("{e:#}"));
        // Nobody has begun to listen; the program must not be left without anybody who waits for it.
        if let Ok(session) = Session::watch(&watched, Record::Off, Arc::new(|| {})) {
            follow(&session);
        }
    } else if !watched.has_ended() {
        eprintln!("loadscope: the window is closed; the program goes on");
    }
    end_as(watched.wait())
}

/// Prints the probe.
pub fn probe() -> anyhow::Result<ExitCode> {
    match io::stdout().write_all(PROBE.as_bytes()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(anyhow!(e)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// What was recorded.
#[derive(Default)]
struct Seen {
    loaders: u64,
    /// Those that the program got.
    batches: u64,
    /// Something went wrong with the recording.
    is_partial: bool,
}

impl Seen {
    fn note(&mut self, event: &Event) {
        match event.kind {
            EventKind::RunStarted(_) => self.loaders += 1,
            EventKind::Entered {
                stage: Stage::Training,
                ..
            } => self.batches += 1,
            _ => {}
        }
    }

    /// `2 loaders, 100 batches in run.jsonl.zst`
    fn said(&self, path: &Path) -> String {
        let loaders = plural(self.loaders, "loader", "loaders");
        let batches = plural(self.batches, "batch", "batches");
        let place = match self.is_partial {
            true => ", not all of them in",
            false => " in",
        };
        format!("{loaders}, {batches}{place} {}", path.display())
    }
}

/// Tries to open a file for writing, and leaves everything as it is.
fn can_be_written(path: &Path) -> io::Result<()> {
    let is_new = !path.exists();
    // Whoever opens a pipe waits for somebody who reads it.
    if is_new || path.is_file() || path.is_dir() {
        OpenOptions::new().append(true).create(true).open(path)?;
    }
    if is_new {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Hears a session to its end: what was recorded, and what there is to complain of.
fn follow(session: &Session) -> (Seen, Option<String>) {
    let mut seen = Seen::default();
    let mut complaint = None;
    for update in &session.updates {
        match update {
            Update::Events(events) => events.iter().for_each(|event| seen.note(event)),
            Update::Failed(text) => {
                seen.is_partial = true;
                complain(text);
            }
            Update::Ended(text) => {
                complaint = text;
                break;
            }
            _ => {}
        }
    }
    (seen, complaint)
}

fn not_started(why: &str) -> ExitCode {
    complain(why);
    ExitCode::from(NOT_STARTED)
}

fn end_as(end: End) -> anyhow::Result<ExitCode> {
    match end {
        End::Signal(number) => end_by(number),
        // A code of more than a byte is not known on Unix.
        End::Code(code) => Ok(ExitCode::from((code & 0xff) as u8)),
    }
}

/// `run.jsonl.zst`, `run-2.jsonl.zst`, …: one that nobody has written to.
fn free_name() -> PathBuf {
    let names = (1..).map(|n| match n {
        1 => "run.jsonl.zst".to_owned(),
        n => format!("run-{n}.jsonl.zst"),
    });
    let mut names = names.map(PathBuf::from);
    names.find(|path| !path.exists()).unwrap_or_default()
}
