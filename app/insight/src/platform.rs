//! What the platform gives: a clock, and a place for long calculations. They come in from above, as a browser has others than a
//! desktop; the crates that run in both name none.

use std::fmt;
use std::io;
use std::time::Duration;

/// A clock.
pub trait Clock: Sync {
    /// Time since an instant that stays the same: to see how long something takes.
    fn now(&self) -> Duration;
    /// Time since 1970: to see how old a file is.
    fn since_1970(&self) -> Duration;
}

/// Where long calculations are made, so that the window does not wait for them.
pub trait Jobs: Sync {
    /// Makes a calculation. It may be over when this returns, where there is nothing but the window's thread.
    ///
    /// # Errors
    /// If there is no room for it.
    fn start(&self, name: &str, job: Box<dyn FnOnce() + Send>) -> io::Result<()>;
}

/// Both of them.
#[derive(Clone, Copy)]
pub struct Platform {
    /// What time it is.
    pub clock: &'static dyn Clock,
    /// Where long calculations are made.
    pub jobs: &'static dyn Jobs,
}

impl Platform {
    /// So much time from now on.
    pub fn budget(self, time: Duration) -> Budget {
        Budget {
            clock: self.clock,
            until: self.clock.now().saturating_add(time),
        }
    }
}

/// What needs neither time nor a thread: the clock stands still, so that nothing is stopped early, and calculations are made at once.
impl Default for Platform {
    fn default() -> Self {
        Self {
            clock: &Still,
            jobs: &AtOnce,
        }
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Platform")
    }
}

/// Time that may be spent.
#[derive(Clone, Copy)]
pub struct Budget {
    clock: &'static dyn Clock,
    until: Duration,
}

impl Budget {
    /// None: what is done bit by bit does one bit.
    pub fn none() -> Self {
        Platform::default().budget(Duration::ZERO)
    }

    /// True if there is no time left.
    pub fn is_spent(&self) -> bool {
        self.clock.now() >= self.until
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn since_1970(&self) -> Duration {
        Duration::ZERO
    }
}

struct AtOnce;

impl Jobs for AtOnce {
    fn start(&self, _name: &str, job: Box<dyn FnOnce() + Send>) -> io::Result<()> {
        job();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_budget_is_spent_when_its_time_has_passed() {
        static NOW: AtomicU64 = AtomicU64::new(100);
        struct ByHand;
        impl Clock for ByHand {
            fn now(&self) -> Duration {
                Duration::from_millis(NOW.load(Ordering::Relaxed))
            }
            fn since_1970(&self) -> Duration {
                self.now()
            }
        }
        let platform = Platform {
            clock: &ByHand,
            ..Platform::default()
        };
        let budget = platform.budget(Duration::from_millis(5));
        NOW.store(104, Ordering::Relaxed);
        assert!(!budget.is_spent());
        NOW.store(105, Ordering::Relaxed);
        assert!(budget.is_spent());
        assert!(Budget::none().is_spent());
        assert!(
            !Platform::default()
                .budget(Duration::from_nanos(1))
                .is_spent()
        );
    }
}
