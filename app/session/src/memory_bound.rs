//! The bound for the memory of a window. What is passed on to it is kept a second time for a while, in parts as a recording with a limit
//! has them. When the runs of the window have become too large, a thread folds them anew: from what each minute came to ([`Keeper`]
//! says it), what is kept in full, and the last parts. The window takes them in the place of the old ones at a place in the stream of
//! events: all events before it are in them, and none after it.

use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::thread::Builder;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use loadscope_insight::landmarks::Landmarks;
use loadscope_insight::session_event::Renewed;
use loadscope_trace::{Event, Fleet};

mod course;
mod history;

pub use history::History;

/// The runs of the window have at most this share of the memory before they are folded anew: while that is done there are old and new
/// ones, the events of the last parts, and what lists have reserved for more.
const FULL: u64 = 3;

/// The parts that are there for new ones have at most this share of it.
const ANEW: u64 = 8;

/// A part has this share of it.
const PART: u64 = 64;

/// Events that go by on their way to the window.
type Chunk = Arc<[Event]>;

/// Sees to it that the runs of a window stay below so many bytes.
pub(super) struct MemoryBound {
    memory: u64,
    history: History,
    /// The last parts; the one that grows is the last.
    parts: VecDeque<Part>,
    /// Bytes of the runs of the window, about.
    shown: u64,
    folding: Option<Folding>,
    /// What the window was given last, while it has not taken it in.
    given: Weak<()>,
}

/// A stretch of time of which all events are there.
#[derive(Clone, Default)]
struct Part {
    number: u32,
    /// How the runs stood where it begins.
    state: Vec<Event>,
    chunks: Vec<Chunk>,
    bytes: u64,
}

/// Runs that are folded anew.
struct Folding {
    /// What is passed on meanwhile.
    events: Sender<Chunk>,
    /// They have caught up.
    ready: Receiver<Folded>,
    /// Bytes of them, about.
    bytes: u64,
}

/// Runs that have caught up, but for what has come since.
struct Folded {
    fleet: Fleet,
    landmarks: Vec<Landmarks>,
    rest: Receiver<Chunk>,
}

impl MemoryBound {
    /// For a window whose runs may have so many bytes.
    pub fn new(memory: u64) -> Self {
        Self {
            memory,
            history: History::new(memory),
            parts: VecDeque::from([Part::default()]),
            shown: 0,
            folding: None,
            given: Weak::new(),
        }
    }

    /// Hears what is passed on to the window right after this.
    pub fn hear(&mut self, events: &[Event]) {
        let bytes: u64 = events.iter().map(Event::bytes_in_run).sum();
        self.history.hear(events, self.first());
        self.shown += bytes;
        let chunk: Chunk = events.into();
        if let Some(folding) = &mut self.folding {
            folding.bytes += bytes;
            let _ = folding.events.send(Arc::clone(&chunk));
        }
        if let Some(part) = self.parts.back_mut() {
            part.bytes += bytes;
            part.chunks.push(chunk);
        }
        if self
            .parts
            .back()
            .is_some_and(|p| p.bytes >= self.memory / PART)
        {
            self.next_part();
        }
        // A window that takes nothing in, because it is hidden say, would be given one after the other.
        let is_waiting = self.folding.is_some() || self.given.strong_count() > 0;
        if !is_waiting && self.shown >= self.memory / FULL {
            self.fold();
        }
    }

    /// The runs in whose place new ones are to be put before anything else is passed on; `None` if there are none.
    pub fn renewed(&mut self) -> Option<Renewed> {
        let folding = self.folding.as_ref()?;
        let folded = match folding.ready.try_recv() {
            Ok(folded) => folded,
            Err(TryRecvError::Empty) => return None,
            // The thread has failed. Another one may not.
            Err(TryRecvError::Disconnected) => {
                self.folding = None;
                return None;
            }
        };
        self.shown = folding.bytes;
        self.folding = None;
        let on_its_way = Arc::new(());
        self.given = Arc::downgrade(&on_its_way);
        Some(folded.finish(on_its_way))
    }

    /// Number of the first part that is there.
    fn first(&self) -> u32 {
        self.parts.front().map_or(0, |part| part.number)
    }

    fn next_part(&mut self) {
        let (number, state) = self.history.cut(self.first());
        self.parts.push_back(Part {
            number,
            state,
            ..Part::default()
        });
        let most = self.memory / ANEW;
        while self.parts.len() > 1 && self.parts.iter().map(|p| p.bytes).sum::<u64>() > most {
            self.parts.pop_front();
        }
    }

    /// Begins to fold the runs anew. Without a thread they stay as they are, and it is tried again with the next events.
    fn fold(&mut self) {
        let parts: Vec<Part> = self.parts.iter().cloned().collect();
        let past = self.history.before(self.first());
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let (events, rest) = unbounded();
        let (done, ready) = bounded(1);
        let job = move || {
            if let Some(folded) = fold(past, parts, rest) {
                let _ = done.send(folded);
            }
        };
        let thread = Builder::new().name("memory".to_owned()).spawn(job);
        self.folding = thread.is_ok().then_some(Folding {
            events,
            ready,
            bytes,
        });
    }
}

/// Bytes of memory that this host has; `None` if it does not say.
pub fn memory_of_host() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib.saturating_mul(1024))
}

/// Folds until everything is taken in that was passed on so far; `None` if it is not wanted any more.
fn fold(past: Vec<Event>, parts: Vec<Part>, rest: Receiver<Chunk>) -> Option<Folded> {
    let mut fleet = Fleet::default();
    past.iter().for_each(|event| fleet.apply(event));
    drop(past);
    let mut is_first = true;
    for part in parts {
        if std::mem::take(&mut is_first) {
            part.state.iter().for_each(|event| fleet.apply(event));
        }
        let chunks = part.chunks.iter();
        chunks.for_each(|chunk| take(&mut fleet, chunk));
    }
    let mut landmarks = Vec::new();
    loop {
        match rest.try_recv() {
            Ok(chunk) => take(&mut fleet, &chunk),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                let is_known = !landmarks.is_empty();
                follow(&fleet, &mut landmarks);
                // To work out the landmarks takes a while; what has come meanwhile does not.
                if is_known {
                    break;
                }
            }
        }
    }
    Some(Folded {
        fleet,
        landmarks,
        rest,
    })
}

fn take(fleet: &mut Fleet, events: &[Event]) {
    events.iter().for_each(|event| fleet.apply(event));
}

/// Brings the landmarks of all runs up to date. A run that has come since has its place among them by its id.
fn follow(fleet: &Fleet, landmarks: &mut Vec<Landmarks>) {
    if landmarks.len() != fleet.runs().len() {
        *landmarks = vec![Landmarks::default(); fleet.runs().len()];
    }
    let all = fleet.runs().zip(landmarks);
    all.for_each(|((_, run), landmarks)| landmarks.follow(run));
}

impl Folded {
    /// Takes in what has come since.
    fn finish(mut self, on_its_way: Arc<()>) -> Renewed {
        for chunk in self.rest.try_iter() {
            take(&mut self.fleet, &chunk);
        }
        follow(&self.fleet, &mut self.landmarks);
        let all = self.fleet.into_runs().zip(self.landmarks);
        let all = all.map(|((id, run), landmarks)| (id, run, landmarks));
        Renewed {
            runs: all.collect(),
            on_its_way,
        }
    }
}

#[cfg(test)]
mod tests;
