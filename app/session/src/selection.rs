//! Selection of recorded batches: without the first ones, or only some epochs.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use loadscope_trace::{BatchId, Event, EventKind, RunId};

/// Maximum number of stored epochs per loader. Beyond it, the earliest ended one is forgotten.
const MOST_EPOCHS: usize = 1024;

/// Selection of the recorded batches of each loader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Number of batches to skip at the start of the recorded epochs.
    pub skip_first: u64,
    /// Recorded epochs, counted from 0. Empty records all.
    pub epochs: Vec<RangeInclusive<u32>>,
}

/// Filter that removes events outside the selection.
#[derive(Debug, Default)]
pub(super) struct Selector {
    selection: Selection,
    runs: BTreeMap<RunId, LoaderState>,
}

/// State of a loader.
#[derive(Debug, Default)]
struct LoaderState {
    /// The last started epoch.
    current: Option<u32>,
    /// True if batches of this epoch are recorded.
    is_shown: bool,
    /// Selected epochs, running or ended. Workers may report batches of an ended epoch later.
    epochs: BTreeMap<u32, EpochState>,
    /// Number of batches dispatched in selected epochs.
    dispatched: u64,
}

/// State of an epoch.
#[derive(Clone, Copy, Debug, Default)]
struct EpochState {
    /// Number of batches dispatched in earlier epochs.
    before: u64,
    /// Number of batches dispatched in this epoch.
    dispatched: u64,
    /// Number of batches that reached the trainer or failed.
    yielded: u64,
    /// True if the start of this epoch is recorded.
    is_recorded: bool,
    has_ended: bool,
}

impl Selection {
    /// Returns true if everything is recorded.
    pub fn is_all(&self) -> bool {
        self.skip_first == 0 && self.epochs.is_empty()
    }

    fn has(&self, epoch: u32) -> bool {
        self.epochs.is_empty() || self.epochs.iter().any(|range| range.contains(&epoch))
    }
}

impl Selector {
    /// Creates a filter. Returns `None` if everything is selected.
    pub fn new(selection: Selection) -> Option<Self> {
        (!selection.is_all()).then(|| Self {
            selection,
            runs: BTreeMap::new(),
        })
    }

    /// Removes events outside the selection.
    pub fn select(&mut self, events: &mut Vec<Event>) {
        let all = std::mem::take(events);
        for event in all {
            let run = self.runs.entry(event.run).or_default();
            let (is_wanted, continued) = run.apply(&self.selection, &event.kind);
            events.extend(continued.map(|kind| Event {
                at: event.at,
                run: event.run,
                kind,
            }));
            if is_wanted {
                events.push(event);
            }
        }
    }
}

impl LoaderState {
    /// Returns true if an event is recorded, and the event to record before it.
    fn apply(&mut self, selection: &Selection, kind: &EventKind) -> (bool, Option<EventKind>) {
        let skip = selection.skip_first;
        let is_wanted = match kind {
            EventKind::EpochStarted { epoch } => {
                self.current = Some(*epoch);
                self.is_shown = selection.has(*epoch) && self.dispatched >= skip;
                if selection.has(*epoch) {
                    let of = EpochState {
                        before: self.dispatched,
                        is_recorded: self.is_shown,
                        ..EpochState::default()
                    };
                    self.epochs.insert(*epoch, of);
                }
                self.is_shown
            }
            EventKind::EpochEnded { epoch } => self.end(*epoch),
            EventKind::Dispatched(dispatch) => {
                let BatchId { epoch, idx } = dispatch.batch;
                let Some(of) = self.epochs.get_mut(&epoch) else {
                    return (false, None);
                };
                let dispatched = of.dispatched.max(u64::from(idx) + 1);
                self.dispatched += dispatched - std::mem::replace(&mut of.dispatched, dispatched);
                let is_wanted = of.before + u64::from(idx) >= skip;
                if is_wanted && !std::mem::replace(&mut of.is_recorded, true) {
                    self.is_shown |= self.current == Some(epoch);
                    return (true, Some(EventKind::EpochContinued { epoch, first: idx }));
                }
                is_wanted
            }
            EventKind::Entered { batch, stage } => {
                use loadscope_trace::Stage::{Failed, Training};
                if matches!(stage, Training | Failed)
                    && let Some(of) = self.epochs.get_mut(&batch.epoch)
                {
                    of.yielded = of.yielded.max(u64::from(batch.idx) + 1);
                }
                self.has(*batch, skip)
            }
            EventKind::Fetched(_)
            | EventKind::Processor(_)
            | EventKind::Aside(_)
            | EventKind::DeviceWait(_)
            | EventKind::Content(_)
            | EventKind::Fact(_) => kind.batch().is_none_or(|batch| self.has(batch, skip)),
            // Later samples refer to the stacks of earlier events.
            EventKind::Stacks(stacks) => self.is_shown || !stacks.stacks.is_empty(),
            // The trainer waits for the batch after the last yielded one.
            EventKind::Consumer { waiting: true } => {
                let of = self.current.and_then(|epoch| self.epochs.get(&epoch));
                let waits = |of: &EpochState| !of.has_ended && of.before + of.yielded >= skip;
                self.is_shown && of.is_some_and(waits)
            }
            EventKind::Consumer { waiting: false } | EventKind::Gauge(_) => self.is_shown,
            EventKind::RunStarted(_)
            | EventKind::RunEnded
            | EventKind::WorkerStarted(_)
            | EventKind::WorkerSeeded(_)
            | EventKind::WorkerEnded { .. }
            | EventKind::Message(_)
            | EventKind::Dropped { .. }
            | EventKind::EpochContinued { .. }
            | EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_) => true,
        };
        (is_wanted, None)
    }

    /// Records the end of an epoch. Returns true if this end is recorded.
    fn end(&mut self, epoch: u32) -> bool {
        let Some(of) = self.epochs.get_mut(&epoch) else {
            return false;
        };
        let is_first = !std::mem::replace(&mut of.has_ended, true);
        let is_recorded = of.is_recorded;
        while self.epochs.len() > MOST_EPOCHS
            && let Some((&first, _)) = self.epochs.iter().find(|(_, of)| of.has_ended)
        {
            self.epochs.remove(&first);
        }
        is_first && is_recorded
    }

    fn has(&self, batch: BatchId, skip: u64) -> bool {
        let of = self.epochs.get(&batch.epoch);
        of.is_some_and(|of| of.is_recorded && of.before + u64::from(batch.idx) >= skip)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_plan::dataset::SyntheticCatalog;
    use loadscope_plan::simulate::simulate;
    use loadscope_trace::{Run, RunOptions, Stage};
    use proptest::prelude::*;

    use super::*;

    fn events(workers: usize) -> Vec<Event> {
        let options = RunOptions {
            dataset: "synthetic:len=40,cost_ms=5,jitter=0.5".to_owned(),
            batch_size: Some(2),
            num_workers: workers,
            step_ms: 3.0,
            epochs: 4,
            ..RunOptions::default()
        };
        simulate(&options, &SyntheticCatalog).expect("it can be simulated")
    }

    fn run_of(events: &[Event]) -> Run {
        let mut run = Run::default();
        events.iter().for_each(|event| run.apply(event));
        run
    }

    fn kept(events: &[Event], selection: Selection) -> Vec<Event> {
        let mut selector = Selector::new(selection).expect("something is left out");
        let mut kept = Vec::new();
        // The events arrive in chunks.
        for piece in events.chunks(7) {
            let mut piece = piece.to_vec();
            selector.select(&mut piece);
            kept.append(&mut piece);
        }
        kept
    }

    fn selected(events: &[Event], selection: Selection) -> Run {
        run_of(&kept(events, selection))
    }

    /// Delays the events of workers by `late` events.
    fn late(events: &[Event], late: usize) -> Vec<Event> {
        let of_worker = |event: &&Event| match &event.kind {
            EventKind::Entered { stage, .. } => {
                matches!(stage, Stage::Fetching | Stage::Collating | Stage::Returning)
            }
            kind => matches!(kind, EventKind::Fetched(_) | EventKind::Content(_)),
        };
        let mut order: Vec<(usize, &Event)> = events.iter().enumerate().collect();
        let turn = |(at, event): &(usize, &Event)| match of_worker(event) {
            true => at + late,
            false => *at,
        };
        order.sort_by_key(turn);
        order.into_iter().map(|(_, event)| event.clone()).collect()
    }

    /// Returns the events as sorted texts.
    fn texts(events: &[Event]) -> Vec<String> {
        let mut texts: Vec<String> = events.iter().map(|event| format!("{event:?}")).collect();
        texts.sort();
        texts
    }

    /// Formats batch, worker, indices and stages of each batch.
    fn paths(run: &Run) -> Vec<String> {
        let all = run.batches().iter().enumerate();
        all.map(|(row, b)| {
            format!(
                "{} {:?} {:?} {:?}",
                b.id,
                b.worker,
                run.indices(row),
                run.path(row)
            )
        })
        .collect()
    }

    proptest! {
        #[test]
        fn selected_batches_and_waits_are_unchanged(workers in 0..4usize, skip in 0..70u64, first in 0..5u32, more in 0..3u32) {
            let events = events(workers);
            let whole = run_of(&events);
            let epochs = first..=first + more;
            let selection = Selection { skip_first: skip, epochs: vec![epochs.clone()] };
            let part = selected(&events, selection);
            let chosen: Vec<usize> = (0..whole.batches().len())
                .filter(|row| epochs.contains(&whole.batches()[*row].id.epoch))
                .skip(skip as usize)
                .collect();
            let all = paths(&whole);
            let wanted: Vec<&String> = chosen.iter().map(|row| &all[*row]).collect();
            let found = paths(&part);
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), wanted);
            // Every wait except the first equals that of the full run.
            let waits = |run: &Run| -> Vec<(i64, i64, Option<BatchId>)> {
                run.waits().iter().map(|w| (w.start.0, w.end.0, w.batch.map(|row| run.batches()[row as usize].id))).collect()
            };
            let of_all = waits(&whole);
            for wait in waits(&part) {
                prop_assert!(of_all.contains(&wait), "{wait:?}");
            }
            let of_part = waits(&part);
            let later: Vec<BatchId> = chosen.iter().skip(1).map(|row| whole.batches()[*row].id).collect();
            for wait in of_all.iter().filter(|(.., batch)| batch.is_some_and(|id| later.contains(&id))) {
                prop_assert_eq!(of_part.iter().filter(|found| *found == wait).count(), 1, "{:?}", wait);
            }
            let trained = |run: &Run| run.transitions().iter().filter(|t| t.stage == Stage::Training).count();
            prop_assert_eq!(trained(&part), chosen.len());
            prop_assert_eq!(part.has_ended(), true);
        }

        #[test]
        fn late_events_of_a_selected_epoch_are_kept(
            workers in 1..4usize, skip in 0..70u64, first in 0..4u32, more in 0..3u32, by in 1..300usize,
        ) {
            let events = events(workers);
            let selection = Selection { skip_first: skip, epochs: vec![first..=first + more] };
            let in_order = kept(&events, selection.clone());
            let late = kept(&late(&events, by), selection);
            prop_assert_eq!(texts(&late), texts(&in_order));
        }
    }

    #[test]
    fn only_the_latest_of_many_epochs_are_remembered() {
        let mut run = LoaderState::default();
        let selection = Selection {
            skip_first: 1,
            epochs: Vec::new(),
        };
        for epoch in 0..MOST_EPOCHS as u32 * 2 {
            run.apply(&selection, &EventKind::EpochStarted { epoch });
            run.apply(&selection, &EventKind::EpochEnded { epoch });
        }
        assert_eq!(run.epochs.len(), MOST_EPOCHS);
        assert!(run.epochs.contains_key(&(MOST_EPOCHS as u32 * 2 - 1)));
    }

    #[test]
    fn a_full_selection_needs_no_selector() {
        assert!(Selector::new(Selection::default()).is_none());
        let selection = Selection {
            skip_first: 25,
            epochs: Vec::new(),
        };
        let run = selected(&events(2), selection);
        let epochs: Vec<u32> = run.epochs().iter().map(|e| e.epoch).collect();
        assert_eq!(epochs, [1, 2, 3], "20 batches an epoch");
    }
}
