//! How much memory all processes would take together.
//!
//! What a recording measured, plus what workers have each for themselves, and batches that are on their way: there are as many of
//! them as all workers may prefetch. Measured is what is resident, with shared pages counted once.

use super::recorded::Size;
use super::{Recorded, Setting};

/// How many batches can be on their way at once.
fn window(setting: &Setting) -> f64 {
    setting.num_workers as f64 * setting.prefetch_factor as f64
}

impl Recorded {
    /// The most that all processes would take together, bytes; `None` if the recording does not tell what another setting changes.
    pub(super) fn memory_of(&self, setting: &Setting) -> Option<u64> {
        let base = self.setting();
        let more_workers = setting.num_workers as f64 - base.num_workers as f64;
        let workers = match more_workers != 0.0 {
            true => more_workers * self.memory.worker?,
            false => 0.0,
        };
        let size = |setting: &Setting, size: Size| match (setting.batch_size, base.batch_size) {
            (Some(now), Some(before)) => size.bytes * now as f64 / before.max(1) as f64,
            _ => size.bytes,
        };
        let on_the_way =
            |setting: &Setting| self.size.map(|of| size(setting, of) * window(setting));
        let batches =
            match (window(setting), setting.batch_size) == (window(&base), base.batch_size) {
                true => 0.0,
                false => on_the_way(setting)? - on_the_way(&base)?,
            };
        let all = self.memory.peak? + workers + batches;
        (all > 0.0).then_some(all as u64)
    }
}
