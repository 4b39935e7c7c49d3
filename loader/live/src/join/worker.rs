//! Assignment of workers' records to batches.

use super::worker_pool::BatchLookup;
use super::{Join, Place, Stream, StreamId};
use crate::wire::Record;
use loadscope_trace::{EventKind, RandomStates, Stage};

impl Join {
    /// Processes queued records of workers of a main process, as far as their batches are known now.
    pub(super) fn apply_all_queued(&mut self, main: StreamId) {
        if self.queued == 0 {
            return;
        }
        let waits =
            |s: &Stream| !s.queued.is_empty() && s.place.is_none_or(|place| place.stream == main);
        let ids: Vec<StreamId> = self
            .streams
            .iter()
            .filter(|(_, s)| waits(s))
            .map(|(id, _)| *id)
            .collect();
        for id in ids {
            self.apply_queued(id);
        }
    }

    pub(super) fn apply_queued(&mut self, id: StreamId) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        if stream.place.is_none() && !stream.queued.is_empty() {
            let key = (stream.introduction.host.clone(), stream.introduction.pid);
            stream.place = self.announced.remove(&key);
        }
        if let Some(place) = stream.place {
            while let Some(record) = stream.queued.front() {
                let main = self.streams.get_mut(&place.stream);
                let found = main
                    .and_then(|main| main.pools.get_mut(&place.iterator))
                    .map_or(BatchLookup::Never, |pool| pool.find(place.worker, record));
                if matches!(found, BatchLookup::NotYet) {
                    break;
                }
                let Some(record) = stream.queued.pop_front() else {
                    break;
                };
                self.queued -= 1;
                self.queued_bytes -= record.weight();
                self.emit_generators(&stream, place, &record);
                self.apply_worker_fact(&stream, place, &record);
                self.apply_worker_record(&mut stream, place, found, record);
            }
        }
        self.streams.insert(id, stream);
    }

    /// Records the digests of a worker's random generators.
    fn emit_generators(&mut self, stream: &Stream, place: Place, record: &Record) {
        let Record::Fetcher {
            at,
            generators: Some(digests),
            ..
        } = record
        else {
            return;
        };
        let main = self.streams.get(&place.stream);
        let Some(pool) = main.and_then(|main| main.pools.get(&place.iterator)) else {
            return;
        };
        let of = RandomStates {
            worker: place.worker,
            os_id: Some(stream.introduction.pid),
            numpy: digests.numpy,
            python: digests.python,
        };
        let (at, run) = (self.time(stream, *at), pool.run);
        self.event(at, run, EventKind::WorkerSeeded(Box::new(of)));
    }

    /// Processes a record of a worker whose batch was looked up. Counts the record as lost if the batch can never be known.
    fn apply_worker_record(
        &mut self,
        stream: &mut Stream,
        place: Place,
        found: BatchLookup,
        record: Record,
    ) {
        let BatchLookup::Batch {
            run,
            batch,
            indices,
        } = found
        else {
            if matches!(found, BatchLookup::Never) {
                self.lost += 1;
            }
            return;
        };
        let at = self.time(stream, record.at());
        match record {
            Record::Begin { .. } => self.enter(at, run, batch, Stage::Fetching),
            Record::Collate { .. } => self.enter(at, run, batch, Stage::Collating),
            Record::Content { fields, .. } => self.emit_content(at, run, batch, fields),
            Record::Fact(fact) => {
                let unfit = self.apply_batch_fact(at, run, batch, fact);
                let main = self.streams.get_mut(&place.stream);
                if let Some(pool) = main.and_then(|main| main.pools.get_mut(&place.iterator)) {
                    pool.set_mismatch_position(batch, unfit);
                }
            }
            Record::Fetch(fetch) => {
                let failed =
                    self.emit_fetched(stream, run, batch, Some(place.worker), &indices, &fetch);
                let main = self.streams.get_mut(&place.stream);
                if let Some(pool) = main.and_then(|main| main.pools.get_mut(&place.iterator)) {
                    pool.add_failure(failed, &indices);
                }
            }
            _ => {}
        }
    }

    /// Drops the queued records of the stream with the most bytes. These records count as lost.
    pub(super) fn drop_largest_queue(&mut self) {
        let weight = |s: &Stream| s.queued.iter().map(Record::weight).sum::<usize>();
        let longest = self.streams.iter().max_by_key(|(_, s)| weight(s));
        if let Some(id) = longest.map(|(id, _)| *id) {
            self.drop_queued(id);
        }
    }

    pub(super) fn drop_queued(&mut self, id: StreamId) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        let count = stream.queued.len();
        self.queued_bytes -= stream.queued.iter().map(Record::weight).sum::<usize>();
        stream.queued.clear();
        self.queued -= count;
        if count > 0 {
            let at = self.time(&stream, stream.last);
            self.count_lost(id, &mut stream, at, count as u64);
            self.lost = self.lost.saturating_add(std::mem::take(&mut stream.lost));
        }
        self.streams.insert(id, stream);
    }
}
