//! `loadscope record`, `watch` and `probe`: record an unchanged PyTorch program.

mod arguments;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use loadscope_trace::{Event, EventKind, Fact, Stage, plural};
use loadscope_words::{say, shell_quoted};

use super::output::{ForceArg, LimitArgs};
use super::terminal::{error_sentence, print_bytes, print_message};
use super::web::{LiveView, print_view_command};
use super::window;
use super::window::WindowArgs;
use crate::window::Extent;
use arguments::ProgramArgs;
use loadscope_session::{
    End, Journal, PROBE, ProgramError, Record, Session, SessionEvent, Watched, catch_signals,
    exit_by_signal, restore_signals,
};

/// Exit codes of `record` and `watch`.
const EXIT_CODES: &str = "\
Exit code: the program's own (130 after Ctrl+C, 143 after SIGTERM), or
  2    an option is invalid, or the recording cannot be written
  126  the program is not executable
  127  the program cannot be started";

/// A program, and the options of its recording.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct RecordArgs {
    /// Output file, .jsonl or .jsonl.zst [default: run.jsonl.zst, then run-2.jsonl.zst, …]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// A program, and the limits of its recording.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct WatchArgs {
    #[command(flatten)]
    program: ProgramArgs,
    #[command(flatten)]
    limits: LimitArgs,
}

/// Maximum number of default names to try.
const MOST_NAMES: u32 = 10_000;

/// Exit code for a command that cannot be started, as in shells.
pub(super) const NOT_STARTED: u8 = 127;
/// Exit code for a command that is not executable, as in shells.
const NOT_EXECUTABLE: u8 = 126;
/// Exit code for a recording that cannot be written.
const NOT_RECORDED: u8 = 2;

/// Runs a program and records its loaders. Returns the program's exit code.
pub fn record(args: &RecordArgs) -> anyhow::Result<ExitCode> {
    let request = args.program.request()?;
    // The file is created before the program starts. Otherwise an unwritable output would fail after hours of training.
    let output = args.output.as_deref();
    let selection = args.program.select.selection();
    let existing = args.force.existing();
    let created = (args.limits).create(output, existing, default_names());
    let file = created.context(say!(
        "program not started, because the recording cannot be written"
    ))?;
    let path = file.path().to_owned();
    let mut shown = match LiveView::begin(&args.program.web, name_of(&path), args.limits.limits()) {
        Ok(shown) => shown,
        Err(e) => {
            file.discard();
            return Err(e.context(say!("program not started")));
        }
    };
    catch_signals();
    let watched = match args.program.start(&request) {
        Ok(watched) => watched,
        Err(e) => {
            file.discard();
            return Ok(not_started(&e));
        }
    };
    let session =
        match Session::watch_selected(&watched, selection, file.into(), Arc::new(|| {}), None) {
            Ok(session) => session,
            // The program is already running, and continues.
            Err(e) => {
                print_message(say!("cannot record the program, which continues: {e}"));
                return exit_as(watched.wait());
            }
        };
    let (seen, complaint) = drain_session(&session, shown.as_mut());
    let end = watched.wait();
    let was_shown = shown.is_some();
    if let Some(shown) = shown {
        shown.end(complaint.as_deref(), false);
    }
    if seen.loaders > 0 && !watched.effects().was_set && !request.overrides.is_empty() {
        print_message(match &request.set {
            Some(line) => say!(
                "--set changed nothing, because no loader is created in {line}. `loadscope info {}` lists the lines.",
                path.display()
            ),
            None => say!("--set changed nothing: the loaders already have these arguments, or cannot take them").to_owned(),
        });
    }
    match complaint {
        Some(text) => {
            let reached = watched.was_reached();
            let host = args.program.host().map(|host| (host, reached));
            print_message(nothing_recorded(&text, end, host));
        }
        None => {
            print_message(seen.sentence(&path));
            if was_shown {
                print_view_command(&path);
            }
        }
    }
    exit_as(end)
}

/// Runs a program with the window open. Returns the program's exit code.
pub fn watch(args: &WatchArgs, window: &WindowArgs) -> anyhow::Result<ExitCode> {
    let extent = Extent {
        selection: args.program.select.selection(),
        limits: args.limits.limits(),
    };
    let args = &args.program;
    let request = args.request()?;
    if !args.web.web {
        // A missing display fails before the program starts, as an unwritable output does.
        window::need_display("loadscope watch --web", "loadscope record")
            .context(say!("program not started"))?;
    }
    let shown = LiveView::begin(&args.web, None, extent.limits);
    let shown = shown.context(say!("program not started"))?;
    catch_signals();
    let watched = match args.start(&request) {
        Ok(watched) => watched,
        Err(e) => return Ok(not_started(&e)),
    };
    if shown.is_some() {
        record_in_journal(&watched, extent, shown);
        return exit_as(watched.wait());
    }
    restore_signals_after(&watched);
    let opened = window::watch(&watched, (args.repeatable(), extent.clone()), window);
    if let Err(e) = &opened {
        print_message(error_sentence(e));
        // If the window never followed the program, the journal records it. The program's exit code stays the same.
        if !watched.is_followed() {
            record_in_journal(&watched, extent, None);
        }
    } else if !watched.has_ended() {
        print_message(say!("the window is closed, and the program continues"));
    }
    exit_as(watched.wait())
}

/// Restores the handling of signals after the program has ended. Until then, signals are forwarded to the program. Afterwards they end the
/// window.
fn restore_signals_after(watched: &Watched) {
    /// Polling interval.
    const LOOK_EVERY: std::time::Duration = std::time::Duration::from_millis(100);
    let watched = watched.clone();
    let look = move || {
        while !watched.has_ended() {
            std::thread::sleep(LOOK_EVERY);
        }
        restore_signals();
    };
    // Without the thread, the user can still close the window.
    drop(
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(look),
    );
}

/// Returns the name of a file, for a page.
pub(super) fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

/// Returns the message about a recording without events, with the reason.
pub(super) fn without_recording(reason: &str) -> String {
    let reason = reason.trim_end_matches(['.', '。']);
    say!("no recording was written. {reason}.")
}

/// Returns the messages about a recording without events. `host` is the host of `--ssh`, and true if a process of the program was reached
/// there.
fn nothing_recorded(reason: &str, end: End, host: Option<(String, bool)>) -> String {
    match (host, end) {
        // This is the exit code of ssh if it cannot connect. ssh has printed the reason.
        (Some((host, _)), End::Code(255)) => say!(
            "no recording was written. ssh failed for host {host}, with the reason above. Check the name and the login with `ssh {host}`."
        ),
        // These are exit codes of shells. The shell has printed the reason.
        (Some((host, false)), End::Code(126 | 127)) => say!(
            "no recording was written. The program could not start on {host}, with the reason above."
        ),
        // This is the exit code for a missing folder, or of Python for a missing file.
        (Some((host, false)), End::Code(2)) => say!(
            "no recording was written. The program on {host} ended with exit code 2 before it imported PyTorch. The reason is above."
        ),
        _ => without_recording(reason),
    }
}

/// Records a program without a window into the user's journal.
fn record_in_journal(watched: &Watched, extent: Extent, mut shown: Option<LiveView>) {
    let Extent { selection, limits } = extent;
    let begin = |journal: Journal| journal.begin_with(limits).ok();
    let entry = Journal::of_user().and_then(begin);
    let path = entry.as_ref().map(|new| new.entry().path().to_owned());
    let record = entry.map_or(Record::Off, Record::Journal);
    if let Ok(session) = Session::watch_selected(watched, selection, record, Arc::new(|| {}), None)
    {
        let (seen, complaint) = drain_session(&session, shown.as_mut());
        match (&complaint, path) {
            (Some(text), _) => print_message(without_recording(text)),
            (None, Some(path)) => {
                print_message(seen.sentence(&path));
                if shown.is_some() {
                    print_view_command(&path);
                }
            }
            (None, None) => {}
        }
        if let Some(shown) = shown {
            // From here on, Ctrl+C ends this process.
            restore_signals();
            shown.end(complaint.as_deref(), true);
        }
    }
}

/// Prints the probe.
pub fn probe() -> anyhow::Result<ExitCode> {
    print_bytes(PROBE.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// Summary of a recording.
#[derive(Default)]
pub(super) struct RecordingSummary {
    pub(super) loaders: u64,
    /// Number of batches that the program received.
    pub(super) batches: u64,
    /// Number of workers that were started before the recording.
    earlier: u32,
    /// True if the recording is incomplete because of an error.
    is_partial: bool,
}

impl RecordingSummary {
    pub(super) fn add(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(_) => self.loaders += 1,
            EventKind::Fact(fact) => {
                if let Fact::EarlierWorkers { workers } = **fact {
                    self.earlier = self.earlier.saturating_add(workers);
                }
            }
            EventKind::Entered {
                stage: Stage::Training,
                ..
            } => self.batches += 1,
            _ => {}
        }
    }

    /// Returns the message about workers whose work is not in the recording.
    pub(super) fn unrecorded(&self) -> Option<String> {
        let workers = plural(
            u64::from(self.earlier),
            say!(n: "worker"),
            say!(n: "workers"),
        );
        (self.earlier > 0).then(|| {
            say!(
                "{workers} started before the recording, so their work was not recorded. Start the recording before the first epoch of the loader, or create the DataLoader again."
            )
        })
    }

    /// Returns the summary: `2 loaders, 100 batches in run.jsonl.zst`.
    pub(super) fn sentence(&self, path: &Path) -> String {
        let loaders = plural(self.loaders, say!(n: "loader"), say!(n: "loaders"));
        let batches = plural(self.batches, say!(n: "batch"), say!(n: "batches"));
        match self.is_partial {
            // The previous message has the reason, and the place of the rest.
            true => say!("{loaders}, {batches}, not all of them recorded"),
            false => say!(
                "{loaders}, {batches} in {}. To see why training waited, run `loadscope report {}`.",
                path.display(),
                shell_quoted(path)
            ),
        }
    }
}

/// Follows a session to its end, and shows it in a browser. Returns a summary, and the reason if nothing was recorded.
pub(super) fn drain_session(
    session: &Session,
    mut shown: Option<&mut LiveView>,
) -> (RecordingSummary, Option<String>) {
    let mut seen = RecordingSummary::default();
    let mut complaint = None;
    for event in &session.events {
        match event {
            SessionEvent::Events(events) => {
                events.iter().for_each(|event| seen.add(event));
                if let Some(shown) = &mut shown {
                    shown.writer().write(&events);
                }
            }
            SessionEvent::Notice(text) => print_message(text),
            SessionEvent::Failed(text) => {
                seen.is_partial = true;
                print_message(text);
            }
            SessionEvent::Ended(text) => {
                complaint = text;
                break;
            }
            _ => {}
        }
    }
    (seen, complaint)
}

/// Prints the error and returns an exit code as in shells: 127 for a missing command, 126 for one that is not executable. The code is 2 if
/// Loadscope did not try.
fn not_started(why: &ProgramError) -> ExitCode {
    print_message(why);
    ExitCode::from(match why {
        ProgramError::Preparing(_) | ProgramError::Memory => NOT_RECORDED,
        ProgramError::Starting(_, e) if e.kind() == std::io::ErrorKind::PermissionDenied => {
            NOT_EXECUTABLE
        }
        ProgramError::Starting(..) => NOT_STARTED,
    })
}

pub(super) fn exit_as(end: End) -> anyhow::Result<ExitCode> {
    match end {
        End::Signal(number) => exit_by_signal(number),
        // A Unix exit code has one byte.
        End::Code(code) => Ok(ExitCode::from((code & 0xff) as u8)),
    }
}

/// Returns `run.jsonl.zst`, `run-2.jsonl.zst`, …
pub(super) fn default_names() -> impl Iterator<Item = PathBuf> {
    let first = std::iter::once("run.jsonl.zst".to_owned());
    let others = (2..=MOST_NAMES).map(|n| format!("run-{n}.jsonl.zst"));
    first.chain(others).map(PathBuf::from)
}
