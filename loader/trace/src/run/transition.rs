//! Order of the transitions of each batch.

use super::Run;
use crate::transition::Transition;
use crate::{Nanos, Stage};

impl Run {
    /// Returns the previous transition of the same batch, or `u32::MAX` for the first.
    pub(crate) fn previous(&self, at: u32) -> u32 {
        let Some(transition) = self.transitions.get(at as usize) else {
            return u32::MAX;
        };
        match transition.back() {
            0 => u32::MAX,
            Transition::FAR => self.far_back.get(&at).copied().unwrap_or(u32::MAX),
            back => at.checked_sub(back).unwrap_or(u32::MAX),
        }
    }

    /// Appends a transition. `previous` is the previous one of the same batch, or `u32::MAX`.
    pub(super) fn push_transition(
        &mut self,
        (at, batch, stage): (Nanos, u32, Stage),
        previous: u32,
    ) {
        let position = self.transitions.len() as u32;
        let back = match previous {
            u32::MAX => 0,
            previous => position.saturating_sub(previous).min(Transition::FAR),
        };
        if back == Transition::FAR {
            self.far_back.insert(position, previous);
        }
        self.transitions
            .push(Transition::new((at, batch, stage), back));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch is held while more than [`Transition::FAR`] transitions follow.
    #[test]
    fn a_transition_far_back_is_found() {
        let mut run = Run::default();
        let push = |run: &mut Run, batch, previous| {
            run.push_transition((Nanos(1), batch, Stage::Queued), previous);
        };
        push(&mut run, 0, u32::MAX);
        for batch in 1..Transition::FAR {
            push(&mut run, batch, u32::MAX);
        }
        let at = run.transitions.len() as u32;
        assert_eq!(at, Transition::FAR);
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
