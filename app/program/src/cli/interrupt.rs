//! Signals that ask a command to end. The first signal ends it in order, so that its output is complete. The second signal ends the program
//! at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loadscope_session::ending_signals;
use signal_hook::flag;

/// Exit code for the received signal, 0 if there was none.
static CAME: AtomicUsize = AtomicUsize::new(0);
/// True after the first signal. The next one ends the program.
static HAS_COME: AtomicBool = AtomicBool::new(false);

/// Starts to record signals that ask this process to end. An inherited ignored signal, as under `nohup`, stays ignored.
pub(super) fn take() {
    for number in ending_signals() {
        let code = 128 | number;
        // A signal runs these actions in this order.
        let taken = flag::register_conditional_shutdown(number, code, &HAS_COME)
            .and_then(|_| flag::register_usize(number, &CAME, code.unsigned_abs() as usize))
            .and_then(|_| flag::register(number, &HAS_COME));
        // On failure, the signal ends the program at once, as by default.
        drop(taken);
    }
}

/// Returns the exit code for the received signal.
pub(super) fn came() -> Option<u8> {
    let code = u8::try_from(CAME.load(Ordering::SeqCst));
    code.ok().filter(|code| *code != 0)
}

/// Counter of signals that ask this process to end. The caller ends the process.
#[derive(Default)]
pub(super) struct Signals {
    /// Number of the signal received since the last call of [`Self::count`], 0 if none.
    came: Arc<AtomicUsize>,
    /// Number of the first signal.
    first: AtomicUsize,
    count: AtomicUsize,
}

impl Signals {
    /// Starts to count. Ignored signals stay ignored.
    pub fn take() -> Self {
        let signals = Self::default();
        for number in ending_signals() {
            // On failure, the signal ends the program at once, as by default.
            let value = number.unsigned_abs() as usize;
            drop(flag::register_usize(
                number,
                Arc::clone(&signals.came),
                value,
            ));
        }
        signals
    }

    /// Returns the number of signals so far. Signals between two calls count as one.
    pub fn count(&self) -> usize {
        let came = self.came.swap(0, Ordering::SeqCst);
        if came != 0 {
            // The exit code is that of the first signal.
            if self.first.load(Ordering::SeqCst) == 0 {
                self.first.store(came, Ordering::SeqCst);
            }
            self.count.fetch_add(1, Ordering::SeqCst);
        }
        self.count.load(Ordering::SeqCst)
    }

    /// Returns the exit code for the first signal.
    pub fn code(&self) -> Option<u8> {
        let first = self.first.load(Ordering::SeqCst);
        u8::try_from(first)
            .ok()
            .filter(|n| *n != 0)
            .map(|n| 128 | n)
    }
}
