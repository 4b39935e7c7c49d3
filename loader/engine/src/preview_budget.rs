//! Budget for summarizing the contents of batches.

use std::time::{Duration, Instant};

use loadscope_trace::{BatchId, EventKind, Nanos};

use crate::batch::Batch;
use crate::clock::Clock;
use crate::panics::catch_panic;
use crate::probe::{ContentPolicy, Probe};

/// Share of a worker's time for summarizing batches, after the run's grace budget is spent.
pub(crate) struct PreviewBudget {
    probe: Probe,
    /// Start time on the run's clock, or `None` without an observer.
    since: Option<Nanos>,
    /// Part of the earned time that paid the run's debt or expired unused.
    paid: Duration,
}

impl PreviewBudget {
    /// Creates the budget of a thread that begins to make batches.
    pub fn new(probe: &Probe) -> Self {
        Self {
            since: probe.clock_ref().map(Clock::now),
            paid: Duration::ZERO,
            probe: probe.clone(),
        }
    }

    /// Returns true if the thread may summarize the batch that it has just reported.
    ///
    /// The check uses the last clock reading, because a batch may take only a microsecond.
    pub fn may_summarize(&mut self) -> bool {
        let share = match self.probe.content() {
            ContentPolicy::Off => return false,
            ContentPolicy::Share(share) => share.clamp(0.0, 1.0),
        };
        if self.probe.is_in_grace_period() {
            return true;
        }
        let (Some(now), Some(since)) = (self.probe.last_event_time(), self.since) else {
            return false;
        };
        let earned = (now - since).to_duration().mul_f64(share);
        let credit = earned.saturating_sub(self.paid);
        let (paid, is_free) = self.probe.pay_debt(credit);
        let may_summarize = is_free && paid < credit;
        // Unused time expires. Otherwise many summaries would follow in a row after a pause.
        self.paid = if may_summarize {
            earned
        } else {
            self.paid + paid
        };
        may_summarize
    }

    /// Reports the contents of a batch without the samples at the positions `left_out`.
    pub fn summarize<B: Batch>(&mut self, id: BatchId, batch: &B, left_out: &[u32]) {
        let start = Instant::now();
        // A panic in a user's batch type must not end the worker.
        let content = catch_panic(|| batch.describe(id));
        if let Ok(Some(mut content)) = content {
            content.leave_out(left_out);
            self.probe.emit(|| EventKind::Content(content.into()));
        }
        let took = start.elapsed();
        if !self.probe.spend_grace(took) {
            self.probe.add_debt(took);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch that takes a long time to summarize.
    struct Slow;

    const LOOK: Duration = Duration::from_millis(5);

    impl Batch for Slow {
        fn describe(&self, _: BatchId) -> Option<loadscope_trace::BatchContent> {
            std::thread::sleep(LOOK);
            None
        }
    }

    #[test]
    fn content_writes_are_charged_after_the_grace_period() {
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Share(0.5), 1 << 10);
        let mut budget = PreviewBudget::new(&probe);
        let may_summarize = |budget: &mut PreviewBudget| {
            probe.stamp_next_event();
            budget.may_summarize()
        };
        let long = Duration::from_secs(3600);
        let beginning = probe.stamp_next_event().unwrap_or_default();
        events.charge(beginning, long);
        assert!(may_summarize(&mut budget), "it is free");
        std::thread::sleep(Duration::from_millis(1));
        while probe.is_in_grace_period() {
            probe.spend_grace(Duration::from_secs(1));
        }
        events.charge(beginning, long);
        std::thread::sleep(Duration::from_millis(1));
        assert!(may_summarize(&mut budget), "it is free still");
        let later = probe.stamp_next_event().unwrap_or_default();
        events.charge(later, long);
        assert!(!may_summarize(&mut budget));
        drop(budget);
        assert!(
            !may_summarize(&mut PreviewBudget::new(&probe)),
            "it is carried over"
        );
    }

    #[test]
    fn a_pause_is_followed_by_only_one_preview() {
        let (probe, _events) = Probe::new(Clock::start(), ContentPolicy::Share(0.5), 1 << 10);
        while probe.is_in_grace_period() {
            probe.spend_grace(Duration::from_secs(1));
        }
        let mut budget = PreviewBudget::new(&probe);
        std::thread::sleep(Duration::from_millis(200));
        probe.stamp_next_event();
        assert!(budget.may_summarize());
        budget.summarize(BatchId::default(), &Slow, &[]);
        probe.stamp_next_event();
        assert!(!budget.may_summarize());
    }

    #[test]
    fn the_preview_share_holds_over_many_short_epochs() {
        const SHARE: f64 = 0.1;
        const THREADS: u32 = 3;
        let (probe, _events) = Probe::new(Clock::start(), ContentPolicy::Share(SHARE), 1 << 10);
        while probe.is_in_grace_period() {
            probe.spend_grace(Duration::from_secs(1));
        }
        let begin = Instant::now();
        let epochs = || {
            let mut looks = 0;
            while begin.elapsed() < Duration::from_millis(400) {
                let mut budget = PreviewBudget::new(&probe);
                for _ in 0..3 {
                    std::thread::sleep(Duration::from_micros(300));
                    probe.stamp_next_event();
                    if budget.may_summarize() {
                        budget.summarize(BatchId::default(), &Slow, &[]);
                        looks += 1;
                    }
                }
            }
            looks
        };
        let looks: u32 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(epochs)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap_or(0))
                .sum()
        });
        let spent = LOOK * looks;
        // Each thread may have begun one more summary.
        let most = begin.elapsed().mul_f64(SHARE * f64::from(THREADS)) + LOOK * THREADS;
        assert!(looks > THREADS, "{looks}");
        assert!(spent <= most, "{spent:?} of at most {most:?}");
    }
}
