//! Exit of a window that closes or loses its display. The watched programs continue, and are recorded to their end.

use std::sync::{Mutex, MutexGuard, PoisonError};

use loadscope_session::{End, Watched, at_exit, exit_by_signal, exit_immediately};
use loadscope_words::say;

use crate::cli::terminal::print_message;
use crate::window::Started;

/// Programs of the open window.
static PROGRAMS: Mutex<Option<Programs>> = Mutex::new(None);

struct Programs {
    /// Program that `loadscope watch` has started.
    shown: Option<Watched>,
    /// Programs that the window has started.
    started: Started,
}

fn programs() -> MutexGuard<'static, Option<Programs>> {
    PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs an exit handler that waits for these programs. A library ends this process if the display is lost.
pub fn install_exit_handler(shown: Option<Watched>, started: &Started) {
    *programs() = Some(Programs {
        shown,
        started: Started::clone(started),
    });
    at_exit(wait_and_exit);
}

/// Disables the exit handler, because the window is closed.
pub fn remove_exit_handler() {
    *programs() = None;
}

/// Prints `why` if programs started from the window still run, and waits for them.
pub fn wait_for_programs(started: &Started, why: &str) {
    let started: Vec<Watched> = {
        let started = started.lock().unwrap_or_else(PoisonError::into_inner);
        started.clone()
    };
    started.iter().for_each(Watched::stop_events);
    if started.iter().any(|watched| !watched.has_ended()) {
        print_message(why);
    }
    for watched in &started {
        watched.wait();
    }
}

/// Waits for the programs. Ends with the exit code of the program of `loadscope watch`, if there is one.
fn wait_and_exit() {
    let Some(Programs { shown, started }) = programs().take() else {
        return;
    };
    let why = say!("the display is gone, and the program continues");
    if let Some(shown) = &shown {
        shown.stop_events();
        if !shown.has_ended() {
            print_message(why);
        }
    }
    wait_for_programs(&started, why);
    match shown.map(|shown| shown.wait()) {
        Some(End::Signal(number)) => exit_by_signal(number),
        Some(End::Code(code)) => exit_immediately(code & 0xff),
        None => {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use loadscope_session::{Output, Record, Request, Session};

    use super::*;

    /// Regression test: when a window lost its display, all its recorders ended, unless `loadscope watch` had opened it.
    #[test]
    fn a_lost_display_leaves_recorders_running() {
        let begun = Instant::now();
        let command = ["sh", "-c", "sleep 0.7"].map(Into::into);
        let watched = Watched::start(&command, &Request::default(), Output::Inherited);
        let watched = watched.expect("there is a shell");
        let session = Session::watch(&watched, Record::Memory, Arc::new(|| {}));
        let _session = session.expect("there is room for a thread");
        install_exit_handler(None, &Arc::new(Mutex::new(vec![watched.clone()])));
        wait_and_exit();
        assert!(watched.has_ended());
        assert!(begun.elapsed() >= Duration::from_millis(700));
        // After a regular close, the exit handler waits for nothing.
        wait_and_exit();
        install_exit_handler(None, &Started::default());
        remove_exit_handler();
        assert!(programs().is_none());
    }
}
