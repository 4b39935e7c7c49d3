//! Memory of all processes in a setting.
//!
//! It is the recorded peak of resident memory with shared pages counted once, plus the private memory of additional workers and the
//! batches in flight. All batches that the workers may prefetch count as in flight.

use super::recorded::Size;
use super::{Recorded, Setting};

/// Returns the maximum number of batches in flight.
fn window(setting: &Setting) -> f64 {
    setting.num_workers as f64 * setting.prefetch_factor as f64
}

impl Recorded {
    /// Returns the peak memory of all processes, bytes. Returns `None` if the recording lacks a value that the setting needs.
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
