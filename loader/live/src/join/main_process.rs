//! Records of the main process.

use loadscope_trace::{
    BatchId, Clock, ClockMethod, Event, EventKind, Level, Nanos, RunId, Stage, WorkerId, WorkerInfo,
};

use super::step::batch_id;
use super::worker_pool::WorkerPool;
use super::{Join, Place, Stream, StreamId, about, run_of};
use crate::wire::{About, Arrival, BatchRef, Record, Started};

/// Maximum number of workers: worker numbers are of type `WorkerId`.
const MOST_WORKERS: usize = WorkerId::MAX as usize + 1;

/// Maximum number of names of other libraries that load data.
const MAX_OTHER_LIBRARIES: usize = 32;

impl Join {
    /// Processes a record of the main process.
    pub(super) fn apply_main(&mut self, id: StreamId, record: Record) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        self.apply_stream_record(id, &mut stream, record);
        self.streams.insert(id, stream);
    }

    /// Processes a record about a loader, an epoch or the process itself. Passes all others on.
    fn apply_stream_record(&mut self, id: StreamId, stream: &mut Stream, record: Record) {
        if let Record::Loader { at, loader, about } = record {
            self.zero.get_or_insert(at.saturating_add(stream.shift));
            let run = RunId(self.runs);
            self.runs += 1;
            stream.runs.insert(loader, run);
            let started = self.time(stream, at);
            let mut info = about::info(&about, &stream.introduction);
            info.started_unix_ns = at.saturating_add(stream.introduction.wall_ahead());
            info.started_unix_ns = info.started_unix_ns.saturating_sub(started.0);
            info.clock = stream.is_elsewhere.then_some(Clock {
                by: ClockMethod::WallClock,
                within: None,
            });
            self.event(started, run, EventKind::RunStarted(Box::new(info)));
            self.emit_overrides(started, run, &about);
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
                self.prune(id, stream);
                let pool = stream
                    .pools
                    .entry(iterator)
                    .or_insert_with(|| WorkerPool::new(run));
                pool.begin(epoch);
                self.event(at, run, EventKind::EpochStarted { epoch });
            }
            Record::Lost { count, .. } => self.count_lost(id, stream, at, count),
            Record::Trouble { text, .. } => {
                let text = format!("The probe could not record an event: {text}");
                match run_of(stream) {
                    Some(run) => self.message(at, run, Level::Warning, text),
                    None => self.lost += 1,
                }
            }
            Record::Bye { .. } => stream.said_bye = true,
            Record::Fact(fact) if fact.batch_ref().is_none() => {
                self.apply_main_fact(stream, &fact);
            }
            Record::Other { name, .. } => {
                if self.other_libraries.len() < MAX_OTHER_LIBRARIES {
                    self.other_libraries.insert(name);
                }
            }
            record => self.apply_iterator_record(id, stream, at, record),
        }
    }

    /// Records the effects of the request on a loader.
    fn emit_overrides(&mut self, at: Nanos, run: RunId, about: &About) {
        self.effects.add(run, about);
        if !about.set.is_empty() {
            let text = format!("Loadscope set {}", about.set);
            self.message(at, run, Level::Info, text);
        }
        if !about.not_set.is_empty() {
            let text = format!(
                "This loader keeps the arguments of the program, because DataLoader rejected the new ones: {}",
                about.not_set
            );
            self.message(at, run, Level::Warning, text);
        }
    }

    pub(super) fn count_lost(&mut self, id: StreamId, stream: &mut Stream, at: Nanos, count: u64) {
        let run = run_of(stream).or_else(|| self.run_of_worker(id, stream));
        match run {
            Some(run) => self.event(at, run, EventKind::Dropped { count }),
            None => stream.lost = stream.lost.saturating_add(count),
        }
    }

    fn run_of_worker(&self, _: StreamId, stream: &Stream) -> Option<RunId> {
        let place = stream.place?;
        let main = self.streams.get(&place.stream)?;
        main.pools.get(&place.iterator).map(|pool| pool.run)
    }

    /// Processes a record about an iterator.
    fn apply_iterator_record(
        &mut self,
        id: StreamId,
        stream: &mut Stream,
        at: Nanos,
        record: Record,
    ) {
        let Some(iterator) = iterator_of(&record) else {
            return;
        };
        let Some(pool) = stream.pools.get_mut(&iterator) else {
            self.lost += 1;
            return;
        };
        let run = pool.run;
        match record {
            Record::Workers { workers, .. } => {
                self.emit_workers_started(id, stream, iterator, at, workers)
            }
            Record::Dispatch {
                epoch,
                batch,
                worker,
                count,
                indices,
                unnamed,
                ..
            } => {
                if unnamed {
                    self.event(at, run, EventKind::Dropped { count: 1 });
                }
                if let Some(worker) = worker {
                    pool.add_task(epoch, worker, count, batch, &indices);
                } else {
                    pool.set_main_indices(&indices);
                }
                self.event(
                    at,
                    run,
                    EventKind::dispatched(batch_id(epoch, batch), worker, indices),
                );
            }
            Record::Wait { .. } | Record::Yield { .. } | Record::Step { .. } => {
                self.apply_step_record(pool, at, record);
            }
            Record::Fail {
                epoch, batch, text, ..
            } => {
                let batch = batch.map(|batch| batch_id(epoch, batch));
                self.emit_batch_failed(id, stream, iterator, at, batch, text);
            }
            Record::Stop { .. } => {
                self.effects.stopped = true;
                let text = "Loadscope ends the program here: it raises SystemExit";
                self.message(at, run, Level::Info, text.to_owned());
            }
            Record::EndEpoch { epoch, .. } => {
                pool.end(epoch);
                self.event(at, run, EventKind::EpochEnded { epoch });
            }
            Record::Left { workers, .. } => self.emit_workers_ended(pool, at, workers),
            Record::Fetch(fetch) => {
                if let Some(batch) = batch_id_of(fetch.of) {
                    let indices = pool.take_main_indices();
                    let failed = self.emit_fetched(stream, run, batch, None, &indices, &fetch);
                    if let Some(pool) = stream.pools.get_mut(&iterator) {
                        pool.add_failure(failed, &indices);
                    }
                }
            }
            Record::Fact(fact) => {
                if let Some(batch) = fact.batch_ref().and_then(batch_id_of) {
                    let unfit = self.apply_batch_fact(at, run, batch, fact);
                    if let Some(pool) = stream.pools.get_mut(&iterator) {
                        pool.set_mismatch_position(batch, unfit);
                    }
                }
            }
            Record::Aside { .. } | Record::Device { .. } | Record::Raised { .. } => {
                self.apply_step_event(stream, run, at, record);
            }
            record => self.apply_batch_record(stream, run, at, record),
        }
    }

    /// Records the start of the workers of an iterator.
    fn emit_workers_started(
        &mut self,
        id: StreamId,
        stream: &mut Stream,
        iterator: u32,
        at: Nanos,
        workers: Vec<Started>,
    ) {
        let since = |started: &Started| started.at.map(|since| self.time(stream, since).min(at));
        let since: Vec<Option<Nanos>> = workers.iter().map(since).collect();
        let Some(pool) = stream.pools.get_mut(&iterator) else {
            return;
        };
        let run = pool.run;
        if let Some(more) = workers.len().checked_sub(MOST_WORKERS).filter(|n| *n > 0) {
            let count = more as u64;
            self.out.push(Event {
                at,
                run,
                kind: EventKind::Dropped { count },
            });
        }
        let workers = workers.into_iter().zip(since).take(MOST_WORKERS);
        for (worker, (Started { pid, seed, .. }, since)) in workers.enumerate() {
            let worker = worker as WorkerId;
            pool.add_worker(worker, pid);
            let key = (stream.introduction.host.clone(), pid);
            self.announced.insert(
                key,
                Place {
                    stream: id,
                    iterator,
                    worker,
                },
            );
            let info = WorkerInfo {
                worker,
                seed,
                os_id: Some(pid),
            };
            self.out.push(Event {
                at: since.unwrap_or(at),
                run,
                kind: EventKind::WorkerStarted(Box::new(info)),
            });
        }
    }

    /// Records the end of workers. Each has its exit code.
    fn emit_workers_ended(
        &mut self,
        pool: &mut WorkerPool,
        at: Nanos,
        workers: Vec<(WorkerId, i64)>,
    ) {
        for (worker, code) in workers {
            if let Some(pid) = pool.remove_worker(worker) {
                self.emit_worker_ended(at, pool.run, worker, pid, code);
            }
        }
    }

    /// Processes a record about the path of a batch.
    fn apply_batch_record(&mut self, stream: &Stream, run: RunId, at: Nanos, record: Record) {
        match record {
            Record::Arrive {
                epoch,
                batch,
                how,
                pinned,
                ..
            } => {
                let batch = batch_id(epoch, batch);
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
                self.enter(at, run, batch_id(epoch, batch), Stage::Ready)
            }
            Record::Gone { epoch, batch, .. } => {
                self.enter(at, run, batch_id(epoch, batch), Stage::Discarded)
            }
            Record::Pin { epoch, batch, .. } => {
                self.enter(at, run, batch_id(epoch, batch), Stage::Pinning)
            }
            Record::Begin { of, .. } => {
                if let Some(batch) = batch_id_of(of) {
                    self.enter(at, run, batch, Stage::Fetching);
                }
            }
            Record::Collate { of, .. } => {
                if let Some(batch) = batch_id_of(of) {
                    self.enter(at, run, batch, Stage::Collating);
                }
            }
            Record::Content { of, fields, .. } => {
                if let Some(batch) = batch_id_of(of) {
                    self.emit_content(at, run, batch, fields);
                }
            }
            _ => {}
        }
    }
}

fn batch_id_of(of: BatchRef) -> Option<BatchId> {
    match of {
        BatchRef::Batch { epoch, batch, .. } => Some(BatchId { epoch, idx: batch }),
        BatchRef::Worker { .. } => None,
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
        | Record::Step { iterator, .. }
        | Record::Aside { iterator, .. }
        | Record::Device { iterator, .. }
        | Record::Raised { iterator, .. }
        | Record::Gone { iterator, .. }
        | Record::Fail { iterator, .. }
        | Record::EndEpoch { iterator, .. }
        | Record::Stop { iterator, .. }
        | Record::Left { iterator, .. }
        | Record::Pin { iterator, .. } => *iterator,
        Record::Begin { of, .. } | Record::Collate { of, .. } | Record::Content { of, .. } => {
            return batch_iterator(*of);
        }
        Record::Fetch(fetch) => return batch_iterator(fetch.of),
        Record::Fact(fact) => return batch_iterator(fact.batch_ref()?),
        _ => return None,
    })
}

fn batch_iterator(of: BatchRef) -> Option<u32> {
    match of {
        BatchRef::Batch { iterator, .. } => Some(iterator),
        BatchRef::Worker { .. } => None,
    }
}
