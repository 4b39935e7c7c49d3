//! Sums of a run, and its new start from its state.

use std::collections::BTreeMap;

use super::{Run, Wait};
use crate::event::State;
use crate::series::Series;
use crate::{
    AwaitedStage, Event, EventKind, GaugeKind, GaugeSum, Lane, Level, Nanos, RunId, Stage, Sums,
};
use loadscope_column::Column;

impl Run {
    /// Returns the sums of the events after the state at the start. Batches and waits count if they are finished.
    pub(crate) fn sums(&self) -> Sums {
        let carried = self.past.as_ref().map_or((0, 0), |past| past.carried);
        let messages = |level| {
            self.messages
                .iter()
                .filter(|(_, m)| m.level == level)
                .count()
        };
        let mut sums = Sums {
            events: self.events - carried.0,
            dropped: self.dropped,
            epochs: self.epochs.len() as u64 - carried.1,
            errors: messages(Level::Error) as u64,
            warnings: messages(Level::Warning) as u64,
            opening: self.opening(),
            asides: self.asides(),
            device: self.device_waits.sum(),
            gauges: self.gauge_sums(),
            ..Sums::default()
        };
        for (row, batch) in self.batches.iter().enumerate() {
            if !batch.stage.is_final() {
                continue;
            }
            sums.batches += u64::from(batch.was_yielded);
            sums.samples += u64::from(batch.samples()) * u64::from(batch.was_yielded);
            sums.held += u64::from(batch.was_held);
            sums.failed += u64::from(batch.stage == Stage::Failed);
            sums.discarded += u64::from(batch.stage == Stage::Discarded && !batch.was_yielded);
            let step = self.time_in(row, |stage| stage == Stage::Training);
            step.into_iter().for_each(|took| sums.steps.record(took));
            let fetch = self.fetch_time(row);
            if fetch > Nanos::ZERO {
                sums.fetches.record(fetch);
            }
        }
        for wait in self.waits.iter().filter(|wait| wait.end != Nanos::MAX) {
            sums.waits.record(wait.end - wait.start);
            self.add_awaited(wait, &mut sums.waited);
        }
        sums.uncounted = sums.steps.sum() - self.steps.sum();
        sums
    }

    /// Returns the time of fetching and collating a batch.
    pub(crate) fn fetch_time(&self, row: usize) -> Nanos {
        let is_fetch = |stage| matches!(stage, Stage::Fetching | Stage::Collating);
        self.time_in(row, is_fetch).unwrap_or_default()
    }

    /// Returns the total time in some stages that a batch has left. Returns `None` if it was in none of them.
    fn time_in(&self, row: usize, is_it: impl Fn(Stage) -> bool) -> Option<Nanos> {
        let (mut sum, mut end) = (None, None);
        for (_, t) in self.steps_back(row) {
            if let Some(end) = end.filter(|_| is_it(t.stage)) {
                sum = Some(sum.unwrap_or_default() + (end - t.at));
            }
            end = Some(t.at);
        }
        sum
    }

    /// Adds a finished wait to `waited`, split by the stages of the batch that ended it, if any.
    fn add_awaited(&self, wait: &Wait, waited: &mut BTreeMap<AwaitedStage, Nanos>) {
        let mut end = wait.end;
        let row = wait.batch.into_iter();
        for (_, t) in row.flat_map(|row| self.steps_back(row as usize)) {
            let from = t.at.max(wait.start);
            if from < end {
                *waited.entry(AwaitedStage::of(t.stage)).or_default() += end - from;
                end = from;
            }
        }
        if wait.start < end {
            let rest = match wait.batch {
                Some(_) => AwaitedStage::NotDispatched,
                None => AwaitedStage::End,
            };
            *waited.entry(rest).or_default() += end - wait.start;
        }
    }

    fn gauge_sums(&self) -> Vec<GaugeSum> {
        let sum_of = |(lane, what, series): (Option<Lane>, GaugeKind, &Series)| {
            let values = series.points().iter().map(|(_, value)| *value);
            let (mut count, mut sum, mut max) = (0, 0.0, f64::MIN);
            for value in values.filter(|value| value.is_finite()) {
                (count, max) = (count + 1, f64::max(max, value));
                sum = f64::clamp(sum + value, f64::MIN, f64::MAX);
            }
            let lane = lane.map(Lane::key);
            (count > 0).then_some(GaugeSum {
                lane,
                what,
                count,
                sum,
                max,
            })
        };
        self.gauges().filter_map(sum_of).collect()
    }

    /// Returns a run that continues from the state of this one, given as events.
    pub(crate) fn started_again(&self, events: Vec<Event>) -> Self {
        let mut run = Self::default();
        let kind = EventKind::State(Box::new(State { part: 0, events }));
        run.apply(&Event {
            at: self.last,
            run: RunId(0),
            kind,
        });
        (run.step, run.opened) = (self.step, self.opened);
        run.openings = Column::default();
        run.steps = self.steps.started_again();
        // Finished batches after the first one in flight are known.
        run.epochs.for_each_mut(|_, epoch| {
            let before = self
                .epoch_at
                .get(&epoch.epoch)
                .and_then(|at| self.epochs.get(*at));
            let known = before.map_or(0, |before| before.next().saturating_sub(epoch.next()));
            epoch
                .rows
                .extend(std::iter::repeat_n(u32::MAX, known as usize));
        });
        run
    }
}
