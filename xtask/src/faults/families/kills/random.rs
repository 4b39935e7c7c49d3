//! Random times, detection of a stalled host, and statistics of missing data.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::faults::fake_program::now;
use crate::faults::sandbox::Sandbox;

/// Random numbers that are reproducible by seed.
pub struct Rng(u64);

impl Rng {
    pub fn of(sandbox: &Sandbox, victim: u64) -> Self {
        Self(sandbox.shared.seed.wrapping_add(victim << 32))
    }

    /// Returns the next number of SplitMix64.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.next() % most.max(1)
    }

    pub fn millis(&mut self, most: u64) -> Duration {
        Duration::from_micros(self.below(most * 1000))
    }
}

/// Detector of a stalled host, on which nothing can be written.
pub struct StallDetector {
    worst: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
}

impl StallDetector {
    pub fn start() -> Result<Self> {
        let (worst, stop) = (
            Arc::new(AtomicU64::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (longest, stopped) = (Arc::clone(&worst), Arc::clone(&stop));
        const BEAT: Duration = Duration::from_millis(5);
        std::thread::Builder::new()
            .name("pulse".to_owned())
            .spawn(move || {
                while !stopped.load(Ordering::Relaxed) {
                    let before = now();
                    std::thread::sleep(BEAT);
                    let over = now().saturating_sub(before + BEAT).as_millis() as u64;
                    longest.fetch_max(over, Ordering::Relaxed);
                }
            })?;
        Ok(Self { worst, stop })
    }

    /// Returns true if the host stalled since the last call.
    pub fn has_stalled(&self) -> bool {
        const MOST: u64 = 40;
        self.worst.swap(0, Ordering::Relaxed) > MOST
    }
}

impl Drop for StallDetector {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// Duration of missing data per kill.
#[derive(Default)]
pub struct Missing {
    pub each: Vec<Duration>,
    pub stood_still: u32,
}

impl Missing {
    /// Returns a summary, or an error if more than `most` is missing after a kill.
    pub fn check_limit(mut self, most: Duration) -> Result<String> {
        let too_long = self.each.iter().filter(|one| **one > most).count();
        let said = self.summary();
        match too_long {
            0 => Ok(said),
            n => bail!(
                "more than {} ms are missing after {n} of {said}",
                most.as_millis()
            ),
        }
    }

    pub fn summary(&mut self) -> String {
        self.each.sort();
        let (Some(median), Some(most)) = (self.each.get(self.each.len() / 2), self.each.last())
        else {
            return "no kill".to_owned();
        };
        let count = self.each.len();
        let mut text = format!(
            "{count} kills, missing: median {} ms, at most {} ms",
            median.as_millis(),
            most.as_millis()
        );
        if self.stood_still > 0 {
            text += &format!(
                "; {} more while the host stood still do not count",
                self.stood_still
            );
        }
        text
    }
}
