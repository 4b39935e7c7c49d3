//! Exit of a window that closes or loses its display. The watched programs continue, and are recorded to their end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loadscope_session::{End, Watched, at_exit, end_at_once, end_by};
use loadscope_words::say;

use crate::cli::terminal::complain;
use crate::window::Started;

/// Programs of the open window.
static LEFT: Mutex<Option<Left>> = Mutex::new(None);

struct Left {
    /// Program that `loadscope watch` has started.
    shown: Option<Watched>,
    /// Programs that the window has started.
    started: Started,
}

fn left() -> MutexGuard<'static, Option<Left>> {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs an exit handler that waits for these programs. A library ends this process if the display is lost.
pub fn wait_if_gone(shown: Option<Watched>, started: &Started) {
    *left() = Some(Left {
        shown,
        started: Started::clone(started),
    });
    at_exit(is_gone);
}

/// Disables the exit handler, because the window is closed.
pub fn is_closed() {
    *left() = None;
}

/// Prints `why` if programs started from the window still run, and waits for them.
pub fn wait_for(started: &Started, why: &str) {
    let started: Vec<Watched> = {
        let started = started.lock().unwrap_or_else(PoisonError::into_inner);
        started.clone()
    };
    started.iter().for_each(Watched::stop_updates);
    if started.iter().any(|watched| !watched.has_ended()) {
        complain(why);
    }
    for watched in &started {
        watched.wait();
    }
}

/// Waits for the programs. Ends with the exit code of the program of `loadscope watch`, if there is one.
fn is_gone() {
    let Some(Left { shown, started }) = left().take() else {
        return;
    };
    let why = say!("the display is gone, and the program continues");
    if let Some(shown) = &shown {
        shown.stop_updates();
        if !shown.has_ended() {
            complain(why);
        }
    }
    wait_for(&started, why);
    match shown.map(|shown| shown.wait()) {
        Some(End::Signal(number)) => end_by(number),
        Some(End::Code(code)) => end_at_once(code & 0xff),
        None => {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use loadscope_session::{Output, Record, Request, Session};

    use super::*;

    /// Regression: when a window lost its display, all its recorders ended, unless `loadscope watch` had opened it.
    #[test]
    fn a_lost_display_leaves_recorders_running() {
        let begun = Instant::now();
        let command = ["sh", "-c", "sleep 0.7"].map(Into::into);
        let watched = Watched::start(&command, &Request::default(), Output::Inherited);
        let watched = watched.expect("there is a shell");
        let session = Session::watch(&watched, Record::Memory, Arc::new(|| {}));
        let _session = session.expect("there is room for a thread");
        wait_if_gone(None, &Arc::new(Mutex::new(vec![watched.clone()])));
        is_gone();
        assert!(watched.has_ended());
        assert!(begun.elapsed() >= Duration::from_millis(700));
        // After a regular close, the exit handler waits for nothing.
        is_gone();
        wait_if_gone(None, &Started::default());
        is_closed();
        assert!(left().is_none());
    }
}
