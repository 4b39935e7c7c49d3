//! Undo and redo for the form.

use loadscope_trace::RunOptions;

/// The forms there were before and after the one that is shown.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Latest last.
    before: Vec<RunOptions>,
    /// Nearest last.
    after: Vec<RunOptions>,
    /// True while the hand that made the last change has not let go: a drag or a word is one change.
    open: bool,
}

impl History {
    /// So many changes can be taken back.
    const MOST: usize = 200;

    /// The form is about to be changed from `old`.
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

    /// The next change is one of its own.
    pub fn let_go(&mut self) {
        self.open = false;
    }

    /// The form before `now`, if there was one.
    pub fn undo(&mut self, now: &RunOptions) -> Option<RunOptions> {
        self.let_go();
        let before = self.before.pop()?;
        self.after.push(now.clone());
        Some(before)
    }

    /// The form that was taken back last.
    pub fn redo(&mut self, now: &RunOptions) -> Option<RunOptions> {
        self.let_go();
        let after = self.after.pop()?;
        self.before.push(now.clone());
        Some(after)
    }

    /// True if there is something to take back.
    pub fn can_undo(&self) -> bool {
        !self.before.is_empty()
    }

    /// True if something was taken back.
    pub fn can_redo(&self) -> bool {
        !self.after.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn form(step_ms: u32) -> RunOptions {
        RunOptions {
            step_ms: f64::from(step_ms),
            ..RunOptions::default()
        }
    }

    proptest! {
        #[test]
        fn undoing_everything_gives_the_first_form_and_redoing_the_last(values in prop::collection::vec(1..9u32, 1..30)) {
            let mut history = History::default();
            let mut now = form(0);
            for value in &values {
                history.let_go();
                history.change(&now);
                now = form(*value);
            }
            let last = now.clone();
            while let Some(before) = history.undo(&now) {
                now = before;
            }
            prop_assert_eq!(&now, &form(0));
            while let Some(after) = history.redo(&now) {
                now = after;
            }
            prop_assert_eq!(now, last);
        }
    }

    #[test]
    fn a_drag_is_one_change_and_a_new_change_forgets_what_was_taken_back() {
        let mut history = History::default();
        for k in 0..5 {
            history.change(&form(k));
        }
        assert_eq!(history.undo(&form(5)), Some(form(0)));
        assert!(history.can_redo() && !history.can_undo());
        history.change(&form(0));
        assert!(!history.can_redo());
    }
}
