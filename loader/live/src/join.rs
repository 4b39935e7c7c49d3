//! Puts the streams of a program's processes together.
//!
//! The main process knows batches, a worker knows only its k-th fetch. Index queues are first in, first out, so the k-th fetch of a
//! worker in an epoch is the k-th task it was given in that epoch; its process id says which worker it is. What cannot be put
//! in its place yet waits; what never can is counted.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use loadscope_trace::{
    BatchId, Event, EventKind, Lane, Level, Message, Nanos, RunId, Stage, WorkerId,
};

use crate::wire::{Fetch, Introduction, Outcome, Record};

mod about;
mod crew;
mod effects;
mod failing;
mod fetched;
mod learned;
mod main_process;
mod prune;
mod step;
mod worker;

use crew::Crew;
pub use effects::Effects;

/// Records of workers that wait for what the main process says, at most.
const MOST_HELD: usize = 200_000;

/// Bytes that these hold at most.
const MOST_HELD_BYTES: usize = 256 << 20;

/// Calls of [`Join::events`] after which a worker has surely been heard whose last words its main process spoke of.
const WORDS_OF_WORKER: u32 = 5;

/// One stream: one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u32);

/// A process that is being told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u64,
    /// The loader it works for.
    pub run: RunId,
    /// The worker it is; `None` for the main process.
    pub worker: Option<WorkerId>,
}

/// Where a worker belongs.
#[derive(Clone, Copy, Debug)]
struct Place {
    stream: StreamId,
    iterator: u32,
    worker: WorkerId,
}

struct Stream {
    introduction: Introduction,
    /// What is added to its times, ns.
    shift: i64,
    /// On another host than the first one.
    is_elsewhere: bool,
    runs: HashMap<u32, RunId>,
    crews: HashMap<u32, Crew>,
    place: Option<Place>,
    held: VecDeque<Record>,
    last: i64,
    said_bye: bool,
    /// Nothing more will come; it stays for what waits for its place.
    closed: bool,
    lost: u64,
}

impl Stream {
    /// A process without a goodbye lived until `now` on the clock of the first one. Another host has another clock.
    fn lives_until(&mut self, now: Option<i64>) {
        if let Some(now) = now.filter(|_| !self.said_bye && !self.is_elsewhere) {
            self.last = self.last.max(now);
        }
    }
}

/// An error that the main process told, and whose worker may still say which sample it was.
struct Failure {
    main: StreamId,
    iterator: u32,
    at: Nanos,
    run: RunId,
    batch: BatchId,
    text: String,
    turns: u32,
}

/// Puts streams together. Events come out in no particular order of time ([`loadscope_trace::Sorter`]).
#[derive(Default)]
pub struct Join {
    streams: BTreeMap<StreamId, Stream>,
    /// Workers that were announced and have not spoken, by host and process id.
    announced: HashMap<(String, u64), Place>,
    runs: u32,
    /// The instant that the events count from, on the clock of the first stream, ns.
    zero: Option<i64>,
    first: Option<Introduction>,
    /// Lost before the loader was known.
    lost: u64,
    held: usize,
    held_bytes: usize,
    failures: Vec<Failure>,
    newest: Nanos,
    out: Vec<Event>,
    /// Processes that introduced themselves and were not asked for yet.
    reached: Vec<Introduction>,
    /// The ids of all of them.
    pids: BTreeSet<u64>,
    /// What loads data in the program and is no `DataLoader`.
    others: BTreeSet<String>,
    /// It is not heard any more, and goes on: that it says nothing of its end means nothing.
    goes_on: bool,
    effects: Effects,
}

impl Join {
    /// Effects of the request on the program so far.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// The recording ends at `now` on the clock of the program, which continues.
    pub fn let_go(&mut self, now: Option<i64>) {
        self.goes_on = true;
        for stream in self.streams.values_mut().filter(|s| !s.closed) {
            stream.lives_until(now);
        }
    }

    /// A process begins to tell.
    pub fn open(&mut self, id: StreamId, introduction: Introduction) {
        if self.pids.insert(introduction.pid) && !self.pids.contains(&introduction.parent) {
            self.reached.push(introduction.clone());
        }
        // Clocks of one host agree as long as it is not started anew; others are compared by the wall clock.
        let elsewhere = self
            .first
            .as_ref()
            .filter(|first| (&first.boot, &first.host) != (&introduction.boot, &introduction.host));
        let is_elsewhere = elsewhere.is_some();
        let shift = elsewhere.map_or(0, |first| {
            introduction.wall_ahead().saturating_sub(first.wall_ahead())
        });
        if self.first.is_none() {
            self.first = Some(introduction.clone());
        }
        let stream = Stream {
            last: introduction.monotonic,
            introduction,
            shift,
            is_elsewhere,
            runs: HashMap::new(),
            crews: HashMap::new(),
            place: None,
            held: VecDeque::new(),
            said_bye: false,
            closed: false,
            lost: 0,
        };
        self.streams.insert(id, stream);
    }

    /// A process tells something.
    pub fn tell(&mut self, id: StreamId, record: Record) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        stream.last = stream.last.max(record.at());
        if record.is_of_worker() {
            self.held += 1;
            self.held_bytes += record.weight();
            stream.held.push_back(record);
            self.place_held(id);
            if self.held > MOST_HELD || self.held_bytes > MOST_HELD_BYTES {
                self.give_up_on_longest();
            }
            return;
        }
        let is_news = matches!(
            record,
            Record::Dispatch { .. } | Record::Workers { .. } | Record::Epoch { .. }
        );
        self.of_main(id, record);
        if is_news {
            self.place_all(id);
        }
    }

    /// A line of this process was not understood.
    pub fn not_understood(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get(&id) else {
            return;
        };
        let at = stream.last;
        self.tell(id, Record::Lost { at, count: 1 });
    }

    /// A process has ended, or its stream is not read any more.
    pub fn close(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.closed = true;
        }
        self.place_held(id);
        self.sweep();
    }

    /// The connection of a process has ended at `now` on the clock of the program: without a goodbye, the process lived until then.
    pub fn hang_up(&mut self, id: StreamId, now: Option<i64>) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.lives_until(now);
        }
        self.close(id);
    }

    /// Lets go of what is closed. What a worker said may come before what its main process says of it, and its last words after
    /// those of a main process that was killed.
    fn sweep(&mut self) {
        let has_workers = |id: StreamId| {
            let mut others = self.streams.values();
            others.any(|s| !s.closed && s.place.is_some_and(|place| place.stream == id))
        };
        let over = |id: &StreamId, s: &Stream| s.closed && s.held.is_empty() && !has_workers(*id);
        let ids = self.streams.iter().filter(|(id, s)| over(id, s));
        let ids: Vec<StreamId> = ids.map(|(id, _)| *id).collect();
        for id in ids {
            self.tell_failures(|failure| failure.main == id);
            if let Some(stream) = self.streams.remove(&id) {
                self.end_runs(&stream);
            }
        }
    }

    fn end_runs(&mut self, stream: &Stream) {
        let at = self.time(stream, stream.last);
        let mut runs: Vec<RunId> = stream.runs.values().copied().collect();
        runs.sort_unstable();
        for run in runs {
            if !stream.said_bye && !self.goes_on {
                let text =
                    "The program was killed or crashed. Everything up to that point was recorded.";
                self.message(at, run, Level::Warning, text.to_owned());
            }
            self.event(at, run, EventKind::RunEnded);
        }
    }

    /// All events have been passed on.
    pub fn finish(&mut self) {
        let ids: Vec<StreamId> = self.streams.keys().copied().collect();
        for id in &ids {
            self.place_held(*id);
        }
        for id in ids {
            self.drop_held(id);
            if let Some(stream) = self.streams.get_mut(&id) {
                stream.closed = true;
            }
        }
        self.sweep();
        if self.lost > 0 && self.runs > 0 {
            let count = std::mem::take(&mut self.lost);
            self.event(self.newest, RunId(0), EventKind::Dropped { count });
        }
    }

    /// The events that came of it since the last time.
    pub fn events(&mut self) -> std::vec::Drain<'_, Event> {
        for failure in &mut self.failures {
            failure.turns += 1;
        }
        self.tell_failures(|failure| failure.turns > WORDS_OF_WORKER);
        self.out.drain(..)
    }

    /// Processes that introduced themselves since the last call, without children of such.
    pub fn reached(&mut self) -> Vec<Introduction> {
        std::mem::take(&mut self.reached)
    }

    /// The ids of all processes that introduced themselves.
    pub fn pids(&self) -> &BTreeSet<u64> {
        &self.pids
    }

    /// Names of what loads data in the program and is no `DataLoader`.
    pub fn others(&self) -> impl Iterator<Item = &str> {
        self.others.iter().map(String::as_str)
    }

    /// Number of loaders that introduced themselves.
    pub fn loaders(&self) -> u32 {
        self.runs
    }

    /// The time of an instant on the clock of the first stream, as events have it.
    pub fn time_of(&self, monotonic: i64) -> Option<Nanos> {
        self.zero
            .map(|zero| Nanos(monotonic.saturating_sub(zero).max(0)))
    }

    /// The processes that are being told of.
    pub fn processes(&self) -> Vec<Process> {
        let mut processes = Vec::new();
        for stream in self.streams.values() {
            let pid = stream.introduction.pid;
            for run in stream.runs.values() {
                processes.push(Process {
                    pid,
                    run: *run,
                    worker: None,
                });
            }
            for crew in stream.crews.values() {
                processes.extend(crew.running().map(|(worker, pid)| Process {
                    pid,
                    run: crew.run,
                    worker: Some(worker),
                }));
            }
        }
        processes
    }

    fn time(&self, stream: &Stream, at: i64) -> Nanos {
        let zero = self.zero.unwrap_or(at);
        Nanos(at.saturating_add(stream.shift).saturating_sub(zero).max(0))
    }

    fn event(&mut self, at: Nanos, run: RunId, kind: EventKind) {
        self.newest = self.newest.max(at);
        self.out.push(Event { at, run, kind });
    }

    fn enter(&mut self, at: Nanos, run: RunId, batch: BatchId, stage: Stage) {
        self.event(at, run, EventKind::Entered { batch, stage });
    }

    fn message(&mut self, at: Nanos, run: RunId, level: Level, text: String) {
        let message = Message {
            level,
            text,
            about: None,
            worker: None,
            sample: None,
        };
        self.event(at, run, EventKind::Message(Box::new(message)));
    }
}

/// The first loader of a process.
fn run_of(stream: &Stream) -> Option<RunId> {
    stream.runs.values().min().copied()
}

/// The lane that a measurement of a process belongs to.
pub(crate) fn lane(process: &Process) -> Option<Lane> {
    process.worker.map(Lane::Worker)
}
