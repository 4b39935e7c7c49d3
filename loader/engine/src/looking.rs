//! When and how batches are looked into.

use std::time::{Duration, Instant};

use loadscope_trace::{BatchId, EventKind, Nanos};

use crate::batch::Batch;
use crate::caught::caught;
use crate::clock::Clock;
use crate::probe::{ContentPolicy, Probe};

/// Looks inside batches without taking more than its share of a worker's time, once the run's time of grace is over.
///
/// A look may take longer than a short epoch may spend. What it took too much is left to the thread that looks next in the run, so
/// that the share holds however short the epochs are.
pub(crate) struct Looking {
    probe: Probe,
    /// When it began, on the run's clock; `None` without an observer.
    since: Option<Nanos>,
    spent: Duration,
}

impl Looking {
    /// For a thread that begins to make batches, with what was spent too much before in the run.
    pub fn new(probe: &Probe) -> Self {
        Self {
            spent: probe.take_debt(),
            since: probe.its_clock().map(Clock::now),
            probe: probe.clone(),
        }
    }

    /// How long it may have looked by `now`.
    fn allowed(&self, now: impl FnOnce(&Probe) -> Option<Nanos>) -> Option<Duration> {
        match self.probe.content() {
            ContentPolicy::Off => None,
            ContentPolicy::Share(share) => {
                let passed = (now(&self.probe)? - self.since?).to_duration();
                Some(passed.mul_f64(share.clamp(0.0, 1.0)))
            }
        }
    }

    /// True if the thread may look into the batch that it has just told of. The clock is not read again for that: batches may take a
    /// microsecond.
    pub fn may_look(&mut self) -> bool {
        let Some(allowed) = self.allowed(Probe::last) else {
            return false;
        };
        self.spent += self.probe.take_debt();
        self.probe.looks_at_all() || self.spent < allowed
    }

    /// Tells what is in a batch that lacks the samples at the places `left_out`.
    pub fn look<B: Batch>(&mut self, id: BatchId, batch: &B, left_out: &[u32]) {
        let start = Instant::now();
        // A batch type of the user's that panics here must not take the worker with it.
        let content = caught(|| batch.describe(id));
        if let Ok(Some(mut content)) = content {
            content.leave_out(left_out);
            self.probe.emit(|| EventKind::Content(Box::new(content)));
        }
        let took = start.elapsed();
        if !self.probe.spend_grace(took) {
            self.spent += took;
        }
    }
}

impl Drop for Looking {
    fn drop(&mut self) {
        let now = |probe: &Probe| probe.its_clock().map(Clock::now);
        if let Some(allowed) = self.allowed(now) {
            self.probe.owe(self.spent.saturating_sub(allowed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes its time to be looked at.
    struct Slow;

    const LOOK: Duration = Duration::from_millis(5);

    impl Batch for Slow {
        fn describe(&self, _: BatchId) -> Option<loadscope_trace::BatchContent> {
            std::thread::sleep(LOOK);
            None
        }
    }

    #[test]
    fn what_it_takes_to_write_contents_counts_but_those_of_the_beginning() {
        let (probe, events) = Probe::new(Clock::start(), ContentPolicy::Share(0.5), 1 << 10);
        let mut looking = Looking::new(&probe);
        let may_look = |looking: &mut Looking| {
            probe.mark();
            looking.may_look()
        };
        let long = Duration::from_secs(3600);
        let beginning = probe.mark().unwrap_or_default();
        events.charge(beginning, long);
        assert!(may_look(&mut looking), "it is free");
        std::thread::sleep(Duration::from_millis(1));
        while probe.looks_at_all() {
            probe.spend_grace(Duration::from_secs(1));
        }
        events.charge(beginning, long);
        std::thread::sleep(Duration::from_millis(1));
        assert!(may_look(&mut looking), "it is free still");
        let later = probe.mark().unwrap_or_default();
        events.charge(later, long);
        assert!(!may_look(&mut looking));
        drop(looking);
        assert!(!may_look(&mut Looking::new(&probe)), "it is carried over");
    }

    #[test]
    fn the_share_holds_over_many_epochs_that_are_shorter_than_a_look() {
        const SHARE: f64 = 0.1;
        let (probe, _events) = Probe::new(Clock::start(), ContentPolicy::Share(SHARE), 1 << 10);
        while probe.looks_at_all() {
            probe.spend_grace(Duration::from_secs(1));
        }
        let (begin, mut looks) = (Instant::now(), 0);
        while begin.elapsed() < Duration::from_millis(400) {
            let mut looking = Looking::new(&probe);
            for _ in 0..3 {
                std::thread::sleep(Duration::from_micros(300));
                probe.mark();
                if looking.may_look() {
                    looking.look(BatchId::default(), &Slow, &[]);
                    looks += 1;
                }
            }
        }
        let spent = LOOK * looks;
        // One look more may have begun.
        let most = begin.elapsed().mul_f64(SHARE) + LOOK;
        assert!(looks > 0);
        assert!(spent <= most, "{spent:?} of at most {most:?}");
    }
}
