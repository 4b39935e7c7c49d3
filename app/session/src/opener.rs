//! The thread that reads a file for the window, and the snapshots that it publishes meanwhile.
//!
//! Reading takes many seconds. The reader publishes a snapshot of the loaders, which the window takes for its next frames.
//! Neither waits for the other.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::Sender;
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::session_event::PartialRead;
use loadscope_insight::waits::point_of_interest;
use loadscope_trace::{Fleet, RunId};

use super::file::ProgressListener;
use super::open::{Opened, open_with_progress};
use super::{SessionEvent, Waker, describe_open_error};

/// Reader of a file that publishes snapshots.
pub(super) struct Opener {
    pub path: PathBuf,
    /// True after the reading was canceled.
    pub cancel: Arc<AtomicBool>,
    pub partial: PartialRun,
    pub out: Sender<SessionEvent>,
    pub wake: Waker,
}

impl Opener {
    /// Reads the file to its end.
    pub fn run(mut self) {
        let path = self.path.clone();
        let end = match open_with_progress(&path, &mut self) {
            // After a cancellation, the data are incomplete.
            Ok(_) if self.is_cancelled() => None,
            Ok(opened) => {
                self.send_loaded(opened);
                None
            }
            Err(e) => Some(describe_open_error(&path, &e)),
        };
        self.send(SessionEvent::Ended(end));
    }

    fn is_cancelled(&self) -> bool {
        self.cancel.load(Ordering::Acquire)
    }

    fn send(&self, event: SessionEvent) {
        let _ = self.out.send(event);
        (self.wake)();
    }

    fn send_loaded(&self, opened: Opened) {
        let (loaders, run) = Loaders::of(opened.fleet, self.partial.chosen());
        let known = self.partial.finish();
        let known = known.filter(|(id, _)| *id == loaders.shown());
        let mut landmarks = known.map_or_else(Landmarks::default, |(_, landmarks)| landmarks);
        landmarks.follow(&run);
        self.send(SessionEvent::Loaded {
            at: point_of_interest(&run),
            landmarks: Box::new(landmarks),
            run: Box::new(run),
            loaders: Box::new(loaders),
            cut: opened.cut,
            notes: opened.notes,
        });
    }
}

impl ProgressListener for Opener {
    fn progress(&mut self, share: f32, fleet: &Fleet) -> bool {
        self.partial.publish(fleet);
        self.send(SessionEvent::Loading(share));
        !self.is_cancelled()
    }
}

/// Latest snapshot of a recording that is being read. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct PartialRun(Arc<Mutex<Slot>>);

#[derive(Debug, Default)]
struct Slot {
    /// `None` after the window has taken the snapshot.
    latest: Option<PartialRead>,
    landmarks: Landmarks,
    /// The shown loader, and true if the user chose it.
    shown: Option<(RunId, bool)>,
}

impl PartialRun {
    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a new snapshot, if there is one. `shown` is the loader in the window, `None` before the first snapshot.
    pub fn take(&self, shown: Option<RunId>) -> Option<PartialRead> {
        let mut slot = self.slot();
        if let (Some(now), Some((before, _))) = (shown, slot.shown)
            && now != before
        {
            slot.shown = Some((now, true));
            slot.landmarks = Landmarks::default();
            // The snapshot shows the previously chosen loader.
            slot.latest = None;
        }
        slot.latest.take()
    }

    /// Publishes a snapshot, unless the window has not taken the previous one.
    pub(super) fn publish(&self, fleet: &Fleet) {
        let mut slot = self.slot();
        let has_batches = || fleet.runs().any(|(_, run)| !run.batches().is_empty());
        if slot.latest.is_some() || !has_batches() {
            return;
        }
        let wanted = slot.shown.map(|(id, _)| id);
        let (loaders, run) = Loaders::of(fleet.clone(), wanted);
        slot.shown.get_or_insert((loaders.shown(), false));
        slot.landmarks.follow(&run);
        slot.latest = Some(PartialRead {
            run,
            loaders,
            landmarks: slot.landmarks.clone(),
        });
    }

    /// Returns the loader that the user chose.
    pub(super) fn chosen(&self) -> Option<RunId> {
        let shown = self.slot().shown;
        shown.and_then(|(id, is_chosen)| is_chosen.then_some(id))
    }

    /// Drops the last snapshot. Returns the landmarks of the last shown loader, to complete them with its run.
    pub(super) fn finish(&self) -> Option<(RunId, Landmarks)> {
        let mut slot = self.slot();
        slot.latest = None;
        let (id, _) = slot.shown?;
        Some((id, std::mem::take(&mut slot.landmarks)))
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, Nanos};

    use super::*;

    fn apply(fleet: &mut Fleet, at: i64, kind: impl Fn() -> EventKind) {
        for run in [RunId(1), RunId(2)] {
            let (at, kind) = (Nanos(at), kind());
            fleet.apply(&Event { at, run, kind });
        }
    }

    fn dispatch(fleet: &mut Fleet, idx: u32) {
        apply(fleet, i64::from(idx), || {
            EventKind::dispatched(BatchId { epoch: 0, idx }, None, [7])
        });
    }

    fn fleet() -> Fleet {
        let mut fleet = Fleet::default();
        apply(&mut fleet, 0, || EventKind::EpochStarted { epoch: 0 });
        fleet
    }

    #[test]
    fn a_snapshot_keeps_its_batches_while_more_are_read() {
        let (partial, mut fleet) = (PartialRun::default(), fleet());
        partial.publish(&fleet);
        assert!(partial.take(None).is_none(), "no batch yet");
        for idx in 0..3000 {
            dispatch(&mut fleet, idx);
            partial.publish(&fleet);
            if idx % 100 == 0 {
                let shown = (idx > 0).then_some(RunId(1));
                let taken = partial.take(shown).expect("a snapshot");
                let least = (idx as usize + 1).saturating_sub(100).max(1);
                assert!((least..=idx as usize + 1).contains(&taken.run.batches().len()));
                assert!(taken.loaders.are_many());
                assert!(partial.take(shown).is_none(), "it was taken");
            }
        }
        assert!(fleet.runs().all(|(_, run)| run.batches().len() == 3000));
    }

    #[test]
    fn a_finished_recording_shares_no_memory() {
        let (partial, mut fleet) = (PartialRun::default(), fleet());
        (0..3000).for_each(|idx| dispatch(&mut fleet, idx));
        partial.publish(&fleet);
        assert!(fleet.runs().all(|(_, run)| run.is_shared()));
        let (shown, mut landmarks) = partial.finish().expect("a loader was shown");
        assert!(fleet.runs().all(|(_, run)| !run.is_shared()));
        let run = fleet.get(shown).expect("it is there");
        landmarks.follow(run);
        assert_eq!(landmarks, Landmarks::of(run));
        assert!(partial.take(Some(shown)).is_none());
    }

    #[test]
    fn snapshots_follow_the_chosen_loader() {
        let (partial, mut fleet) = (PartialRun::default(), fleet());
        dispatch(&mut fleet, 0);
        partial.publish(&fleet);
        let taken = partial.take(None).expect("a snapshot");
        assert_eq!(partial.chosen(), None);
        let other = taken.loaders.neighbour(true).expect("there are two");
        partial.publish(&fleet);
        assert!(
            partial.take(Some(other)).is_none(),
            "one of the first loader"
        );
        assert_eq!(partial.chosen(), Some(other));
        partial.publish(&fleet);
        let taken = partial.take(Some(other)).expect("a snapshot");
        assert_eq!(taken.loaders.shown(), other);
    }
}
