//! The time of a sample in one of its stages, or outside of all.

use loadscope_trace::Nanos;

use super::sample::REST;
use super::{Recorded, StageCosts};

impl Recorded {
    /// The time of sample `at` in a stage, or outside of all stages for [`REST`]. A stage of that name comes first. `None` for unknown
    /// stages.
    pub(in crate::forecast) fn time_in(&self, stage: &str, at: usize) -> Option<Nanos> {
        let wall = |stage: &StageCosts| stage.walls.get(at).copied().unwrap_or_default();
        match self.stage(stage) {
            Some(stage) => Some(wall(stage)),
            None if stage == REST => {
                let cost = self.samples.get(at).copied().unwrap_or_default();
                let named = self.stages.iter().map(wall);
                let named = named.fold(Nanos::ZERO, |sum, time| sum + time);
                Some((cost.off + cost.cpu - named).max(Nanos::ZERO))
            }
            None => None,
        }
    }
}
