//! A process is stopped at random moments, as the lid of a laptop or a scheduler does it.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// Stops a process at random moments, and lets it go on.
pub struct Stops {
    noise: u64,
    /// When it is stopped next, or goes on.
    next: Instant,
    /// Since when it is stopped.
    since: Option<Instant>,
    /// How often it was.
    pub count: u64,
    /// For how long together.
    pub together: Duration,
}

impl Stops {
    /// It was not stopped yet.
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

    /// Between so many ms and so many.
    fn random(&mut self, least: u64, most: u64) -> Duration {
        self.noise ^= self.noise << 13;
        self.noise ^= self.noise >> 7;
        self.noise ^= self.noise << 17;
        Duration::from_millis(least + (self.noise >> 11) % (most - least))
    }

    /// Stops it if it is time to, or lets it go on.
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

    /// Lets it go on if it is stopped.
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
    // One that has just ended needs none.
    let _ = sent;
    Ok(())
}
