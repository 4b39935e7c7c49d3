//! Clock of a run that stops while the run is paused. Paused time counts neither as work nor as waiting.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime};

use loadscope_trace::Nanos;

/// True if the clock is finer than the latency of a message between threads, so times of different threads are in order.
const IS_FINE_GRAINED: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// Nanoseconds since an anchor, without pauses. Clones share the same clock.
#[derive(Clone, Debug)]
pub struct Clock {
    anchor: Instant,
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
            anchor: Instant::now(),
            unix_ns: Nanos::from(unix.unwrap_or_default()).0,
            pauses: Arc::new(Pauses {
                total: AtomicI64::new(0),
                stopped_at: AtomicI64::new(-1),
            }),
        }
    }

    /// Returns the time since the anchor, without pauses.
    pub fn now(&self) -> Nanos {
        self.stamp().at
    }

    /// Returns the time of an event.
    #[inline]
    pub(crate) fn stamp(&self) -> Stamp {
        match self.pauses.stopped_at.load(Ordering::Acquire) {
            stopped_at if stopped_at >= 0 => Stamp {
                at: Nanos(stopped_at),
                is_unique: false,
            },
            _ => Stamp {
                at: self.running(),
                is_unique: IS_FINE_GRAINED,
            },
        }
    }

    #[inline]
    fn running(&self) -> Nanos {
        let total = self.pauses.total.load(Ordering::Acquire);
        Nanos::from(self.anchor.elapsed()) - Nanos(total)
    }

    /// Stops the clock.
    pub fn pause(&self) {
        let now = self.running().0.max(0);
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
            let lost = self.running().0 - stopped_at;
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
