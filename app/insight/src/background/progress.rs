//! Progress and cancellation of a calculation in the background.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Progress that a calculation shares with the thread that waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    permille: AtomicU32,
    cancelled: AtomicBool,
}

/// The result is no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Progress {
    /// Number of indices between two reports of progress.
    pub const PIECE: usize = 1 << 20;

    /// Reports that `share` (0 to 1) is done.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn report(&self, share: f64) -> Result<(), Cancelled> {
        let permille = (share.clamp(0.0, 1.0) * 1000.0) as u32;
        self.permille.store(permille, Ordering::Relaxed);
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Returns the last reported progress, 0 to 1.
    pub fn share(&self) -> f32 {
        self.permille.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// Cancels the calculation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}
