//! Budget for the contents of batches.
//!
//! Time spent after the grace period is a debt of the run. All summarizing threads pay it with their share of time, and
//! none summarizes while there is a debt. The share therefore holds for any length of epochs and any number of threads.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use loadscope_trace::Nanos;

/// Grace budget of all threads together, ns, before their share counts. Short runs are summarized completely.
const GRACE: i64 = 300_000_000;

/// Minimum payment of a thread, ns, unless less is owed. Batches may take only a microsecond.
const MIN_PAYMENT: u64 = 100_000;

/// Maximum single charge. A disk that hangs for seconds does not use up the budget.
const MAX_CHARGE: Duration = Duration::from_millis(50);

/// Time that a run has spent on contents.
#[derive(Debug)]
pub(super) struct Spending {
    /// Rest of the grace budget, ns.
    grace: AtomicI64,
    /// End of the grace period on the run's clock, or `i64::MAX` before.
    grace_end: AtomicI64,
    /// Unpaid time, ns.
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

    /// Subtracts `took` from the grace budget. Returns false if the budget was already spent.
    pub fn spend_grace(&self, took: Duration, now: impl FnOnce() -> Nanos) -> bool {
        let took = i64::try_from(took.as_nanos()).unwrap_or(i64::MAX);
        let spend = |left: i64| (left > 0).then(|| left.saturating_sub(took));
        let before = (self.grace).fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend);
        if before.is_ok_and(|left| left <= took) {
            self.grace_end.store(now().0, Ordering::Relaxed);
        }
        before.is_ok()
    }

    /// Charges `took` for an event of the time `at`. Events of the grace period are free.
    pub fn charge(&self, at: Nanos, took: Duration) {
        if at.0 > self.grace_end.load(Ordering::Relaxed) {
            self.add_debt(took.min(MAX_CHARGE));
        }
    }

    /// Adds to the debt.
    pub fn add_debt(&self, debt: Duration) {
        let nanos = u64::try_from(debt.as_nanos()).unwrap_or(u64::MAX);
        self.debt.fetch_add(nanos, Ordering::Relaxed);
    }

    /// Pays the debt up to `credit`. Returns the paid time, and true if no debt is left.
    pub fn pay_debt(&self, credit: Duration) -> (Duration, bool) {
        let credit = u64::try_from(credit.as_nanos()).unwrap_or(u64::MAX);
        // A load is cheaper than an update.
        let debt = self.debt.load(Ordering::Relaxed);
        if debt == 0 || credit < debt.min(MIN_PAYMENT) {
            return (Duration::ZERO, debt == 0);
        }
        let less = |debt: u64| Some(debt.saturating_sub(credit));
        let debt = (self.debt).fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        let debt = debt.unwrap_or(0);
        (Duration::from_nanos(debt.min(credit)), debt <= credit)
    }
}
