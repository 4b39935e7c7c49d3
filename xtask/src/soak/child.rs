//! A process that runs for hours, measured from outside.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use serde::Deserialize;

use super::judge;
use super::row::{Row, count};
use super::sample::Sample;
use super::stops::Stops;
use crate::steps;

/// Interval of the samples.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);
/// Interval of the progress lines in the terminal.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
/// Timeout without progress.
const STALL_TIMEOUT: Duration = Duration::from_secs(900);

/// Task of a process.
pub struct Work {
    /// Heading of its table.
    pub title: &'static str,
    /// Description in whole sentences.
    pub about: String,
    /// Arguments of the process.
    pub arguments: &'static [&'static str],
    /// True if the process is suspended and resumed at random times.
    pub is_stopped: bool,
}

/// Settings of a run.
pub struct Run<'a> {
    /// Executable of the benchmark.
    pub executable: &'a Path,
    /// Folder with the libraries of libtorch.
    pub libraries: PathBuf,
    /// Number of events.
    pub events: u64,
    /// Seed of the random numbers.
    pub seed: u64,
    /// Timeout. Then the process is killed.
    pub deadline: Duration,
}

/// Result of a run.
pub struct Watched {
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Run time without the final checks.
    pub took: Duration,
}

/// Message of the process.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum ChildMessage {
    Done { done: u64 },
    Recording { recording: PathBuf, most: u64 },
    Checking { checking: bool },
    Row(Row),
}

/// Starts the process, watches it until its end, and returns the result.
pub fn watch(work: &Work, run: &Run<'_>) -> Result<Watched> {
    let folder = tempfile::Builder::new()
        .prefix("loadscope-soak-")
        .tempdir()?;
    let mut child = Command::new(run.executable)
        .args(work.arguments)
        .arg(format!("folder={}", folder.path().display()))
        .arg(format!("events={}", run.events))
        .arg(format!("seed={}", run.seed))
        .env("LD_LIBRARY_PATH", &run.libraries)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} could not be started", run.executable.display()))?;
    let messages = listen(&mut child)?;
    let mut state = WatchState {
        title: work.title,
        events: run.events,
        messages,
        samples: Vec::new(),
        rows: Vec::new(),
        recording: None,
        done: 0,
        checking: false,
        began: Instant::now(),
        took: None,
        last_message_at: Instant::now(),
        shown: Instant::now(),
        stops: work.is_stopped.then(|| Stops::new(run.seed)),
    };
    let ended = state.follow(&mut child, run.deadline);
    if ended.is_err() {
        // SIGKILL also ends a suspended process.
        let _ = child.kill();
        let _ = child.wait();
    }
    Ok(state.finish(&ended?))
}

/// Starts a thread that receives the messages of the process.
fn listen(child: &mut Child) -> Result<Receiver<Result<ChildMessage>>> {
    let output = child.stdout.take().context("its output is a pipe")?;
    let (sender, said) = channel();
    let job = move || {
        for line in BufReader::new(output).lines() {
            let said = line.map_err(anyhow::Error::from).and_then(|line| {
                serde_json::from_str(&line).with_context(|| format!("it said {line:?}"))
            });
            if sender.send(said).is_err() {
                return;
            }
        }
    };
    Builder::new().name("listener".to_owned()).spawn(job)?;
    Ok(said)
}

/// State of a watched process.
struct WatchState {
    title: &'static str,
    events: u64,
    messages: Receiver<Result<ChildMessage>>,
    samples: Vec<Sample>,
    rows: Vec<Row>,
    /// Folder of the recording, and its size limit in bytes.
    recording: Option<(PathBuf, u64)>,
    done: u64,
    /// True if the process is checking its results.
    checking: bool,
    began: Instant,
    took: Option<Duration>,
    /// Time of the last message.
    last_message_at: Instant,
    /// Time of the last progress line.
    shown: Instant,
    stops: Option<Stops>,
}

impl WatchState {
    fn follow(&mut self, child: &mut Child, deadline: Duration) -> Result<ExitStatus> {
        loop {
            self.apply_messages()?;
            if !self.checking {
                let recording = self.recording.as_ref().map(|(folder, _)| &**folder);
                self.samples
                    .extend(Sample::of(child.id(), self.done, recording));
                if let Some(stops) = &mut self.stops {
                    stops.step(child)?;
                }
            } else if let Some(stops) = &mut self.stops {
                stops.end(child)?;
            }
            if let Some(status) = child.try_wait()? {
                // The pause lets the last messages arrive.
                std::thread::sleep(SAMPLE_INTERVAL);
                self.apply_messages()?;
                return Ok(status);
            }
            if self.began.elapsed() > deadline {
                bail!(
                    "{} was ended after {}, with {} of {} events. Give it more time with --hours",
                    self.title,
                    steps::format_duration(deadline),
                    count(self.done),
                    count(self.events)
                );
            }
            if self.last_message_at.elapsed() > STALL_TIMEOUT {
                bail!(
                    "{} makes no progress: {} of {} events for {}",
                    self.title,
                    count(self.done),
                    count(self.events),
                    steps::format_duration(STALL_TIMEOUT)
                );
            }
            self.show();
            std::thread::sleep(SAMPLE_INTERVAL);
        }
    }

    /// Applies the received messages.
    fn apply_messages(&mut self) -> Result<()> {
        while let Ok(said) = self.messages.try_recv() {
            self.last_message_at = Instant::now();
            match said? {
                ChildMessage::Done { done } => self.done = done,
                ChildMessage::Recording { recording, most } => {
                    self.recording = Some((recording, most))
                }
                ChildMessage::Checking { checking } => {
                    self.checking = checking;
                    self.took = Some(self.began.elapsed());
                }
                ChildMessage::Row(row) => self.rows.push(row),
            }
        }
        Ok(())
    }

    /// Prints a progress line, at most once per [`PROGRESS_INTERVAL`].
    fn show(&mut self) {
        if self.shown.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        self.shown = Instant::now();
        let took = self.began.elapsed().as_secs_f64();
        let share = self.done as f64 / self.events as f64;
        let last = self.samples.last().copied().unwrap_or_default();
        if self.checking {
            eprintln!("{}: it looks at what it has done", self.title);
            return;
        }
        let left = match share > 0.0 {
            true => steps::format_duration(Duration::from_secs_f64(
                took / share * (1.0 - share).max(0.0),
            )),
            false => "unknown".to_owned(),
        };
        eprintln!(
            "{}: {:.1} % of {} events, {:.2} million a second, {:.0} MB resident, {} descriptors, {} threads, {:.1} MB of files; {left} left",
            self.title,
            share * 100.0,
            count(self.events),
            self.done as f64 / took / 1e6,
            last.memory as f64 / 1e6,
            last.descriptors,
            last.threads,
            last.files as f64 / 1e6,
        );
    }

    fn finish(mut self, status: &ExitStatus) -> Watched {
        let took = self.took.unwrap_or_else(|| self.began.elapsed());
        let most = self.recording.as_ref().map(|(_, most)| *most);
        let mut rows = judge::rows(&self.samples, self.events, most);
        if let Some(stops) = &self.stops {
            let text = format!(
                "{} times, {:.0} s together",
                count(stops.count),
                stops.together.as_secs_f64()
            );
            rows.push(Row::new("it was stopped by SIGSTOP", text, None));
        }
        rows.append(&mut self.rows);
        if !status.success() {
            let text = format!("with {status}, after {} events", count(self.done));
            rows.push(Row::new("it ended", text, Some(false)));
        }
        Watched { rows, took }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a shell script as the watched process.
    fn watch_script(script: &str, is_stopped: bool) -> Result<Watched> {
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n"))?;
        let mut executable = Command::new("chmod");
        executable.arg("+x").arg(&program).status()?;
        let work = Work {
            title: "Test",
            about: String::new(),
            arguments: &["part=none"],
            is_stopped,
        };
        let run = Run {
            executable: &program,
            libraries: PathBuf::new(),
            events: 100,
            seed: 1,
            deadline: Duration::from_secs(30),
        };
        watch(&work, &run)
    }

    #[test]
    fn rows_of_a_process_are_read() -> Result<()> {
        let script = r#"echo '{"done":50}'; echo '{"recording":"/nowhere","most":5}'; sleep 1; echo '{"done":100}'
            echo '{"checking":true}'; echo '{"what":"a","measured":"b","holds":true}'"#;
        let watched = watch_script(script, false)?;
        let row = watched.rows.last().context("a row")?;
        assert_eq!((row.what.as_str(), row.holds), ("a", Some(true)));
        assert!(watched.took >= Duration::from_millis(900));
        Ok(())
    }

    #[test]
    fn failing_and_malformed_processes_are_reported() -> Result<()> {
        let watched = watch_script("exit 3", false)?;
        let row = watched.rows.last().context("a row")?;
        assert!(row.measured.contains("exit status: 3"), "{row:?}");
        assert_eq!(row.holds, Some(false));
        assert!(watch_script("echo nonsense; sleep 1", false).is_err());
        Ok(())
    }

    #[test]
    fn a_stopped_process_continues() -> Result<()> {
        let watched = watch_script("sleep 8", true)?;
        let stopped = watched
            .rows
            .iter()
            .find(|row| row.what.contains("SIGSTOP"))
            .context("a row")?;
        assert!(!stopped.measured.starts_with("0 times"), "{stopped:?}");
        assert!(watched.took < Duration::from_secs(20));
        Ok(())
    }
}
