//! Merge of the streams of a program's processes into events.
//!
//! The main process knows batches, and a worker only knows the number of its fetches. Index queues are first in, first out. The k-th fetch
//! of a worker in an epoch is therefore the k-th task dispatched to it in that epoch. Its process id identifies the worker. A record
//! without a known batch is queued. A record whose batch can never be known is counted as lost.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use loadscope_trace::{
    BatchId, Event, EventKind, Lane, Level, Message, Nanos, RunId, Stage, WorkerId,
};

use crate::wire::{Fetch, Introduction, Outcome, Record};

mod about;
mod effects;
mod facts;
mod failing;
mod fetched;
mod main_process;
mod prune;
mod step;
mod worker;
mod worker_pool;

pub use effects::Effects;
use worker_pool::WorkerPool;

/// Maximum number of queued records of workers, which wait for records of the main process.
const MAX_QUEUED: usize = 200_000;

/// Maximum size of the queued records, bytes.
const MAX_QUEUED_BYTES: usize = 256 << 20;

/// Calls of [`Join::events`] after which the error of a batch is reported without details from its worker.
const MAX_POLLS_FOR_DETAILS: u32 = 5;

/// Id of the stream of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u32);

/// A process of the recorded program, as part of a loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Process id.
    pub pid: u64,
    /// Run of its loader.
    pub run: RunId,
    /// Worker number. `None` for the main process.
    pub worker: Option<WorkerId>,
}

/// Main process, iterator and number of a worker.
#[derive(Clone, Copy, Debug)]
struct Place {
    stream: StreamId,
    iterator: u32,
    worker: WorkerId,
}

struct Stream {
    introduction: Introduction,
    /// Offset of its clock to the clock of the first stream, ns.
    shift: i64,
    /// True if its host or boot differs from those of the first stream.
    is_elsewhere: bool,
    runs: HashMap<u32, RunId>,
    pools: HashMap<u32, WorkerPool>,
    place: Option<Place>,
    queued: VecDeque<Record>,
    last: i64,
    said_bye: bool,
    /// True after its end. A closed stream is kept while records are queued or workers run.
    closed: bool,
    lost: u64,
}

impl Stream {
    /// Extends the life of a process without a `bye` to `now` on the clock of the first stream. Skips other hosts, which have other clocks.
    fn lives_until(&mut self, now: Option<i64>) {
        if let Some(now) = now.filter(|_| !self.said_bye && !self.is_elsewhere) {
            self.last = self.last.max(now);
        }
    }
}

/// An error that the main process reported. The worker can still report the failed sample.
struct Failure {
    main: StreamId,
    iterator: u32,
    at: Nanos,
    run: RunId,
    batch: BatchId,
    text: String,
    polls: u32,
}

/// Merge of the streams of a program into events. The events are not sorted by time: [`loadscope_trace::Sorter`] sorts them.
#[derive(Default)]
pub struct Join {
    streams: BTreeMap<StreamId, Stream>,
    /// Announced workers whose place has not been assigned to a stream, by host and process id.
    announced: HashMap<(String, u64), Place>,
    runs: u32,
    /// Zero of the event time, on the clock of the first stream, ns. `None` before the first loader.
    zero: Option<i64>,
    first: Option<Introduction>,
    /// Number of lost records that belong to no known loader.
    lost: u64,
    queued: usize,
    queued_bytes: usize,
    failures: Vec<Failure>,
    newest: Nanos,
    out: Vec<Event>,
    /// New processes since the last call of `take_new_processes`.
    new_processes: Vec<Introduction>,
    /// Ids of all processes that introduced themselves.
    pids: BTreeSet<u64>,
    /// Names of libraries in the program that load data without a `DataLoader`.
    other_libraries: BTreeSet<String>,
    /// True if the recording ended before the program. A missing `bye` then is not a crash.
    is_detached: bool,
    effects: Effects,
}

impl Join {
    /// Returns the effects of the request on the program so far.
    pub fn effects(&self) -> &Effects {
        &self.effects
    }

    /// Ends the recording of a program that continues to run. `now` is the time on the clock of the program.
    pub fn detach(&mut self, now: Option<i64>) {
        self.is_detached = true;
        for stream in self.streams.values_mut().filter(|s| !s.closed) {
            stream.lives_until(now);
        }
    }

    /// Opens the stream of a process. Records for an unopened stream are ignored.
    pub fn open(&mut self, id: StreamId, introduction: Introduction) {
        if self.pids.insert(introduction.pid) && !self.pids.contains(&introduction.parent) {
            self.new_processes.push(introduction.clone());
        }
        // Processes of one host share the monotonic clock until a reboot. Other hosts are aligned by their wall clocks.
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
            pools: HashMap::new(),
            place: None,
            queued: VecDeque::new(),
            said_bye: false,
            closed: false,
            lost: 0,
        };
        self.streams.insert(id, stream);
    }

    /// Adds a record of a process. The record of a worker is queued until its batch is known.
    pub fn push(&mut self, id: StreamId, record: Record) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        stream.last = stream.last.max(record.at());
        if record.is_of_worker() {
            self.queued += 1;
            self.queued_bytes += record.weight();
            stream.queued.push_back(record);
            self.apply_queued(id);
            if self.queued > MAX_QUEUED || self.queued_bytes > MAX_QUEUED_BYTES {
                self.drop_largest_queue();
            }
            return;
        }
        let is_news = matches!(
            record,
            Record::Dispatch { .. } | Record::Workers { .. } | Record::Epoch { .. }
        );
        self.apply_main(id, record);
        if is_news {
            self.apply_all_queued(id);
        }
    }

    /// Counts an invalid line of a process as lost.
    pub fn count_invalid_line(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get(&id) else {
            return;
        };
        let at = stream.last;
        self.push(id, Record::Lost { at, count: 1 });
    }

    /// Closes the stream of a process.
    pub fn close(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.closed = true;
        }
        self.apply_queued(id);
        self.sweep();
    }

    /// Closes the stream of a process whose connection ended. Without a `bye`, the process lived until `now` on the clock of the program.
    pub fn disconnect(&mut self, id: StreamId, now: Option<i64>) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.lives_until(now);
        }
        self.close(id);
    }

    /// Removes closed streams. A stream with queued records is kept: the records of a worker can precede those of its main process.
    /// A main process with open workers is kept too: they can outlive a main process that was killed.
    fn sweep(&mut self) {
        let has_workers = |id: StreamId| {
            let mut others = self.streams.values();
            others.any(|s| !s.closed && s.place.is_some_and(|place| place.stream == id))
        };
        let over = |id: &StreamId, s: &Stream| s.closed && s.queued.is_empty() && !has_workers(*id);
        let ids = self.streams.iter().filter(|(id, s)| over(id, s));
        let ids: Vec<StreamId> = ids.map(|(id, _)| *id).collect();
        for id in ids {
            self.report_failures(|failure| failure.main == id);
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
            if !stream.said_bye && !self.is_detached {
                let text =
                    "The program was killed or crashed. Everything up to that point was recorded.";
                self.message(at, run, Level::Warning, text.to_owned());
            }
            self.event(at, run, EventKind::RunEnded);
        }
    }

    /// Ends the merge: closes all streams and counts queued records without a batch as lost.
    pub fn finish(&mut self) {
        let ids: Vec<StreamId> = self.streams.keys().copied().collect();
        for id in &ids {
            self.apply_queued(*id);
        }
        for id in ids {
            self.drop_queued(id);
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

    /// Returns the events since the last call.
    pub fn events(&mut self) -> std::vec::Drain<'_, Event> {
        for failure in &mut self.failures {
            failure.polls += 1;
        }
        self.report_failures(|failure| failure.polls > MAX_POLLS_FOR_DETAILS);
        self.out.drain(..)
    }

    /// Returns the processes that introduced themselves since the last call, except children of known processes.
    pub fn take_new_processes(&mut self) -> Vec<Introduction> {
        std::mem::take(&mut self.new_processes)
    }

    /// Returns the ids of all processes that introduced themselves.
    pub fn pids(&self) -> &BTreeSet<u64> {
        &self.pids
    }

    /// Returns the names of libraries in the program that load data without a `DataLoader`.
    pub fn other_libraries(&self) -> impl Iterator<Item = &str> {
        self.other_libraries.iter().map(String::as_str)
    }

    /// Returns the number of loaders.
    pub fn loaders(&self) -> u32 {
        self.runs
    }

    /// Converts an instant on the clock of the first stream, ns, to event time. Returns `None` before the first loader.
    pub fn time_of(&self, monotonic: i64) -> Option<Nanos> {
        self.zero
            .map(|zero| Nanos(monotonic.saturating_sub(zero).max(0)))
    }

    /// Returns the main process of each loader and the workers that run.
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
            for pool in stream.pools.values() {
                processes.extend(pool.running().map(|(worker, pid)| Process {
                    pid,
                    run: pool.run,
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

/// Returns the run of the first loader of a process.
fn run_of(stream: &Stream) -> Option<RunId> {
    stream.runs.values().min().copied()
}

/// Returns the lane of a measurement of a process. Returns `None` for the main process.
pub(crate) fn lane(process: &Process) -> Option<Lane> {
    process.worker.map(Lane::Worker)
}
