//! CPU share of samples, if it was measured for some of them only.
//!
//! The probe measures CPU time once it has seen that samples are slow enough, so the first batches have no value. Assuming that these
//! batches are like the others is more accurate than assuming that they only wait.

use loadscope_trace::{Nanos, Sample};

use super::sample::{SampleCost, UNMEASURED_LIMIT};
use crate::forecast::number::clamp_cost;

/// Samples that are long enough for a measurement of their CPU time.
#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    /// Number of samples with known CPU time.
    pub known: usize,
    wall: i128,
    cpu: i128,
    /// Positions of the samples with unknown CPU time.
    unknown: Vec<usize>,
}

impl Processor {
    /// Counts the sample at position `at`.
    pub fn note(&mut self, at: usize, sample: &Sample) {
        let wall = clamp_cost(sample.wall);
        match sample.cpu {
            _ if wall < UNMEASURED_LIMIT => {}
            Some(cpu) => {
                self.known += 1;
                self.wall += i128::from(wall.0);
                self.cpu += i128::from(clamp_cost(cpu).min(wall).0);
            }
            None => self.unknown.push(at),
        }
    }

    pub fn unknown(&self) -> usize {
        self.unknown.len()
    }

    /// Returns the computing share of the samples' time, 0 to 1. Returns `None` if fewer samples are known than unknown.
    pub fn share(&self) -> Option<f64> {
        let tells = self.wall > 0 && self.known >= self.unknown.len();
        tells.then(|| self.cpu as f64 / self.wall as f64)
    }

    /// Assigns the known share to the samples with unknown CPU time.
    pub fn fill_in(&self, samples: &mut [SampleCost]) {
        let Some(share) = self.share() else { return };
        for at in &self.unknown {
            if let Some(sample) = samples.get_mut(*at) {
                let wall = sample.off + sample.cpu;
                sample.cpu = Nanos((wall.0 as f64 * share) as i64).min(wall);
                sample.off = wall - sample.cpu;
            }
        }
    }
}
