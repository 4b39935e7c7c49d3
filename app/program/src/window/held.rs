//! Whether the next events have to wait.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loadscope_insight::background::{Background, Outcome};
use loadscope_model::state::State;
use loadscope_session::Waker;
use loadscope_trace::{Run, RunId};

use crate::desktop::PLATFORM;

/// A run with so many events is not copied on the window's thread because an analysis reads it: its next events wait for that.
const LARGE: u64 = 10_000;

/// For so long at most. Then it is copied in the background, and goes on with the copy.
const PATIENCE: Duration = Duration::from_secs(2);

/// Loaders by id.
type Runs = Vec<(RunId, Arc<Run>)>;

/// Events that wait because the run is read.
#[derive(Default)]
pub(super) struct Held {
    since: Option<Instant>,
    /// The copy that is being made of which run.
    copy: Option<(u64, Background<Runs>)>,
}

/// What becomes of the next events.
pub(super) enum Next {
    /// They are taken in.
    Now,
    /// They wait.
    Later,
    /// They are taken in by these copies.
    By(Runs),
}

impl Held {
    /// What becomes of the next events of a run that may be large and read: to change it then would be to copy it.
    pub fn next(&mut self, state: &State, wake: &Waker) -> Next {
        let session = &state.session;
        self.copy.take_if(|(run, _)| *run != session.run_number);
        if let Some((_, copy)) = &self.copy {
            match copy.take() {
                Outcome::NotYet => return Next::Later,
                Outcome::Ready(copies) => {
                    *self = Self::default();
                    return Next::By(copies);
                }
                // There was no memory for it, or it panicked: the window copies it.
                Outcome::Broken => {
                    *self = Self::default();
                    return Next::Now;
                }
            }
        }
        let is_read = session.run.is_read() || session.loaders.are_read();
        if !is_read || session.run.events() < LARGE {
            self.since = None;
            return Next::Now;
        }
        if self.since.get_or_insert_with(Instant::now).elapsed() < PATIENCE {
            return Next::Later;
        }
        let all = session.loaders.now(&session.run);
        let wake = Arc::clone(wake);
        let copied = move |_: &_| {
            let copy = |(id, run): (RunId, Arc<Run>)| (id, Arc::new(Run::clone(&run)));
            Ok(all.into_iter().map(copy).collect())
        };
        match Background::start(PLATFORM.jobs, "copy", move || wake(), copied) {
            Ok(copy) => {
                self.copy = Some((session.run_number, copy));
                Next::Later
            }
            // Without a thread the window does it.
            Err(_) => Next::Now,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_model::message::Message;
    use loadscope_model::update::update;
    use loadscope_trace::{Event, EventKind, Nanos};

    use super::*;

    fn held(held: &mut Held, state: &State) -> bool {
        let wake: Waker = Arc::new(|| {});
        matches!(held.next(state, &wake), Next::Later)
    }

    fn run_of(events: u64, state: &mut State) {
        for at in 0..events as i64 {
            let kind = EventKind::Dropped { count: 1 };
            let (at, run) = (Nanos(at), RunId(0));
            state.session.run.apply(&Event { at, run, kind });
        }
    }

    #[test]
    fn events_of_a_large_run_wait_while_it_is_looked_at() {
        let mut state = State::default();
        let mut events = Held::default();
        let small = state.session.run.now();
        assert!(
            !held(&mut events, &state),
            "a small one is copied in no time"
        );
        drop(small);
        run_of(LARGE, &mut state);
        assert!(!held(&mut events, &state));
        let reader = state.session.run.now();
        assert!(held(&mut events, &state));
        drop(reader);
        assert!(!held(&mut events, &state) && events.since.is_none());
    }

    /// The window's thread copied it once, in a frame of 0.4 s.
    #[test]
    fn a_run_that_is_read_for_long_goes_on_with_a_copy_that_the_window_does_not_make() {
        let mut state = State::default();
        run_of(LARGE, &mut state);
        let reader = state.session.run.now();
        let mut events = Held {
            since: Instant::now().checked_sub(PATIENCE),
            copy: None,
        };
        let wake: Waker = Arc::new(|| {});
        let until = Instant::now() + Duration::from_secs(20);
        let copies = loop {
            assert!(Instant::now() < until, "it is not copied");
            match events.next(&state, &wake) {
                Next::By(copies) => break copies,
                Next::Later => std::thread::sleep(Duration::from_millis(1)),
                Next::Now => panic!("the window would copy it"),
            }
        };
        let _ = update(&mut state, Message::Copied(copies));
        assert!(!state.session.run.is_read() && state.session.run.events() == LARGE);
        assert!(!held(&mut events, &state));
        assert_eq!(reader.events(), LARGE);
    }
}
