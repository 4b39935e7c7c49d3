//! Undo and redo for the options.

use loadscope_trace::RunOptions;

/// Undo and redo history of the options.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Earlier options, latest last.
    before: Vec<RunOptions>,
    /// Undone options, nearest last.
    after: Vec<RunOptions>,
    /// True while edits belong to the same change. A drag or a typed word is one change.
    open: bool,
}

impl History {
    /// Maximum number of undo steps.
    const MOST: usize = 200;

    /// Records `old` before a change to the options.
    pub fn change(&mut self, old: &RunOptions) {
        self.after.clear();
        if self.open {
            return;
        }
        self.open = true;
        self.before.push(old.clone());
        if self.before.len() > Self::MOST {
            self.before.remove(0);
        }
    }

    /// Ends the current change, so the next edit starts a new one.
    pub fn end_group(&mut self) {
        self.open = false;
    }

    /// Returns the options before the last change.
    pub fn undo(&mut self, now: &RunOptions) -> Option<RunOptions> {
        self.end_group();
        let before = self.before.pop()?;
        self.after.push(now.clone());
        Some(before)
    }

    /// Returns the options that were undone last.
    pub fn redo(&mut self, now: &RunOptions) -> Option<RunOptions> {
        self.end_group();
        let after = self.after.pop()?;
        self.before.push(now.clone());
        Some(after)
    }

    /// Returns true if `undo` has an effect.
    pub fn can_undo(&self) -> bool {
        !self.before.is_empty()
    }

    /// Returns true if `redo` has an effect.
    pub fn can_redo(&self) -> bool {
        !self.after.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with_step(step_ms: u32) -> RunOptions {
        RunOptions {
            step_ms: f64::from(step_ms),
            ..RunOptions::default()
        }
    }

    proptest! {
        #[test]
        fn undo_ends_at_the_first_options_and_redo_at_the_last(values in prop::collection::vec(1..9u32, 1..30)) {
            let mut history = History::default();
            let mut now = with_step(0);
            for value in &values {
                history.end_group();
                history.change(&now);
                now = with_step(*value);
            }
            let last = now.clone();
            while let Some(before) = history.undo(&now) {
                now = before;
            }
            prop_assert_eq!(&now, &with_step(0));
            while let Some(after) = history.redo(&now) {
                now = after;
            }
            prop_assert_eq!(now, last);
        }
    }

    #[test]
    fn a_drag_is_one_undo_step_and_a_change_clears_redo() {
        let mut history = History::default();
        for k in 0..5 {
            history.change(&with_step(k));
        }
        assert_eq!(history.undo(&with_step(5)), Some(with_step(0)));
        assert!(history.can_redo() && !history.can_undo());
        history.change(&with_step(0));
        assert!(!history.can_redo());
    }
}
