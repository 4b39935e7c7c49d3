//! How far a calculation in the background is, and whether anybody still wants it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Shared by a calculation and what waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    permille: AtomicU32,
    unwanted: AtomicBool,
}

/// The outcome is not wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwanted;

impl Progress {
    /// Indices between two reports.
    pub const PIECE: usize = 1 << 20;

    /// Tells that `share` (0 to 1) is done.
    ///
    /// # Errors
    /// If the rest is not wanted.
    pub fn tell(&self, share: f64) -> Result<(), Unwanted> {
        let permille = (share.clamp(0.0, 1.0) * 1000.0) as u32;
        self.permille.store(permille, Ordering::Relaxed);
        match self.unwanted.load(Ordering::Relaxed) {
            true => Err(Unwanted),
            false => Ok(()),
        }
    }

    /// The last reported progress, 0 to 1.
    pub fn share(&self) -> f32 {
        self.permille.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// The outcome is not wanted any more.
    pub fn give_up(&self) {
        self.unwanted.store(true, Ordering::Relaxed);
    }
}
