//! The clock of a run. It stands still while the run is paused, so that paused time counts neither as work nor as waiting.

mod ticks;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use loadscope_trace::Nanos;

/// Nanoseconds since an anchor, without the pauses. Clones are the same clock.
#[derive(Clone, Debug)]
pub struct Clock {
    /// What the counter of this process showed at the anchor, ns.
    anchor: i64,
    /// Wall-clock time of the anchor, ns since 1970.
    pub unix_ns: i64,
    pauses: Arc<Pauses>,
}

/// A time, and whether it tells which of two events was first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp {
    /// The time.
    pub at: Nanos,
    /// False where several events in a row, of several threads, have the same time: while the clock stands still, or if it is
    /// coarse.
    pub orders: bool,
}

#[derive(Debug)]
struct Pauses {
    /// How long it has stood still in all, ns.
    total: AtomicI64,
    /// What it shows while it stands still; negative while it runs.
    stopped_at: AtomicI64,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        let unix = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            anchor: ticks::now(true),
            unix_ns: Nanos::from(unix.unwrap_or_default()).0,
            pauses: Arc::new(Pauses {
                total: AtomicI64::new(0),
                stopped_at: AtomicI64::new(-1),
            }),
        }
    }

    /// Time since the anchor, without the pauses.
    pub fn now(&self) -> Nanos {
        self.stamp(true).at
    }

    /// The time for an event. With `ordered` it is not before anything that this thread has heard of others; without, it may be up
    /// to a tenth of a microsecond before that, and takes half as long to read.
    #[inline]
    pub(crate) fn stamp(&self, ordered: bool) -> Stamp {
        match self.pauses.stopped_at.load(Ordering::Acquire) {
            stopped_at if stopped_at >= 0 => Stamp {
                at: Nanos(stopped_at),
                orders: false,
            },
            _ => Stamp {
                at: self.running(ordered),
                orders: ticks::is_fine(),
            },
        }
    }

    #[inline]
    fn running(&self, ordered: bool) -> Nanos {
        Nanos(ticks::now(ordered) - self.anchor - self.pauses.total.load(Ordering::Acquire))
    }

    /// Stops the clock.
    pub fn pause(&self) {
        let now = self.running(true).0.max(0);
        let pauses = &self.pauses;
        // Stopping it twice leaves it where it stopped first.
        let _ = pauses
            .stopped_at
            .compare_exchange(-1, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Lets it go on from where it stopped.
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
    fn a_pause_takes_no_time() {
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
