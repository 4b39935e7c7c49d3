//! Signals that ask a command to end. The first signal ends it in order, so that its output is complete. The second signal ends the program
//! at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use loadscope_session::termination_signals;
use signal_hook::flag;

/// Exit code for the received signal, 0 if there was none.
static EXIT_CODE: AtomicUsize = AtomicUsize::new(0);
/// True after the first signal. The next one ends the program.
static HAS_RECEIVED: AtomicBool = AtomicBool::new(false);

/// Starts to record signals that ask this process to end. An inherited ignored signal, as under `nohup`, stays ignored.
pub(super) fn catch() {
    for number in termination_signals() {
        let code = 128 | number;
        // A signal runs these actions in this order.
        let taken = flag::register_conditional_shutdown(number, code, &HAS_RECEIVED)
            .and_then(|_| flag::register_usize(number, &EXIT_CODE, code.unsigned_abs() as usize))
            .and_then(|_| flag::register(number, &HAS_RECEIVED));
        // On failure, the signal ends the program at once, as by default.
        drop(taken);
    }
}

/// Returns the exit code for the received signal.
pub(super) fn exit_code() -> Option<u8> {
    let code = u8::try_from(EXIT_CODE.load(Ordering::SeqCst));
    code.ok().filter(|code| *code != 0)
}

/// Counter of signals that ask this process to end. The caller ends the process.
#[derive(Default)]
pub(super) struct Signals {
    /// Number of the signal received since the last call of [`Self::count`], 0 if none.
    received: Arc<AtomicUsize>,
    /// Number of the first signal.
    first: AtomicUsize,
    count: AtomicUsize,
}

impl Signals {
    /// Starts to count. Ignored signals stay ignored.
    pub fn catch() -> Self {
        let signals = Self::default();
        for number in termination_signals() {
            // On failure, the signal ends the program at once, as by default.
            let value = number.unsigned_abs() as usize;
            drop(flag::register_usize(
                number,
                Arc::clone(&signals.received),
                value,
            ));
        }
        signals
    }

    /// Returns the number of signals so far. Signals between two calls count as one.
    pub fn count(&self) -> usize {
        let received = self.received.swap(0, Ordering::SeqCst);
        if received != 0 {
            // The exit code is that of the first signal.
            if self.first.load(Ordering::SeqCst) == 0 {
                self.first.store(received, Ordering::SeqCst);
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
