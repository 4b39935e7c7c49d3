//! One kill, and the data that it loses.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::chance::{Missing, Pulse};
use crate::faults::place::Place;
use crate::faults::speak::{Speech, notes, now};

pub(super) fn speech(place: &Place) -> Speech {
    Speech {
        batches: 0,
        every: 3000,
        ..place.speech()
    }
}

/// Returns the time between the first lost batch and the kill. A batch is lost if the program sent it, but the recording lacks it.
pub(super) fn missing(place: &Place, log: &Path, killed: Duration) -> Result<Duration> {
    let batches = place.facts(log)?.batches;
    let told = notes(&place.notes());
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
    place: &Place,
    kills: u32,
    mut one: impl FnMut(u32) -> Result<Duration>,
) -> Result<()> {
    let pulse = Pulse::start()?;
    let mut all = Missing::default();
    let mut number = 0;
    while (all.each.len() as u32) < kills {
        number += 1;
        ensure!(
            number <= kills * 4 + 20,
            "the host stands still too often: {}",
            all.said()
        );
        pulse.stood_still();
        let missing =
            one(number).with_context(|| format!("kill {number}, seed {}", place.world.seed))?;
        if missing > place.world.most_missing && pulse.stood_still() {
            all.stood_still += 1;
            continue;
        }
        all.each.push(missing);
    }
    place.note(all.judged(place.world.most_missing)?);
    Ok(())
}
