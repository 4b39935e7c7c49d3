//! Puts the streams of a program's processes together.
//!
//! The main process knows batches, a worker knows only its k-th fetch. Index queues are first in, first out, so the k-th fetch of a
//! worker in an epoch is the k-th task it was given in that epoch; its process id says which worker it is. What cannot be put
//! in its place yet waits; what never can is counted.

use std::collections::{BTreeMap, HashMap, VecDeque};

use loadscope_trace::{
    BatchId, EndReason, Event, EventKind, Lane, Level, Message, Nanos, RunId, Stage, WorkerId,
    WorkerInfo,
};

use crate::wire::{Arrival, Fetch, Introduction, Outcome, Record, Where};

mod about;
mod crew;
mod fetched;

use crew::{Crew, Found};

/// Records of workers that wait for what the main process says, at most.
const MOST_HELD: usize = 200_000;

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

/// Puts streams together. Events come out in no particular order of time ([`loadscope_trace::Sorter`]).
#[derive(Default)]
pub struct Join {
    streams: BTreeMap<StreamId, Stream>,
    /// Workers that were announced and have not spoken, by machine and process id.
    announced: HashMap<(String, u64), Place>,
    runs: u32,
    /// The instant that the events count from, on the clock of the first stream, ns.
    zero: Option<i64>,
    first: Option<Introduction>,
    /// Lost before the loader was known.
    lost: u64,
    held: usize,
    out: Vec<Event>,
}

impl Join {
    /// A process begins to tell.
    pub fn open(&mut self, id: StreamId, introduction: Introduction) {
        let shift = match &self.first {
            // Clocks of one machine agree as long as it is not started anew; others are compared by the wall clock.
            Some(first)
                if (&first.boot, &first.host) != (&introduction.boot, &introduction.host) =>
            {
                introduction.wall_ahead().saturating_sub(first.wall_ahead())
            }
            _ => 0,
        };
        if self.first.is_none() {
            self.first = Some(introduction.clone());
        }
        let stream = Stream {
            last: introduction.monotonic,
            introduction,
            shift,
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
        if is_of_worker(&record) {
            stream.held.push_back(record);
            self.held += 1;
            self.place_held(id);
            if self.held > MOST_HELD {
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

    /// A process has ended, or nobody hears it any more.
    pub fn close(&mut self, id: StreamId) {
        self.place_held(id);
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        // What a worker said may come before what its main process says of it.
        stream.closed = true;
        if !stream.held.is_empty() {
            return;
        }
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        let at = self.time(&stream, stream.last);
        let mut runs: Vec<RunId> = stream.runs.drain().map(|(_, run)| run).collect();
        runs.sort_unstable();
        for run in runs {
            if !stream.said_bye {
                let text = "The program ended without saying so: it was killed, or it crashed. Everything up to then is here";
                self.message(at, run, Level::Warning, text.to_owned());
            }
            self.event(at, run, EventKind::RunEnded);
        }
    }

    /// Everything that was told has been told.
    pub fn finish(&mut self) {
        let ids: Vec<StreamId> = self.streams.keys().copied().collect();
        for id in &ids {
            self.place_held(*id);
        }
        for id in ids {
            self.drop_held(id);
            self.close(id);
        }
        if self.lost > 0 && self.runs > 0 {
            let count = std::mem::take(&mut self.lost);
            self.event(Nanos(i64::MAX >> 1), RunId(0), EventKind::Dropped { count });
        }
    }

    /// The events that came of it since the last time.
    pub fn events(&mut self) -> std::vec::Drain<'_, Event> {
        self.out.drain(..)
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

    /// What the main process says.
    fn of_main(&mut self, id: StreamId, record: Record) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        self.of_stream(id, &mut stream, record);
        self.streams.insert(id, stream);
    }

    fn of_stream(&mut self, id: StreamId, stream: &mut Stream, record: Record) {
        if let Record::Loader { at, loader, about } = record {
            self.zero.get_or_insert(at.saturating_add(stream.shift));
            let run = RunId(self.runs);
            self.runs += 1;
            stream.runs.insert(loader, run);
            let started = self.time(stream, at);
            let mut info = about::info(&about, &stream.introduction);
            info.started_unix_ns = at.saturating_add(stream.introduction.wall_ahead());
            info.started_unix_ns = info.started_unix_ns.saturating_sub(started.0);
            self.event(started, run, EventKind::RunStarted(Box::new(info)));
            let lost = std::mem::take(&mut stream.lost);
            if lost > 0 {
                self.event(started, run, EventKind::Dropped { count: lost });
            }
            return;
        }
        let at = self.time(stream, record.at());
        match record {
            Record::Epoch {
                loader,
                iterator,
                epoch,
                ..
            } => {
                let Some(run) = stream.runs.get(&loader).copied() else {
                    self.lost += 1;
                    return;
                };
                let crew = stream
                    .crews
                    .entry(iterator)
                    .or_insert_with(|| Crew::new(run));
                crew.begin(epoch);
                self.event(at, run, EventKind::EpochStarted { epoch });
            }
            Record::Lost { count, .. } => self.count_lost(id, stream, at, count),
            Record::Trouble { text, .. } => {
                let text = format!("The probe could not tell something: {text}");
                match run_of(stream) {
                    Some(run) => self.message(at, run, Level::Warning, text),
                    None => self.lost += 1,
                }
            }
            Record::Bye { .. } => stream.said_bye = true,
            record => self.of_iterator(id, stream, at, record),
        }
    }

    fn count_lost(&mut self, id: StreamId, stream: &mut Stream, at: Nanos, count: u64) {
        let run = run_of(stream).or_else(|| self.run_of_worker(id, stream));
        match run {
            Some(run) => self.event(at, run, EventKind::Dropped { count }),
            None => stream.lost = stream.lost.saturating_add(count),
        }
    }

    fn run_of_worker(&self, _: StreamId, stream: &Stream) -> Option<RunId> {
        let place = stream.place?;
        let main = self.streams.get(&place.stream)?;
        main.crews.get(&place.iterator).map(|crew| crew.run)
    }

    /// What the main process says of one of its iterators.
    fn of_iterator(&mut self, id: StreamId, stream: &mut Stream, at: Nanos, record: Record) {
        let Some(iterator) = iterator_of(&record) else {
            return;
        };
        let Some(crew) = stream.crews.get_mut(&iterator) else {
            self.lost += 1;
            return;
        };
        let run = crew.run;
        let id_of = |epoch, batch| BatchId { epoch, idx: batch };
        match record {
            Record::Workers { workers, .. } => {
                for (worker, (pid, seed)) in workers.into_iter().enumerate() {
                    let worker = worker as WorkerId;
                    crew.joined(worker, pid);
                    let key = (stream.introduction.host.clone(), pid);
                    self.announced.insert(
                        key,
                        Place {
                            stream: id,
                            iterator,
                            worker,
                        },
                    );
                    let seed = seed.unwrap_or_default();
                    let info = WorkerInfo {
                        worker,
                        seed,
                        os_id: Some(pid),
                    };
                    self.out.push(Event {
                        at,
                        run,
                        kind: EventKind::WorkerStarted(Box::new(info)),
                    });
                }
            }
            Record::Dispatch {
                epoch,
                batch,
                worker,
                count,
                indices,
                ..
            } => {
                if let Some(worker) = worker {
                    crew.dispatched(epoch, worker, count, batch, &indices);
                } else {
                    crew.fetching_itself(&indices);
                }
                self.event(
                    at,
                    run,
                    EventKind::dispatched(id_of(epoch, batch), worker, indices),
                );
            }
            Record::Wait { .. } => self.event(at, run, EventKind::Consumer { waiting: true }),
            Record::Arrive {
                epoch,
                batch,
                how,
                pinned,
                ..
            } => {
                let batch = id_of(epoch, batch);
                if let Some((start, end)) = pinned {
                    let (start, end) = (self.time(stream, start), self.time(stream, end));
                    self.enter(start, run, batch, Stage::Pinning);
                    self.enter(end, run, batch, Stage::Returning);
                }
                let stage = match how {
                    Arrival::Ready => Stage::Ready,
                    Arrival::Held => Stage::Held,
                    Arrival::End => Stage::Discarded,
                };
                self.enter(at, run, batch, stage);
            }
            Record::Ready { epoch, batch, .. } => {
                self.enter(at, run, id_of(epoch, batch), Stage::Ready)
            }
            Record::Yield { epoch, batch, .. } => {
                self.enter(at, run, id_of(epoch, batch), Stage::Training)
            }
            Record::Gone { epoch, batch, .. } => {
                self.enter(at, run, id_of(epoch, batch), Stage::Discarded)
            }
            Record::Pin { epoch, batch, .. } => {
                self.enter(at, run, id_of(epoch, batch), Stage::Pinning)
            }
            Record::Fail {
                epoch, batch, text, ..
            } => {
                let batch = batch.map(|batch| id_of(epoch, batch));
                self.failed(stream, iterator, at, batch, text);
            }
            Record::EndEpoch { epoch, .. } => {
                crew.end(epoch);
                self.event(at, run, EventKind::EpochEnded { epoch });
            }
            Record::Left { workers, .. } => {
                for (worker, code) in workers {
                    let Some(pid) = crew.left(worker) else {
                        continue;
                    };
                    self.left(at, run, worker, pid, code);
                }
            }
            Record::Begin { of, .. } => {
                if let Some(batch) = known(of) {
                    self.enter(at, run, batch, Stage::Fetching);
                }
            }
            Record::Collate { of, .. } => {
                if let Some(batch) = known(of) {
                    self.enter(at, run, batch, Stage::Collating);
                }
            }
            Record::Content { of, fields, .. } => {
                if let Some(batch) = known(of) {
                    self.content(at, run, batch, fields);
                }
            }
            Record::Fetch(fetch) => {
                if let Some(batch) = known(fetch.of) {
                    let indices = crew.indices_itself();
                    let failed = self.fetched(stream, run, batch, None, &indices, &fetch);
                    if let Some(crew) = stream.crews.get_mut(&iterator) {
                        crew.note_failed(failed);
                    }
                }
            }
            _ => {}
        }
    }

    fn failed(
        &mut self,
        stream: &mut Stream,
        iterator: u32,
        at: Nanos,
        batch: Option<BatchId>,
        text: String,
    ) {
        let Some(crew) = stream.crews.get_mut(&iterator) else {
            return;
        };
        let run = crew.run;
        let (worker, sample) = batch.map_or((None, None), |batch| crew.failure(batch));
        match batch {
            Some(batch) => self.enter(at, run, batch, Stage::Failed),
            None => self.event(at, run, EventKind::Consumer { waiting: false }),
        }
        let message = Message {
            level: Level::Error,
            text,
            about: batch,
            worker,
            sample,
        };
        self.event(at, run, EventKind::Message(Box::new(message)));
    }

    fn left(&mut self, at: Nanos, run: RunId, worker: WorkerId, pid: u64, code: i64) {
        // PyTorch itself terminates a worker that does not end in time.
        let reason = match code {
            0 | -15 => EndReason::Finished,
            _ => EndReason::Died,
        };
        self.event(at, run, EventKind::WorkerEnded { worker, reason });
        if reason == EndReason::Died {
            let how = match code {
                ..0 => format!("was killed by signal {}", code.unsigned_abs()),
                _ => format!("ended with code {code}"),
            };
            let text = format!("Worker {worker} (process {pid}) {how}");
            let worker = Some(worker);
            let message = Message {
                level: Level::Error,
                text,
                about: None,
                worker,
                sample: None,
            };
            self.event(at, run, EventKind::Message(Box::new(message)));
        }
    }

    /// Puts what workers of a main process said in its place, as far as that is known now.
    fn place_all(&mut self, main: StreamId) {
        if self.held == 0 {
            return;
        }
        let waits =
            |s: &Stream| !s.held.is_empty() && s.place.is_none_or(|place| place.stream == main);
        let ids: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, s)| waits(s))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            self.place_held(id);
        }
    }

    fn place_held(&mut self, id: StreamId) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        if stream.place.is_none() && !stream.held.is_empty() {
            let key = (stream.introduction.host.clone(), stream.introduction.pid);
            stream.place = self.announced.remove(&key);
        }
        if let Some(place) = stream.place {
            while let Some(record) = stream.held.front() {
                let main = self.streams.get_mut(&place.stream);
                let found = main
                    .and_then(|main| main.crews.get_mut(&place.iterator))
                    .map_or(Found::Never, |crew| crew.find(place.worker, record));
                if matches!(found, Found::NotYet) {
                    break;
                }
                let Some(record) = stream.held.pop_front() else {
                    break;
                };
                self.held -= 1;
                self.of_worker(&mut stream, place, found, record);
            }
        }
        if !stream.closed || !stream.held.is_empty() || !stream.runs.is_empty() {
            self.streams.insert(id, stream);
        }
    }

    fn of_worker(&mut self, stream: &mut Stream, place: Place, found: Found, record: Record) {
        let Found::Batch {
            run,
            batch,
            indices,
        } = found
        else {
            if matches!(found, Found::Never) {
                self.lost += 1;
            }
            return;
        };
        let at = self.time(stream, record.at());
        match record {
            Record::Begin { .. } => self.enter(at, run, batch, Stage::Fetching),
            Record::Collate { .. } => self.enter(at, run, batch, Stage::Collating),
            Record::Content { fields, .. } => self.content(at, run, batch, fields),
            Record::Fetch(fetch) => {
                let failed = self.fetched(stream, run, batch, Some(place.worker), &indices, &fetch);
                let main = self.streams.get_mut(&place.stream);
                if let Some(crew) = main.and_then(|main| main.crews.get_mut(&place.iterator)) {
                    crew.note_failed(failed);
                }
            }
            _ => {}
        }
    }

    /// Too much waits: the stream that holds most will not be understood any more.
    fn give_up_on_longest(&mut self) {
        let longest = self.streams.iter().max_by_key(|(_, s)| s.held.len());
        if let Some(id) = longest.map(|(id, _)| *id) {
            self.drop_held(id);
        }
    }

    fn drop_held(&mut self, id: StreamId) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        let count = stream.held.len();
        stream.held.clear();
        self.held -= count;
        if count > 0 {
            let at = self.time(&stream, stream.last);
            self.count_lost(id, &mut stream, at, count as u64);
            self.lost = self.lost.saturating_add(std::mem::take(&mut stream.lost));
        }
        self.streams.insert(id, stream);
    }
}

/// The first loader of a process.
fn run_of(stream: &Stream) -> Option<RunId> {
    stream.runs.values().min().copied()
}

fn is_of_worker(record: &Record) -> bool {
    let of = match record {
        Record::Fetcher { .. } => return true,
        Record::Begin { of, .. } | Record::Collate { of, .. } | Record::Content { of, .. } => *of,
        Record::Fetch(fetch) => fetch.of,
        _ => return false,
    };
    matches!(of, Where::Worker { .. })
}

fn known(of: Where) -> Option<BatchId> {
    match of {
        Where::Batch { epoch, batch, .. } => Some(BatchId { epoch, idx: batch }),
        Where::Worker { .. } => None,
    }
}

fn iterator_of(record: &Record) -> Option<u32> {
    Some(match record {
        Record::Workers { iterator, .. }
        | Record::Dispatch { iterator, .. }
        | Record::Wait { iterator, .. }
        | Record::Arrive { iterator, .. }
        | Record::Ready { iterator, .. }
        | Record::Yield { iterator, .. }
        | Record::Gone { iterator, .. }
        | Record::Fail { iterator, .. }
        | Record::EndEpoch { iterator, .. }
        | Record::Left { iterator, .. }
        | Record::Pin { iterator, .. } => *iterator,
        Record::Begin { of, .. } | Record::Collate { of, .. } | Record::Content { of, .. } => {
            return of_batch(*of);
        }
        Record::Fetch(fetch) => return of_batch(fetch.of),
        _ => return None,
    })
}

fn of_batch(of: Where) -> Option<u32> {
    match of {
        Where::Batch { iterator, .. } => Some(iterator),
        Where::Worker { .. } => None,
    }
}

/// The lane that a measurement of a process belongs to.
pub(crate) fn lane(process: &Process) -> Option<Lane> {
    process.worker.map(Lane::Worker)
}
