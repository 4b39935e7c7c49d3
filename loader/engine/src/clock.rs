//! Clock of a run that stops while the run is paused. Paused time counts neither as work nor as waiting.

mod tsc;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use loadscope_trace::Nanos;

/// Nanoseconds since an anchor, without pauses. Clones share the same clock.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Value of the process's counter at the anchor, ns.
    anchor: i64,
    /// Wall-clock time of the anchor, ns since 1970.
    pub unix_ns: i64,
    pauses: Arc<Pauses>,
}

/// A time, and whether this time orders events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    pub at: Nanos,
    /// False if events of several threads can have the same time: while the clock is paused, or if it is coarse.
    pub is_unique: bool,
}

#[derive(Debug)]
struct Pauses {
    /// Total paused time, ns.
    total: AtomicI64,
    /// Frozen time while the clock is paused, ns. Negative while the clock runs.
    stopped_at: AtomicI64,
}

impl Clock {
    /// Starts a clock now.
    pub fn start() -> Self {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            anchor: tsc::now(true),
            unix_ns: Nanos::from(unix.unwrap_or_default()).0,
            pauses: Arc::new(Pauses {
                total: AtomicI64::new(0),
                stopped_at: AtomicI64::new(-1),
            }),
        }
    }

    /// Returns the time since the anchor, without pauses.
    pub fn now(&self) -> Nanos {
        self.stamp(true).at
    }

    /// Returns the time of an event.
    ///
    /// If `ordered`, the time is not before any event that this thread has learned of. If not, it may be up to 0.1 µs earlier
    /// than that, and reading the clock takes half the time.
    #[inline]
    pub(crate) fn stamp(&self, ordered: bool) -> Stamp {
        match self.pauses.stopped_at.load(Ordering::Acquire) {
            stopped_at if stopped_at >= 0 => Stamp {
                at: Nanos(stopped_at),
                is_unique: false,
            },
            _ => Stamp {
                at: self.running(ordered),
                is_unique: tsc::is_fine_grained(),
            },
        }
    }

    #[inline]
    fn running(&self, ordered: bool) -> Nanos {
        Nanos(tsc::now(ordered) - self.anchor - self.pauses.total.load(Ordering::Acquire))
    }

    /// Stops the clock.
    pub fn pause(&self) {
        let now = self.running(true).0.max(0);
        let pauses = &self.pauses;
        // A second pause keeps the time of the first.
        let _ = pauses
            .stopped_at
            .compare_exchange(-1, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Continues from the time at which the clock was paused.
    pub fn resume(&self) {
        let stopped_at = self.pauses.stopped_at.load(Ordering::Acquire);
        if stopped_at >= 0 {
            let lost = self.running(true).0 - stopped_at;
            self.pauses.total.fetch_add(lost, Ordering::AcqRel);
            self.pauses.stopped_at.store(-1, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_clock_stops_while_paused() {
        let clock = Clock::start();
        let nap = |ms| std::thread::sleep(Duration::from_millis(ms));
        nap(5);
        clock.pause();
        let stopped = clock.now();
        nap(50);
        clock.pause();
        assert_eq!(clock.now(), stopped);
        clock.resume();
        nap(5);
        clock.resume();
        let after = clock.now();
        assert!(after >= stopped + Nanos::from_millis(5));
        assert!(after < stopped + Nanos::from_millis(45), "{after}");
    }
}
