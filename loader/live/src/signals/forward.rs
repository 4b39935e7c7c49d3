//! Decision which signals the program must receive from this process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::handlers::{STOPS, SignalCounts, stop, stopped, unblock, waiting};
use super::inherited::{bit, is_ignored};
#[cfg(target_os = "linux")]
use super::witness::{Unknown, Witness};

/// Time for a signal to reach the other processes too, because job schedulers send it to one process after another.
const SETTLE_TIME: Duration = Duration::from_millis(20);

/// Timeout for the witness, which can be stopped.
#[cfg(target_os = "linux")]
const WITNESS_TIMEOUT: Duration = Duration::from_secs(1);

/// Signals to this process that its program must receive.
#[derive(Default)]
pub(crate) struct SignalForwarder {
    #[cfg(target_os = "linux")]
    witness: Option<Witness>,
    /// Arrival times of undecided signals.
    since: BTreeMap<i32, Instant>,
    /// True if a stop signal arrived: this process stops together with the program.
    stops: bool,
    is_started: bool,
}

/// Decided signals.
#[derive(Default)]
pub(crate) struct DueSignals {
    /// Signals that the program has not received, with repetitions.
    pub signals: Vec<i32>,
    /// True if SIGTERM or SIGHUP requested the end of this process.
    pub is_termination_requested: bool,
}

impl SignalForwarder {
    /// Creates the state for a program in the process group of this process. The program receives signals to the group directly.
    pub fn for_group() -> Self {
        Self {
            #[cfg(target_os = "linux")]
            witness: Witness::start(),
            ..Self::default()
        }
    }

    /// Discards earlier signals of the witness, because the program has just started and did not receive them.
    pub fn begin(&self) {
        #[cfg(target_os = "linux")]
        if let Some(witness) = &self.witness {
            witness.forget();
        }
    }

    /// Returns the signals that are decided now.
    pub fn due(&mut self) -> DueSignals {
        if !std::mem::replace(&mut self.is_started, true) {
            // The mask belongs to the thread, so the thread that passes signals on unblocks.
            unblock();
        }
        let mut due = DueSignals::default();
        let now = Instant::now();
        for number in numbers(self.waiting()) {
            let since = *self.since.entry(number).or_insert(now);
            let age = now.duration_since(since);
            if age < SETTLE_TIME {
                continue;
            }
            let Some(seen) = self.seen(number, age) else {
                continue;
            };
            self.since.remove(&number);
            let came = SignalCounts::take(number);
            due.is_termination_requested |= [libc::SIGTERM, libc::SIGHUP].contains(&number)
                && came.by_process > 0
                && !is_ignored(number);
            if came.all() > 0 && STOPS.contains(&number) {
                self.stops = true;
            }
            if came.all() > 0 && number == libc::SIGCONT {
                self.stops = false;
            }
            let times = came.for_program(number, seen);
            due.signals.extend((0..times).map(|_| number));
        }
        due
    }

    /// Stops this process if a stop signal arrived and the program is stopped. Returns when it is continued.
    pub fn stop_with(&mut self, program: u32) {
        if !self.stops {
            return;
        }
        if let Some(number) = stopped(program) {
            self.stops = false;
            stop(number);
        }
    }

    #[cfg(target_os = "linux")]
    fn waiting(&self) -> u64 {
        waiting() | self.witness.as_ref().map_or(0, Witness::waiting)
    }

    /// Returns the number of times that the witness received a signal. Returns `Some(None)` without a witness, and `None` if the number is
    /// not known yet.
    #[cfg(target_os = "linux")]
    fn seen(&mut self, number: i32, age: Duration) -> Option<Option<u32>> {
        let Some(witness) = &self.witness else {
            return Some(None);
        };
        match witness.take(number) {
            Ok(count) => Some(Some(count)),
            Err(Unknown::NotYet) if age < WITNESS_TIMEOUT => None,
            // The witness received the signal at least once.
            Err(Unknown::NotYet) => Some(Some(1)),
            Err(Unknown::Gone) => {
                self.witness = None;
                Some(None)
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn waiting(&self) -> u64 {
        waiting()
    }

    #[cfg(not(target_os = "linux"))]
    fn seen(&mut self, _: i32, _: Duration) -> Option<Option<u32>> {
        Some(None)
    }
}

/// Returns the signal numbers of the bits.
fn numbers(bits: u64) -> impl Iterator<Item = i32> {
    (1..=64).filter(move |number| bits & bit(*number) != 0)
}
