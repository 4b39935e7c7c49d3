//! A deadline for each test. `cargo test` starts every test binary through `xtask deadline`, which kills a binary whose test hangs.
//!
//! The binary runs in its own session, with the default signal handlers and an empty standard input. Therefore its environment does not
//! affect it: a shell ignores SIGINT for background commands, `nohup` ignores SIGHUP, and CI has no terminal.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

mod group;
mod progress;

use crate::exit::code_of;
use progress::Progress;

/// Default deadline of a test, seconds.
const DEADLINE: u64 = 300;
/// Environment variable that overrides the deadline.
const VARIABLE: &str = "LOADSCOPE_TEST_DEADLINE";
/// Exit code after a deadline, as of `timeout`.
const TIMED_OUT: u8 = 124;
/// Interval between checks of the deadline.
const TICK: Duration = Duration::from_millis(100);
/// Timeout for output that arrives after the end of the binary.
const REST: Duration = Duration::from_secs(2);

/// Returns the arguments with which `cargo test` starts each test binary through this module.
pub fn runner() -> Result<[String; 2]> {
    let xtask = env::current_exe().context("the path of xtask is unknown")?;
    let path = xtask.to_str().with_context(|| {
        format!(
            "{} is not UTF-8. Set CARGO_TARGET_DIR to another folder",
            xtask.display()
        )
    })?;
    // A JSON string is a TOML string. A variable would split a path at its spaces.
    let path = serde_json::to_string(path)?;
    let option = format!("target.'cfg(all())'.runner=[{path},\"deadline\"]");
    Ok(["--config".to_owned(), option])
}

/// Message about a test binary.
enum ProcessEvent {
    Output(Vec<u8>),
    Ended(io::Result<ExitStatus>),
}

/// Runs a test binary and returns its exit code, or 124 after a deadline.
pub fn run(binary: &Path, arguments: &[OsString]) -> Result<u8> {
    let deadline = deadline()?;
    let signals = group::catch_signals();
    let mut command = Command::new(binary);
    command.args(arguments);
    let has_color = arguments
        .iter()
        .any(|a| a.to_string_lossy().starts_with("--color"));
    if io::stdout().is_terminal() && !has_color {
        command.arg("--color=always");
    }
    let (process, news) = start(command)
        .with_context(|| format!("cannot start the test binary {}", binary.display()))?;
    let mut progress = Progress::new(deadline, arguments, Instant::now());
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        match news.recv_timeout(TICK) {
            Ok(ProcessEvent::Output(bytes)) => {
                let mut out = io::stdout();
                // The tests continue if standard output is closed.
                let _ = out.write_all(&bytes).and_then(|()| out.flush());
                progress.read(&bytes, Instant::now());
            }
            Ok(ProcessEvent::Ended(status)) => {
                // Processes that a test left running are killed.
                group::kill(process);
                ended = Some((status?, Instant::now()));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        match &ended {
            Some((_, since)) if since.elapsed() > REST => break,
            Some(_) => {}
            None => {
                if let Some(number) = signals.received() {
                    group::kill_all(process);
                    return Ok(128 | number);
                }
                if let Some(late) = progress.late(Instant::now()) {
                    group::kill_all(process);
                    complain(binary, &late, deadline);
                    return Ok(TIMED_OUT);
                }
            }
        }
    }
    let (status, _) = ended.context("the test binary ended without a status")?;
    if status.code().is_none() {
        eprintln!("{}: {status}", binary.display());
    }
    Ok(code_of(status))
}

/// Starts a command. Messages about it arrive until it has ended and its output is closed.
fn start(mut command: Command) -> io::Result<(u32, Receiver<ProcessEvent>)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    group::start_group(&mut command);
    let mut child = command.spawn()?;
    let process = child.id();
    let (sender, news) = mpsc::channel();
    let output = child.stdout.take();
    let of_output = sender.clone();
    thread::spawn(move || output.map(|output| read(output, &of_output)));
    thread::spawn(move || wait(child, &sender));
    Ok((process, news))
}

fn read(mut output: impl io::Read, news: &Sender<ProcessEvent>) {
    let mut buffer = [0; 8192];
    while let Ok(count @ 1..) = output.read(&mut buffer) {
        let bytes = buffer.get(..count).unwrap_or_default().to_vec();
        if news.send(ProcessEvent::Output(bytes)).is_err() {
            break;
        }
    }
}

fn wait(mut child: Child, news: &Sender<ProcessEvent>) {
    // The receiver is gone after a deadline.
    let _ = news.send(ProcessEvent::Ended(child.wait()));
}

/// Returns the deadline of each test: the default, or the seconds in the variable.
fn deadline() -> Result<Duration> {
    let seconds = match env::var_os(VARIABLE) {
        Some(set) => set
            .to_str()
            .and_then(|set| set.parse().ok())
            .with_context(|| format!("{VARIABLE} is not a number of seconds: {}", set.display()))?,
        None => DEADLINE,
    };
    ensure!(seconds > 0, "{VARIABLE} is 0. Set it to at least 1 second");
    Ok(Duration::from_secs(seconds))
}

/// Prints the tests that exceeded the deadline.
fn complain(binary: &Path, late: &[String], deadline: Duration) {
    let late = match late {
        [] => "a test".to_owned(),
        [one] => format!("test {one}"),
        several => format!("tests {}", several.join(", ")),
    };
    eprintln!(
        "\nerror: {late} did not end within {} s. {} and its child processes were killed. Set {VARIABLE} to allow more seconds.",
        deadline.as_secs(),
        binary.display()
    );
}
