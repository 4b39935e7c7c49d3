//! One kill, and the data that it loses.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::random::{Missing, StallDetector};
use crate::faults::fake_program::{FakeProgramOptions, notes, now};
use crate::faults::sandbox::Sandbox;

pub(super) fn fake_program(sandbox: &Sandbox) -> FakeProgramOptions {
    FakeProgramOptions {
        batches: 0,
        every: 3000,
        ..sandbox.fake_program()
    }
}

/// Returns the time between the first lost batch and the kill. A batch is lost if the program sent it, but the recording lacks it.
pub(super) fn missing(sandbox: &Sandbox, log: &Path, killed: Duration) -> Result<Duration> {
    let batches = sandbox.facts(log)?.batches;
    let told = notes(&sandbox.notes());
    let first = told
        .iter()
        .find(|told| told.batch >= batches && told.at <= killed);
    Ok(first.map_or(Duration::ZERO, |told| killed - told.at))
}

pub(super) fn kill(process: i32) -> Duration {
    let at = now();
    // SAFETY: kill accesses no memory of this process.
    unsafe { libc::kill(process, libc::SIGKILL) };
    at
}

/// Repeats kills until `kills` of them count.
pub(super) fn repeat(
    sandbox: &Sandbox,
    kills: u32,
    mut one: impl FnMut(u32) -> Result<Duration>,
) -> Result<()> {
    let pulse = StallDetector::start()?;
    let mut all = Missing::default();
    let mut number = 0;
    while (all.each.len() as u32) < kills {
        number += 1;
        ensure!(
            number <= kills * 4 + 20,
            "the host stands still too often: {}",
            all.summary()
        );
        pulse.has_stalled();
        let missing =
            one(number).with_context(|| format!("kill {number}, seed {}", sandbox.shared.seed))?;
        if missing > sandbox.shared.most_missing && pulse.has_stalled() {
            all.stood_still += 1;
            continue;
        }
        all.each.push(missing);
    }
    sandbox.note(all.check_limit(sandbox.shared.most_missing)?);
    Ok(())
}
