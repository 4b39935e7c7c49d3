//! Signals that ask a command to end. The first one is obeyed in order, so that what was written is whole; a second one ends the
//! program at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loadscope_session::ending_signals;
use signal_hook::flag;

/// The exit code of a program that is ended by the signal that came; 0: none came.
static CAME: AtomicUsize = AtomicUsize::new(0);
/// True once one came: the next one ends the program.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// From now on signals that ask this process to end are noted. One that it inherited as ignored, by `nohup` say, stays ignored.
pub(super) fn take() {
    for number in ending_signals() {
        let code = 128 | number;
        // When it comes, they are done in this order.
        let taken = flag::register_conditional_shutdown(number, code, &HAS_COME)
            .and_then(|_| flag::register_usize(number, &CAME, code.unsigned_abs() as usize))
            .and_then(|_| flag::register(number, &HAS_COME));
        // One that cannot be taken ends the program at once, as without.
        drop(taken);
    }
}

/// The exit code of a program that was ended by the signal that came.
pub(super) fn came() -> Option<u8> {
    let code = u8::try_from(CAME.load(Ordering::SeqCst));
    code.ok().filter(|code| *code != 0)
}

/// Signals that ask this process to end, counted: the caller that looks sees to its end.
#[derive(Default)]
pub(super) struct Signals {
    /// The number of the one that came since the last look; 0: none.
    came: Arc<AtomicUsize>,
    /// The number of the first one.
    first: AtomicUsize,
    count: AtomicUsize,
}

impl Signals {
    /// Counts from now on. One that this process ignores stays ignored.
    pub fn take() -> Self {
        let signals = Self::default();
        for number in ending_signals() {
            // One that cannot be taken ends the program at once, as without.
            let value = number.unsigned_abs() as usize;
            drop(flag::register_usize(
                number,
                Arc::clone(&signals.came),
                value,
            ));
        }
        signals
    }

    /// How many came; those that came since the last look are one.
    pub fn count(&self) -> usize {
        let came = self.came.swap(0, Ordering::SeqCst);
        if came != 0 {
            // The first signal counts.
            if self.first.load(Ordering::SeqCst) == 0 {
                self.first.store(came, Ordering::SeqCst);
            }
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        self.count.load(Ordering::SeqCst)
    }

    /// The exit code of a program that was ended by the first of them.
    pub fn code(&self) -> Option<u8> {
        let first = self.first.load(Ordering::SeqCst);
        u8::try_from(first)
            .ok()
            .filter(|n| *n != 0)
            .map(|n| 128 | n)
    }
}
