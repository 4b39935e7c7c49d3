//! Memory limit of a window. A second copy of its events is stored temporarily in parts, like a recording with a limit.
//! If the window's runs are too large, a thread rebuilds them from sums per minute, data kept in full and the last parts.
//! [`RetentionFilter`] computes sums and kept data. The window replaces its runs at a position in the event stream.
//! The new runs contain all events before this position and none after it.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::session_event::RebuiltRuns;
use loadscope_trace::{Event, Fleet};

mod history;
mod kept_data;

pub use history::History;

/// Divisor of the memory limit. A rebuild starts when the window's runs reach this fraction.
/// During the rebuild, memory also contains the new runs, the events of the last parts and the spare capacity of lists.
const REBUILD_DIVISOR: u64 = 3;

/// Divisor of the memory limit for all parts, which the next rebuild reads.
const PARTS_DIVISOR: u64 = 8;

/// Divisor of the memory limit for one part.
const PART_DIVISOR: u64 = 64;

/// Events on the way to the window.
type Chunk = Arc<[Event]>;

/// Memory limit of a window: it records the events and starts rebuilds.
pub(super) struct MemoryBound {
    memory: u64,
    history: History,
    /// Last parts. The last one grows.
    parts: VecDeque<Part>,
    /// Estimated size of the window's runs, bytes.
    shown: u64,
    rebuild: Option<Rebuild>,
    /// Marker of the last sent runs. The marker is alive until the window applies the runs.
    sent: Weak<()>,
}

/// A period of time with all its events.
#[derive(Clone, Default)]
struct Part {
    number: u32,
    /// State of the runs at the start.
    state: Vec<Event>,
    chunks: Vec<Chunk>,
    bytes: u64,
}

/// A rebuild in progress.
struct Rebuild {
    /// Sends the events that arrive during the rebuild.
    events: Sender<Chunk>,
    /// Receives the rebuilt runs.
    ready: Receiver<RebuiltFleet>,
    /// Estimated size of the new runs, bytes.
    bytes: u64,
}

/// Rebuilt runs that still need the last events.
struct RebuiltFleet {
    fleet: Fleet,
    landmarks: Vec<Landmarks>,
    rest: Receiver<Chunk>,
}

impl MemoryBound {
    /// Creates the limit for a window with this number of bytes for its runs.
    pub fn new(memory: u64) -> Self {
        Self {
            memory,
            history: History::new(memory),
            parts: VecDeque::from([Part::default()]),
            shown: 0,
            rebuild: None,
            sent: Weak::new(),
        }
    }

    /// Records events that are sent to the window right after this call.
    pub fn record(&mut self, events: &[Event]) {
        let bytes: u64 = events.iter().map(Event::bytes_in_run).sum();
        self.history.record(events, self.first());
        self.shown += bytes;
        let chunk: Chunk = events.into();
        if let Some(rebuild) = &mut self.rebuild {
            rebuild.bytes += bytes;
            let _ = rebuild.events.send(Arc::clone(&chunk));
        }
        if let Some(part) = self.parts.back_mut() {
            part.bytes += bytes;
            part.chunks.push(chunk);
        }
        if self
            .parts
            .back()
            .is_some_and(|p| p.bytes >= self.memory / PART_DIVISOR)
        {
            self.next_part();
        }
        // A hidden window does not apply its messages, so no second rebuild starts before it does.
        let is_waiting = self.rebuild.is_some() || self.sent.strong_count() > 0;
        if !is_waiting && self.shown >= self.memory / REBUILD_DIVISOR {
            self.start_rebuild();
        }
    }

    /// Returns the rebuilt runs, to be sent before further events. Returns `None` if there are none.
    pub fn take_rebuilt(&mut self) -> Option<RebuiltRuns> {
        let rebuild = self.rebuild.as_ref()?;
        let new_fleet = match rebuild.ready.try_recv() {
            Ok(new_fleet) => new_fleet,
            Err(TryRecvError::Empty) => return None,
            // The thread failed. A new one may succeed.
            Err(TryRecvError::Disconnected) => {
                self.rebuild = None;
                return None;
            }
        };
        self.shown = rebuild.bytes;
        self.rebuild = None;
        let in_flight = Arc::new(());
        self.sent = Arc::downgrade(&in_flight);
        Some(new_fleet.finish(in_flight))
    }

    /// Returns the number of the first existing part.
    fn first(&self) -> u32 {
        self.parts.front().map_or(0, |part| part.number)
    }

    fn next_part(&mut self) {
        let (number, state) = self.history.start_part(self.first());
        self.parts.push_back(Part {
            number,
            state,
            ..Part::default()
        });
        let most = self.memory / PARTS_DIVISOR;
        while self.parts.len() > 1 && self.parts.iter().map(|p| p.bytes).sum::<u64>() > most {
            self.parts.pop_front();
        }
    }

    /// Starts a rebuild. If the thread cannot start, the next events try again.
    fn start_rebuild(&mut self) {
        let parts: Vec<Part> = self.parts.iter().cloned().collect();
        let past = self.history.before(self.first());
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let (events, rest) = unbounded();
        let (done, ready) = bounded(1);
        let job = move || {
            if let Some(new_fleet) = rebuild_fleet(past, parts, rest) {
                let _ = done.send(new_fleet);
            }
        };
        let thread = Builder::new().name("memory".to_owned()).spawn(job);
        self.rebuild = thread.is_ok().then_some(Rebuild {
            events,
            ready,
            bytes,
        });
    }
}

/// Returns the memory of this host, bytes. Returns `None` if it is unknown.
pub fn memory_of_host() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Rebuilds the runs from all events so far. Returns `None` if the result is no longer needed.
fn rebuild_fleet(
    past: Vec<Event>,
    parts: Vec<Part>,
    rest: Receiver<Chunk>,
) -> Option<RebuiltFleet> {
    let mut fleet = Fleet::default();
    past.iter().for_each(|event| fleet.apply(event));
    drop(past);
    let mut is_first = true;
    for part in parts {
        if std::mem::take(&mut is_first) {
            part.state.iter().for_each(|event| fleet.apply(event));
        }
        let chunks = part.chunks.iter();
        chunks.for_each(|chunk| apply(&mut fleet, chunk));
    }
    let mut landmarks = Vec::new();
    loop {
        match rest.try_recv() {
            Ok(chunk) => apply(&mut fleet, &chunk),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                let is_known = !landmarks.is_empty();
                update_landmarks(&fleet, &mut landmarks);
                // Computing the landmarks takes a while. The events that arrived meanwhile need little time.
                if is_known {
                    break;
                }
            }
        }
    }
    Some(RebuiltFleet {
        fleet,
        landmarks,
        rest,
    })
}

fn apply(fleet: &mut Fleet, events: &[Event]) {
    events.iter().for_each(|event| fleet.apply(event));
}

/// Updates the landmarks of all runs. They are ordered by run id, so a new run shifts the later ones.
fn update_landmarks(fleet: &Fleet, landmarks: &mut Vec<Landmarks>) {
    if landmarks.len() != fleet.runs().len() {
        *landmarks = vec![Landmarks::default(); fleet.runs().len()];
    }
    let all = fleet.runs().zip(landmarks);
    all.for_each(|((_, run), landmarks)| landmarks.follow(run));
}

impl RebuiltFleet {
    /// Applies the events that arrived during the rebuild.
    fn finish(mut self, in_flight: Arc<()>) -> RebuiltRuns {
        for chunk in self.rest.try_iter() {
            apply(&mut self.fleet, &chunk);
        }
        update_landmarks(&self.fleet, &mut self.landmarks);
        let all = self.fleet.into_runs().zip(self.landmarks);
        let all = all.map(|((id, run), landmarks)| (id, run, landmarks));
        RebuiltRuns {
            runs: all.collect(),
            in_flight,
        }
    }
}

#[cfg(test)]
mod tests;
