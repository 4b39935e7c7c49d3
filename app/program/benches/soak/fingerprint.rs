//! Hash of the events of a batch: its worker, its samples, and the time of each stage.

use loadscope_trace::{Nanos, Stage, WorkerId};

/// Hash of the events of a batch so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Starts the hash of a dispatched batch.
    pub fn new(at: Nanos, worker: Option<WorkerId>, indices: &[u64]) -> Self {
        let worker = worker.map_or(u64::MAX, u64::from);
        let begun = Self(0).with(at.0 as u64).with(worker);
        indices
            .iter()
            .fold(begun, |fingerprint, index| fingerprint.with(*index))
    }

    /// Adds the start of a stage.
    #[must_use]
    pub fn entered(self, at: Nanos, stage: Stage) -> Self {
        self.with(at.0 as u64).with(stage as u64)
    }

    /// Adds the number of samples with known times.
    #[must_use]
    pub fn timed(self, samples: usize) -> Self {
        self.with(samples as u64)
    }

    /// Mixes a word into the hash with SplitMix64's finalizer.
    fn with(self, word: u64) -> Self {
        let mut z = (self.0 ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self(z ^ (z >> 31))
    }
}

/// Returns the hash of a text.
pub fn hash_text(text: &str) -> u64 {
    let bytes = text.bytes();
    bytes
        .fold(Fingerprint(0), |fingerprint, byte| {
            fingerprint.with(byte.into())
        })
        .0
}
