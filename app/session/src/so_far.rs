//! What has been read so far of a recording, for who wants to look at it before all of it is there.
//!
//! A large recording takes many seconds to read. The thread that reads it folds a piece, puts the loaders down while it waits for the
//! next one, and takes them up again. The window takes them for a frame. So there is one of each run, nothing of it is ever copied, and
//! neither waits for the other longer than a piece or a frame takes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::loaders::Loaders;
use loadscope_insight::session_event::ReadSoFar;
use loadscope_trace::{Fleet, RunId};

/// What has been read so far. All clones are the same.
#[derive(Clone, Debug, Default)]
pub struct SoFar(Arc<Place>);

#[derive(Debug, Default)]
struct Place {
    held: Mutex<Held>,
    changed: Condvar,
    /// The window waits for it: who reads does not take it up first.
    is_wanted: AtomicBool,
}

#[derive(Debug, Default)]
struct Held {
    /// There while neither side has it.
    fleet: Option<Fleet>,
    with: With,
    landmarks: Landmarks,
    /// The loader that was shown last, and whether the user chose it.
    shown: Option<(RunId, bool)>,
    /// The rest is not wanted.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum With {
    /// Who reads has it, or it was put down.
    #[default]
    Reader,
    Window,
}

impl SoFar {
    fn held(&self) -> MutexGuard<'_, Held> {
        let held = self.0.held.lock();
        held.unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what there is, for a frame; it is to be given back. `None` if that is no batch yet, or if it did not come within `patience`.
    pub fn take(&self, patience: Duration) -> Option<ReadSoFar> {
        let until = Instant::now() + patience;
        self.0.is_wanted.store(true, Ordering::Release);
        let mut held = self.held();
        let fleet = loop {
            if held.is_over || held.with == With::Window {
                break None;
            }
            if let Some(fleet) = held.fleet.take() {
                break Some(fleet);
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break None;
            }
            let waited = self.0.changed.wait_timeout(held, left);
            held = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        self.0.is_wanted.store(false, Ordering::Release);
        let fleet = fleet?;
        let has_batches = fleet.runs().any(|(_, run)| !run.batches().is_empty());
        if !has_batches {
            held.fleet = Some(fleet);
            self.0.changed.notify_all();
            return None;
        }
        let wanted = held.shown.map(|(id, _)| id);
        let (loaders, run) = Loaders::of(fleet, wanted);
        held.shown.get_or_insert((loaders.shown(), false));
        held.with = With::Window;
        Some(ReadSoFar {
            run,
            loaders,
            landmarks: std::mem::take(&mut held.landmarks),
        })
    }

    /// Gives back what was taken, so that reading goes on.
    pub fn give_back(&self, looked: ReadSoFar) {
        let mut held = self.held();
        let now = looked.loaders.shown();
        if held.shown.is_some_and(|(before, _)| before != now) {
            held.shown = Some((now, true));
        }
        held.landmarks = looked.landmarks;
        held.fleet = Some(looked.loaders.into_fleet(looked.run));
        held.with = With::Reader;
        self.0.changed.notify_all();
    }

    /// The loader that the user chose to see, if one was chosen.
    pub(super) fn chosen(&self) -> Option<RunId> {
        let shown = self.held().shown;
        shown.and_then(|(id, is_chosen)| is_chosen.then_some(id))
    }

    /// The landmarks of the loader that was shown last; they go on with its run.
    pub(super) fn landmarks(&self) -> Option<(RunId, Landmarks)> {
        let mut held = self.held();
        let (id, _) = held.shown?;
        Some((id, std::mem::take(&mut held.landmarks)))
    }

    /// Who reads waits for the next piece.
    pub(super) fn put_down(&self, fleet: &mut Fleet) {
        let mut held = self.held();
        if let Some((id, _)) = held.shown
            && let Some(run) = fleet.get(id)
        {
            held.landmarks.follow(run);
        }
        held.fleet = Some(std::mem::take(fleet));
        self.0.changed.notify_all();
    }

    /// Who reads has the next piece. False if the rest is not wanted, and then there is nothing to go on with.
    pub(super) fn take_up(&self, fleet: &mut Fleet) -> bool {
        let mut held = self.held();
        loop {
            if held.is_over {
                return false;
            }
            let is_wanted = self.0.is_wanted.load(Ordering::Acquire);
            match held.fleet.take_if(|_| !is_wanted) {
                Some(there) => {
                    *fleet = there;
                    return true;
                }
                None => {
                    let waited = self.0.changed.wait_timeout(held, LOOK);
                    held = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
            }
        }
    }

    /// The rest is not wanted.
    pub(super) fn end(&self) {
        self.held().is_over = true;
        self.0.changed.notify_all();
    }
}

/// Who reads looks so often whether the window has given up waiting.
const LOOK: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use loadscope_insight::shared::Shared;
    use loadscope_trace::{BatchId, Event, EventKind, Nanos};

    use super::*;

    fn event(at: i64, run: u32, kind: EventKind) -> Event {
        let (at, run) = (Nanos(at), RunId(run));
        Event { at, run, kind }
    }

    fn batch(idx: u32) -> EventKind {
        EventKind::dispatched(BatchId { epoch: 0, idx }, None, [7])
    }

    /// Reads batches of two loaders, piece by piece, until another thread has looked at them often.
    #[test]
    fn what_is_looked_at_meanwhile_is_read_whole() {
        const LOOKS: usize = 20;
        let reader = SoFar::default();
        let window = reader.clone();
        let looks = AtomicUsize::new(0);
        let deadline = Instant::now() + Duration::from_secs(30);
        let (fleet, count) = std::thread::scope(|threads| {
            let reading = threads.spawn(|| {
                let mut fleet = Fleet::default();
                for run in [1, 2] {
                    fleet.apply(&event(0, run, EventKind::EpochStarted { epoch: 0 }));
                }
                let mut count = 0;
                while looks.load(Ordering::Relaxed) < LOOKS {
                    assert!(Instant::now() < deadline, "it is not looked at");
                    reader.put_down(&mut fleet);
                    assert!(reader.take_up(&mut fleet));
                    for run in [1, 2] {
                        fleet.apply(&event(i64::from(count), run, batch(count)));
                    }
                    count += 1;
                }
                reader.end();
                (fleet, count)
            });
            let mut before = 0;
            while !reading.is_finished() {
                if let Some(looked) = window.take(Duration::from_millis(100)) {
                    assert!(looked.run.batches().len() >= before);
                    assert!(looked.loaders.are_many());
                    before = looked.run.batches().len();
                    looks.fetch_add(1, Ordering::Relaxed);
                    window.give_back(looked);
                }
            }
            reading.join().expect("it does not panic")
        });
        let lengths: Vec<usize> = fleet.runs().map(|(_, run)| run.batches().len()).collect();
        assert_eq!(lengths, [count as usize; 2]);
    }

    #[test]
    fn who_reads_ends_when_the_window_is_gone_with_it() {
        let so_far = SoFar::default();
        let mut fleet = Fleet::default();
        fleet.apply(&event(0, 1, EventKind::EpochStarted { epoch: 0 }));
        fleet.apply(&event(1, 1, batch(0)));
        so_far.put_down(&mut fleet);
        let looked = so_far.take(Duration::ZERO).expect("it was put down");
        assert_eq!(looked.run.batches().len(), 1);
        so_far.end();
        assert!(!so_far.take_up(&mut fleet));
    }

    #[test]
    fn the_loader_that_was_chosen_stays() {
        let so_far = SoFar::default();
        let mut fleet = Fleet::default();
        for run in [1, 2] {
            fleet.apply(&event(0, run, EventKind::EpochStarted { epoch: 0 }));
            fleet.apply(&event(1, run, batch(0)));
        }
        so_far.put_down(&mut fleet);
        let mut looked = so_far.take(Duration::ZERO).expect("it was put down");
        assert_eq!(so_far.chosen(), None);
        let other = looked.loaders.neighbour(true).expect("there are two");
        let mut run = Shared::from(looked.run);
        assert!(looked.loaders.show(&mut run, other));
        looked.run = run.into_inner();
        so_far.give_back(looked);
        assert_eq!(so_far.chosen(), Some(other));
        let looked = so_far.take(Duration::ZERO).expect("it was given back");
        assert_eq!(looked.loaders.shown(), other);
    }
}
