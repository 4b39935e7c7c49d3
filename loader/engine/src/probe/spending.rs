//! What may still be spent on the contents of batches.
//!
//! What was spent beyond the time of grace is a debt of the run. All threads that look pay it, with the share of their time that they
//! may look for; while there is a debt, none looks. So the share holds however short epochs are, and however many threads there are.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use loadscope_trace::Nanos;

/// Short runs are looked at completely: so long, nanoseconds, all threads of a run may look before their share counts.
const GRACE: i64 = 300_000_000;

/// A thread pays at least so much at a time, nanoseconds, unless it is the rest: batches may take a microsecond.
const LUMP: u64 = 100_000;

/// What is charged at once, at most: a disk that does not answer for seconds takes nothing from the threads that look.
const MOST: Duration = Duration::from_millis(50);

/// What a run has spent on contents.
#[derive(Debug)]
pub(super) struct Spending {
    /// Nanoseconds for which contents may be looked at whatever the policy's share.
    grace: AtomicI64,
    /// When that was used up, on the run's clock; the largest number before.
    grace_end: AtomicI64,
    /// Nanoseconds that were spent and not yet paid.
    debt: AtomicU64,
}

impl Default for Spending {
    fn default() -> Self {
        Self {
            grace: AtomicI64::new(GRACE),
            grace_end: AtomicI64::new(i64::MAX),
            debt: AtomicU64::new(0),
        }
    }
}

impl Spending {
    pub fn is_in_grace(&self) -> bool {
        self.grace.load(Ordering::Relaxed) > 0
    }

    /// Takes what a look until `now` took from the time of grace; false if that was used up before.
    pub fn spend_grace(&self, took: Duration, now: impl FnOnce() -> Nanos) -> bool {
        let took = i64::try_from(took.as_nanos()).unwrap_or(i64::MAX);
        let spend = |left: i64| (left > 0).then(|| left.saturating_sub(took));
        let before = (self.grace).fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        if before.is_ok_and(|left| left <= took) {
            self.grace_end.store(now().0, Ordering::Relaxed);
        }
        before.is_ok()
    }

    /// What was recorded at `at` cost so much more afterwards. What was recorded in the time of grace is free.
    pub fn charge(&self, at: Nanos, took: Duration) {
        if at.0 > self.grace_end.load(Ordering::Relaxed) {
            self.owe(took.min(MOST));
        }
    }

    /// So much was spent.
    pub fn owe(&self, debt: Duration) {
        let nanos = u64::try_from(debt.as_nanos()).unwrap_or(u64::MAX);
        self.debt.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Pays the debt as far as `credit` goes: how much of that was paid, and whether there is no debt any more.
    pub fn pay(&self, credit: Duration) -> (Duration, bool) {
        let credit = u64::try_from(credit.as_nanos()).unwrap_or(u64::MAX);
        // Looking is cheaper than paying.
        let debt = self.debt.load(Ordering::Relaxed);
        if debt == 0 || credit < debt.min(LUMP) {
            return (Duration::ZERO, debt == 0);
        }
        let less = |debt: u64| Some(debt.saturating_sub(credit));
        let debt = (self.debt).fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let debt = debt.unwrap_or(0);
        (Duration::from_nanos(debt.min(credit)), debt <= credit)
    }
}
