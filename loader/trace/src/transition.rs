//! The changes of stage. There are seven or eight for each batch, so each takes 16 bytes.

use crate::{Nanos, Stage};

/// A batch changed its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When.
    pub at: Nanos,
    /// Position of the batch in [`crate::Run::batches`].
    pub batch: u32,
    /// The stage it entered.
    pub stage: Stage,
    /// So many transitions before this one is that before it of the same batch: 0 for its first, [`Transition::FAR`] for what is
    /// further away.
    back: [u8; 3],
}

impl Transition {
    /// A distance of so many transitions, or more, has to stand elsewhere.
    pub(crate) const FAR: u32 = 0x00ff_ffff;

    /// One that comes `back` transitions, at most [`Transition::FAR`], after that before it of the same batch; 0 if it is the first.
    pub(crate) fn new((at, batch, stage): (Nanos, u32, Stage), back: u32) -> Self {
        let [low, middle, high, _] = back.min(Self::FAR).to_le_bytes();
        Self {
            at,
            batch,
            stage,
            back: [low, middle, high],
        }
    }

    /// How far back that before it is.
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
