//! How much of their time samples compute, where that was measured of some of them only.
//!
//! A probe asks for processor time once it has seen that samples are slow enough, so it is missing of the first batches. That
//! these are like the others is nearer to the truth than that they only wait.

use loadscope_trace::{Nanos, Sample};

use super::sample::{QUICK, SampleCost};
use crate::forecast::number::sane;

/// Samples that take long enough to ask for their processor time.
#[derive(Clone, Debug, Default)]
pub(super) struct Processor {
    /// Of how many it is known.
    pub known: usize,
    wall: i128,
    cpu: i128,
    /// Positions of those of which it is not.
    unknown: Vec<usize>,
}

impl Processor {
    /// Takes note of the sample at position `at`.
    pub fn note(&mut self, at: usize, sample: &Sample) {
        let wall = sane(sample.wall);
        match sample.cpu {
            _ if wall < QUICK => {}
            Some(cpu) => {
                self.known += 1;
                self.wall += i128::from(wall.0);
                self.cpu += i128::from(sane(cpu).min(wall).0);
            }
            None => self.unknown.push(at),
        }
    }

    /// Of how many it is not known.
    pub fn unknown(&self) -> usize {
        self.unknown.len()
    }

    /// The share of their time that samples compute, 0 to 1; `None` if it is known of too few to tell of the others.
    pub fn share(&self) -> Option<f64> {
        let tells = self.wall > 0 && self.known >= self.unknown.len();
        tells.then(|| self.cpu as f64 / self.wall as f64)
    }

    /// Lets the others compute as much.
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
