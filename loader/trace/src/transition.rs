//! Changes of stage. There are seven or eight per batch, so each takes only 16 bytes.

use crate::{Nanos, Stage};

/// Change of a batch's stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Time of entering `stage`.
    pub at: Nanos,
    /// Position of the batch in [`crate::Run::batches`].
    pub batch: u32,
    /// New stage.
    pub stage: Stage,
    /// Distance to the previous transition of the same batch: 0 for its first, [`Transition::FAR`] if too large.
    back: [u8; 3],
}

impl Transition {
    /// Smallest distance that does not fit and is stored separately.
    pub(crate) const FAR: u32 = 0x00ff_ffff;

    /// Creates a transition. `back` is the distance to the previous one of the same batch, or 0 for the first.
    pub(crate) fn new((at, batch, stage): (Nanos, u32, Stage), back: u32) -> Self {
        let [low, middle, high, _] = back.min(Self::FAR).to_le_bytes();
        Self {
            at,
            batch,
            stage,
            back: [low, middle, high],
        }
    }

    /// Returns the distance to the previous transition of the same batch.
    pub(crate) fn back(self) -> u32 {
        let [low, middle, high] = self.back;
        u32::from_le_bytes([low, middle, high, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_takes_16_bytes() {
        assert_eq!(size_of::<Transition>(), 16);
    }
}
