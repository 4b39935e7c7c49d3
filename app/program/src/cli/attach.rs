//! `loadscope attach` records a running program. The Python package runs `loadscope listen` for its own process.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use clap::Args;
use serde_json::json;

use super::number::whole_number;
use super::output::{ForceArg, LimitArgs, SelectArgs};
use super::program::{RecordingSummary, default_names, drain_session, name_of, without_recording};
use super::stacks::StackArgs;
use super::terminal::{error_sentence, print_json_line, print_message};
use super::web::{LiveView, WebArgs, print_view_command};
use loadscope_session::{Attach, Session, SessionEvent, Watched, catch_termination_signals};
use loadscope_words::say;

/// Exit codes of `attach`.
const EXIT_CODES: &str = "\
Exit code:
  0  success
  1  nothing was recorded
  2  any other error";

/// The process to record, and how.
#[derive(Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct AttachArgs {
    /// Process ID
    ///
    /// Child processes are recorded too.
    #[arg(value_parser = process)]
    pid: u32,
    /// Output file, .jsonl or .jsonl.zst [default: run.jsonl.zst, then run-2.jsonl.zst, …]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArg,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    select: SelectArgs,
    /// About once per second, keep up to N images and waveforms of a batch, at most 64
    ///
    /// The first numbers and texts of each field are kept too.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0_u32, 64))]
    previews: u32,
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    web: WebArgs,
}

/// Parses a process ID.
pub(super) fn process(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|pid| *pid > 0);
    number.ok_or_else(|| say!("expected a process ID. Find it with `ps -ef`.").to_owned())
}

/// Records a running program until Ctrl+C or its end. The program continues.
pub fn attach(args: &AttachArgs) -> anyhow::Result<ExitCode> {
    catch_termination_signals();
    let (watched, _) = Watched::attach(args.pid, Attach::RequestFile, args.previews)
        .map_err(|e| anyhow!(e.to_string()))?;
    args.stacks.apply(&watched);
    let output = args.output.as_deref();
    let selection = args.select.selection();
    let existing = args.force.existing();
    let file = (args.limits).create(output, existing, default_names())?;
    let path = file.path().to_owned();
    let mut shown = match LiveView::begin(&args.web, name_of(&path), args.limits.limits()) {
        Ok(shown) => shown,
        Err(e) => {
            file.discard();
            return Err(e);
        }
    };
    let session = Session::watch_selected(&watched, selection, file.into(), Arc::new(|| {}), None)?;
    print_message(say!(
        "recording process {} from its next DataLoader iterator on. Ctrl+C ends the recording, and the program continues.",
        args.pid
    ));
    let (seen, complaint) = drain_session(&session, shown.as_mut());
    watched.wait();
    let was_shown = shown.is_some();
    if let Some(shown) = shown {
        shown.end(complaint.as_deref(), false);
    }
    Ok(match complaint {
        Some(text) => {
            print_message(without_recording(&text));
            ExitCode::from(1)
        }
        None => {
            if let Some(text) = seen.unrecorded() {
                print_message(text);
            }
            print_message(seen.sentence(&path));
            if was_shown {
                print_view_command(&path);
            }
            ExitCode::SUCCESS
        }
    })
}

/// Records the calling process until standard input has a byte or is closed.
///
/// Prints two lines of JSON: the address for events, and the summary of the recording.
pub fn listen(args: &AttachArgs) -> anyhow::Result<ExitCode> {
    let (watched, address) = Watched::attach(args.pid, Attach::Listen, args.previews)
        .map_err(|e| anyhow!(e.to_string()))?;
    args.stacks.apply(&watched);
    let output = args.output.as_deref();
    let selection = args.select.selection();
    let existing = args.force.existing();
    let file = (args.limits).create(output, existing, default_names())?;
    let path = file.path().to_owned();
    let path = std::path::absolute(&path).unwrap_or(path);
    // The process is recorded even if the live view fails.
    let (mut shown, no_link) =
        match LiveView::in_frame(&args.web, name_of(&path), args.limits.limits()) {
            Ok(shown) => (shown, None),
            Err(e) => (None, Some(error_sentence(&e))),
        };
    let session = Session::watch_selected(&watched, selection, file.into(), Arc::new(|| {}), None)?;
    end_with_input(&watched)?;
    print_json_line(json!({
        "to": address.to,
        "token": address.token,
        "recording": path,
        "link": shown.as_ref().map(LiveView::link),
        "no_link": no_link,
    }))?;
    let mut seen = RecordingSummary::default();
    let mut troubles = Vec::new();
    let mut complaint = None;
    for event in &session.events {
        match event {
            SessionEvent::Events(events) => {
                events.iter().for_each(|event| seen.add(event));
                if let Some(shown) = &mut shown {
                    shown.writer().write(&events);
                }
            }
            SessionEvent::Failed(text) => troubles.push(text),
            SessionEvent::Ended(text) => {
                complaint = text;
                break;
            }
            _ => {}
        }
    }
    watched.wait();
    troubles.extend(seen.unrecorded());
    print_json_line(json!({
        "recording": complaint.is_none().then_some(path),
        "loaders": seen.loaders,
        "batches": seen.batches,
        "troubles": troubles,
        "nothing": complaint,
    }))?;
    // The recorded process continues during this wait.
    if let Some(shown) = shown {
        shown.end(complaint.as_deref(), false);
    }
    Ok(ExitCode::SUCCESS)
}

/// Ends the recording at a byte on standard input, or at its end.
fn end_with_input(watched: &Watched) -> anyhow::Result<()> {
    let watched = watched.clone();
    let wait = move || {
        // The read returns at a byte, the end of input or an error. Forked workers can keep the pipe open for long.
        let _ = std::io::stdin().read(&mut [0]);
        watched.detach();
    };
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(wait)
        .context(say!("cannot start a thread"))?;
    Ok(())
}
