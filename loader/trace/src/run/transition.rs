//! The changes of stage. There are seven or eight for each batch, so each takes 16 bytes.

use super::Run;
use crate::{Nanos, Stage};

/// A batch changed its stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// When.
    pub at: Nanos,
    /// Position of the batch in [`Run::batches`].
    pub batch: u32,
    /// The stage it entered.
    pub stage: Stage,
    /// So many transitions before this one is that before it of the same batch: 0 for its first, [`FAR`] for what is further away.
    back: [u8; 3],
}

/// A distance of this many transitions, or more, stands in a list of its own.
const FAR: u32 = 0x00ff_ffff;

impl Run {
    /// The transition before the one at `at` of the same batch; `u32::MAX` for its first.
    pub(crate) fn previous(&self, at: u32) -> u32 {
        let Some(transition) = self.transitions.get(at as usize) else {
            return u32::MAX;
        };
        let [low, middle, high] = transition.back;
        match u32::from_le_bytes([low, middle, high, 0]) {
            0 => u32::MAX,
            FAR => self.far_back.get(&at).copied().unwrap_or(u32::MAX),
            back => at.checked_sub(back).unwrap_or(u32::MAX),
        }
    }

    /// Adds one; `previous` is the one before it of the same batch, `u32::MAX` if there is none.
    pub(super) fn push_transition(
        &mut self,
        (at, batch, stage): (Nanos, u32, Stage),
        previous: u32,
    ) {
        let position = self.transitions.len() as u32;
        let back = match previous {
            u32::MAX => 0,
            previous => position.saturating_sub(previous).min(FAR),
        };
        if back == FAR {
            self.far_back.insert(position, previous);
        }
        let [low, middle, high, _] = back.to_le_bytes();
        self.transitions.push(Transition {
            at,
            batch,
            stage,
            back: [low, middle, high],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_takes_16_bytes() {
        assert_eq!(size_of::<Transition>(), 16);
    }

    /// A batch that is held while very many others pass.
    #[test]
    fn what_is_far_back_is_found() {
        let mut run = Run::default();
        let push = |run: &mut Run, batch, previous| {
            run.push_transition((Nanos(1), batch, Stage::Queued), previous);
        };
        push(&mut run, 0, u32::MAX);
        for batch in 1..FAR {
            push(&mut run, batch, u32::MAX);
        }
        let at = run.transitions.len() as u32;
        assert_eq!(at, FAR);
        push(&mut run, 0, 0);
        push(&mut run, 1, 1);
        push(&mut run, 0, at);
        push(&mut run, 7, 8);
        let back = |k| run.previous(at + k);
        assert_eq!([back(0), back(1), back(2), back(3)], [0, 1, at, 8]);
        assert_eq!((run.previous(0), run.previous(5)), (u32::MAX, u32::MAX));
        assert_eq!(run.previous(u32::MAX), u32::MAX);
        assert_eq!(run.far_back.len(), 2);
    }
}
