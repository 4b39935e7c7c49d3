//! Time of a sample in a stage, in a line of code, or outside all stages.

use loadscope_trace::Nanos;

use super::sample::REST;
use super::{Recorded, StageCosts};

impl Recorded {
    /// Returns the names of the stages and of the hot lines.
    pub(in crate::forecast) fn named_parts(&self) -> Vec<&str> {
        let all = self.stages.iter().chain(&self.lines.costs);
        all.map(|s| s.name.as_str()).collect()
    }

    /// Returns a stage or a hot line of code.
    pub(in crate::forecast) fn stage(&self, name: &str) -> Option<&StageCosts> {
        let mut all = self.stages.iter().chain(&self.lines.costs);
        all.find(|s| s.name == name)
    }

    /// Returns the time of sample `at` in a stage or line, or outside all stages for [`REST`]. A stage named [`REST`] takes precedence. Returns
    /// `None` for an unknown stage.
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
