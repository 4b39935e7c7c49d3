//! Clock and background threads of the platform. They are injected, because a browser and a desktop have different ones.

use std::fmt;
use std::io;
use std::time::Duration;

/// Source of the current time.
pub trait Clock: Sync {
    /// Returns the monotonic time since a fixed instant, for measuring durations.
    fn now(&self) -> Duration;
    /// Returns the time since 1970, for the age of files.
    fn since_1970(&self) -> Duration;
}

/// Executor of long calculations, so that the window does not block.
pub trait Jobs: Sync {
    /// Runs a calculation. Without other threads, the calculation has ended on return.
    ///
    /// # Errors
    /// If no thread is available.
    fn start(&self, name: &str, job: Box<dyn FnOnce() + Send>) -> io::Result<()>;
}

/// Clock and executor.
#[derive(Clone, Copy)]
pub struct Platform {
    /// Source of the current time.
    pub clock: &'static dyn Clock,
    /// The executor of long calculations.
    pub jobs: &'static dyn Jobs,
}

impl Platform {
    /// Returns a budget that ends after `time`.
    pub fn budget(self, time: Duration) -> Budget {
        Budget {
            clock: self.clock,
            until: self.clock.now().saturating_add(time),
        }
    }
}

/// A platform without time and threads: its clock is constant, so no budget ends early, and calculations run immediately.
impl Default for Platform {
    fn default() -> Self {
        Self {
            clock: &StoppedClock,
            jobs: &InlineJobs,
        }
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Platform")
    }
}

/// Time limit of an incremental calculation.
#[derive(Clone, Copy)]
pub struct Budget {
    clock: &'static dyn Clock,
    until: Duration,
}

impl Budget {
    /// Returns an empty budget. Incremental calculations do one step.
    pub fn none() -> Self {
        Platform::default().budget(Duration::ZERO)
    }

    /// Returns true if no time is left.
    pub fn is_spent(&self) -> bool {
        self.clock.now() >= self.until
    }
}

struct StoppedClock;

impl Clock for StoppedClock {
    fn now(&self) -> Duration {
        Duration::ZERO
    }

    fn since_1970(&self) -> Duration {
        Duration::ZERO
    }
}

struct InlineJobs;

impl Jobs for InlineJobs {
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
