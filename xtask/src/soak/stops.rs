//! Suspends a process at random times, like the lid of a laptop or a scheduler.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Random times at which a process is suspended and resumed.
pub struct Stops {
    noise: u64,
    /// Time of the next suspension or resumption.
    next: Instant,
    /// Start of the current suspension.
    since: Option<Instant>,
    /// Number of suspensions.
    pub count: u64,
    /// Total duration of the suspensions.
    pub together: Duration,
}

impl Stops {
    /// Creates the state before the first suspension.
    pub fn new(seed: u64) -> Self {
        let mut stops = Self {
            noise: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            next: Instant::now(),
            since: None,
            count: 0,
            together: Duration::ZERO,
        };
        let first = stops.random(1_000, 5_000);
        stops.next += first;
        stops
    }

    /// Returns a random duration from `least` to `most`, ms.
    fn random(&mut self, least: u64, most: u64) -> Duration {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        Duration::from_millis(least + (self.noise >> 11) % (most - least))
    }

    /// Suspends or resumes the process if the time has come.
    pub fn step(&mut self, child: &Child) -> Result<()> {
        if Instant::now() < self.next {
            return Ok(());
        }
        if self.since.is_some() {
            self.end(child)?;
            self.next = Instant::now() + self.random(2_000, 20_000);
        } else {
            signal(child, "-STOP")?;
            self.count += 1;
            self.since = Some(Instant::now());
            self.next = Instant::now() + self.random(1_000, 3_000);
        }
        Ok(())
    }

    /// Resumes the process if it is suspended.
    pub fn end(&mut self, child: &Child) -> Result<()> {
        if let Some(since) = self.since.take() {
            signal(child, "-CONT")?;
            self.together += since.elapsed();
        }
        Ok(())
    }
}

fn signal(child: &Child, name: &str) -> Result<()> {
    let sent = Command::new("kill")
        .args([name, &child.id().to_string()])
        .stderr(Stdio::null())
        .status()
        .context("kill could not be started. Install procps or util-linux")?;
    // A failure means that the process has just ended.
    let _ = sent;
    Ok(())
}
