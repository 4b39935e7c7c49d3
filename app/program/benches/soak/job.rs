//! The task of a part, and random numbers.

use std::path::Path;

use crate::monitor::Monitor;

/// Task of a part: folder for its files, number of events, seed of random times.
pub struct Job<'a> {
    pub folder: &'a Path,
    pub events: u64,
    pub seed: u64,
    pub monitor: &'a Monitor,
}

/// Random number generator (xorshift).
pub struct Noise(u64);

impl Noise {
    pub fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % most.max(1)
    }
}
