//! A running command, and its result.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};

use crate::faults::sandbox::Sandbox;
use crate::faults::supervise::Supervised;

/// Running command. The end of its case kills the remaining processes.
pub struct Started<'a> {
    pub(super) sandbox: &'a Sandbox<'a>,
    /// Command line, as a user would type it.
    pub(super) shown: String,
    pub process: i32,
    pub(super) supervised: Option<Supervised>,
    pub(super) started: Instant,
    pub(super) until: Instant,
    pub(super) captured: [Option<PathBuf>; 3],
    /// Threads that read pipes which were full at first.
    pub(super) readers: Vec<JoinHandle<()>>,
}

impl Started<'_> {
    /// Sends a signal to the process.
    pub fn signal(&self, number: i32) {
        // SAFETY: kill accesses no memory of this process. The process was not waited for, so its ID is not reused.
        unsafe { libc::kill(self.process, number) };
    }

    /// Waits until `holds` returns true. Fails if the process ends, or after the deadline.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut() -> bool) -> Result<()> {
        self.wait_until(what, |_| holds())
    }

    /// Waits until the recorded program has sent this number of batches.
    pub fn until_sent(&mut self, batches: u64) -> Result<()> {
        let sandbox = self.sandbox;
        self.wait_until("the program sends batches", |_| sandbox.sent() >= batches)
    }

    /// Waits until a rule has had an effect.
    pub fn until_injected(&mut self) -> Result<()> {
        self.wait_until("something is injected", |it| {
            let counts = it.supervised.as_ref().map(Supervised::counts);
            counts.is_some_and(|counts| counts.iter().any(|(_, done)| *done > 0))
        })
    }

    fn wait_until(&mut self, what: &str, mut holds: impl FnMut(&Self) -> bool) -> Result<()> {
        while !holds(self) {
            if Instant::now() > self.until {
                bail!(
                    "{}: it never came to this: {what}. {}",
                    self.shown,
                    self.words()
                );
            }
            if !Path::new(&format!("/proc/{}", self.process)).exists() || self.is_zombie() {
                // The condition may have become true right before the end.
                if holds(self) {
                    return Ok(());
                }
                bail!(
                    "{}: it ended before this: {what}. {}",
                    self.shown,
                    self.words()
                );
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn is_zombie(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process)).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_some_and(|(_, rest)| rest.starts_with('Z'))
    }

    fn words(&self) -> String {
        let [_, out, err] = self
            .captured
            .clone()
            .map(|path| path.map(|p| text(&p)).unwrap_or_default());
        format!(
            "Standard output: {}; standard error: {}",
            brief(&out),
            brief(&err)
        )
    }

    /// Waits for the end. Past the deadline, it kills all processes of the case and fails.
    pub fn wait(self) -> Result<Ended> {
        let (status, usage) = loop {
            if let Some(ended) = ended(self.process)? {
                break ended;
            }
            if Instant::now() > self.until {
                let words = self.words();
                self.sandbox.end_all();
                // The call reaps the zombie.
                let _ = ended(self.process);
                return Err(anyhow!("{}: it hangs. {words}", self.shown));
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = self.started.elapsed();
        // The rest of a pipe arrives within milliseconds, unless a child process keeps the pipe open.
        let until = Instant::now() + Duration::from_secs(3);
        while self.readers.iter().any(|reader| !reader.is_finished()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let counts = self.supervised.as_ref().map(Supervised::counts);
        let captured = |number: usize| {
            self.captured[number]
                .as_deref()
                .map(text)
                .unwrap_or_default()
        };
        Ok(Ended {
            shown: self.shown.clone(),
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            out: captured(1),
            err: captured(2),
            took,
            counts: counts.unwrap_or_default(),
            most_memory: usage.ru_maxrss as u64 * 1024,
        })
    }
}

/// Returns the status of a process that has ended.
fn ended(process: i32) -> Result<Option<(i32, libc::rusage)>> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is valid. The system writes to both variables, which outlive the call.
    let (answer, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let answer = libc::wait4(process, &raw mut status, libc::WNOHANG, &raw mut usage);
        (answer, usage)
    };
    match answer {
        0 => Ok(None),
        n if n == process => Ok(Some((status, usage))),
        _ => Err(io::Error::last_os_error().into()),
    }
}

fn text(path: &Path) -> String {
    String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
}

/// Returns the beginning of an output.
fn brief(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(600) {
        Some((at, _)) => format!("{:?} …", &text[..at]),
        None => format!("{text:?}"),
    }
}

/// Result of a command.
#[derive(Debug)]
pub struct Ended {
    shown: String,
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
    /// Number of matching calls and of effects, per rule.
    pub counts: Vec<(u64, u64)>,
    /// Peak memory, bytes.
    pub most_memory: u64,
}

impl Ended {
    /// Fails with the result and the output of the command if `holds` is false.
    pub fn require(&self, holds: bool, what: &str) -> Result<()> {
        if holds {
            return Ok(());
        }
        let end = match (self.code, self.signal) {
            (Some(code), _) => format!("exit code {code}"),
            (_, Some(signal)) => format!("signal {signal}"),
            _ => "no end".to_owned(),
        };
        Err(anyhow!(
            "{what}. {}: {end}; standard output: {}; standard error: {}",
            self.shown,
            brief(&self.out),
            brief(&self.err)
        ))
    }

    /// Fails unless the command exited with this code.
    pub fn code(&self, code: i32) -> Result<()> {
        self.check_no_panic()?;
        self.require(
            self.code == Some(code),
            &format!("exit code {code} was expected"),
        )
    }

    /// Fails unless the command ended by this signal.
    pub fn signal(&self, signal: i32) -> Result<()> {
        self.check_no_panic()?;
        self.require(
            self.signal == Some(signal),
            &format!("signal {signal} was expected"),
        )
    }

    /// Fails if the command panicked or was aborted.
    pub fn check_no_panic(&self) -> Result<()> {
        let panicked = self.err.contains("panicked") || self.out.contains("panicked");
        let aborted = matches!(
            self.signal,
            Some(libc::SIGABRT | libc::SIGSEGV | libc::SIGXFSZ | libc::SIGPIPE)
        );
        self.require(
            !panicked && !aborted && self.code != Some(101),
            "it must not panic or be aborted",
        )
    }

    /// Fails unless the command refused: exit code 2, and an error message with these words.
    pub fn check_refused(&self, words: &[&str]) -> Result<()> {
        self.code(2)?;
        self.check_error_message(words)
    }

    /// Fails unless the recorder reported that it could not start the program. The exit code is 127, as in shells, or 2.
    pub fn not_started(&self) -> Result<()> {
        let is_refused = matches!(self.code, Some(2 | 127));
        self.require(is_refused, "exit code 2 or 127 was expected")?;
        self.check_error_message(&[])
    }

    /// Fails unless an error message on standard error contains these words.
    pub fn check_error_message(&self, words: &[&str]) -> Result<()> {
        let is_sentence = self.err.lines().any(|line| {
            line.starts_with("loadscope: ")
                || line.starts_with("error: ")
                || line.contains("loadscope: ")
        });
        self.require(is_sentence, "a sentence on standard error was expected")?;
        for word in words {
            let says = self.err.to_lowercase().contains(&word.to_lowercase());
            self.require(
                says,
                &format!("standard error was expected to say {word:?}"),
            )?;
        }
        Ok(())
    }

    /// Fails if no rule had an effect, because then the case tested nothing.
    pub fn check_injected(&self) -> Result<()> {
        let any = self.counts.iter().any(|(_, done)| *done > 0);
        self.require(
            any,
            "nothing was injected: the call that was to fail never came",
        )
    }
}
