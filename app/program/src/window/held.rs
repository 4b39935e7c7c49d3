//! Whether the next events have to wait.

use std::time::{Duration, Instant};

use loadscope_model::state::State;

/// A run with so many events is not copied because an analysis looks at it: its next events wait for that.
const LARGE: u64 = 50_000;

/// For so long at most. What looks at a run that grows comes to its end sooner.
const PATIENCE: Duration = Duration::from_secs(5);

/// Since when events wait because the run is looked at.
#[derive(Default)]
pub(super) struct Held(Option<Instant>);

impl Held {
    /// True if the next events have to wait: the run is large, and to change it now would be to copy it.
    pub fn holds(&mut self, state: &State) -> bool {
        let session = &state.session;
        let is_read = session.run.is_read() || session.loaders.are_read();
        if !is_read || session.run.events() < LARGE {
            self.0 = None;
            return false;
        }
        self.0.get_or_insert_with(Instant::now).elapsed() < PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Event, EventKind, Nanos, RunId};

    use super::*;

    #[test]
    fn events_of_a_large_run_wait_while_it_is_looked_at() {
        let mut state = State::default();
        let mut held = Held::default();
        let small = state.session.run.now();
        assert!(!held.holds(&state), "a small one is copied in no time");
        drop(small);
        for at in 0..LARGE as i64 {
            let kind = EventKind::Dropped { count: 1 };
            let (at, run) = (Nanos(at), RunId(0));
            state.session.run.apply(&Event { at, run, kind });
        }
        assert!(!held.holds(&state));
        let reader = state.session.run.now();
        assert!(held.holds(&state));
        held.0 = Instant::now().checked_sub(PATIENCE);
        assert!(!held.holds(&state), "not for ever");
        drop(reader);
        assert!(!held.holds(&state) && held.0.is_none());
    }
}
