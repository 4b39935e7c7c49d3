//! Assignment of workers' records to batches.

use super::worker_pool::Found;
use super::{Join, Place, Stream, StreamId};
use crate::wire::Record;
use loadscope_trace::{EventKind, RandomStates, Stage};

impl Join {
    /// Processes queued records of workers of a main process, as far as their batches are known now.
    pub(super) fn place_all(&mut self, main: StreamId) {
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

    pub(super) fn place_held(&mut self, id: StreamId) {
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
                    .and_then(|main| main.pools.get_mut(&place.iterator))
                    .map_or(Found::Never, |pool| pool.find(place.worker, record));
                if matches!(found, Found::NotYet) {
                    break;
                }
                let Some(record) = stream.held.pop_front() else {
                    break;
                };
                self.held -= 1;
                self.held_bytes -= record.weight();
                self.set_up(&stream, place, &record);
                self.learned_of_worker(&stream, place, &record);
                self.of_worker(&mut stream, place, found, record);
            }
        }
        self.streams.insert(id, stream);
    }

    /// Records the digests of a worker's random generators.
    fn set_up(&mut self, stream: &Stream, place: Place, record: &Record) {
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
            Record::Learned(learned) => {
                let unfit = self.learned_of_batch(at, run, batch, learned);
                let main = self.streams.get_mut(&place.stream);
                if let Some(pool) = main.and_then(|main| main.pools.get_mut(&place.iterator)) {
                    pool.note_unfit(batch, unfit);
                }
            }
            Record::Fetch(fetch) => {
                let failed = self.fetched(stream, run, batch, Some(place.worker), &indices, &fetch);
                let main = self.streams.get_mut(&place.stream);
                if let Some(pool) = main.and_then(|main| main.pools.get_mut(&place.iterator)) {
                    pool.note_failed(failed, &indices);
                }
            }
            _ => {}
        }
    }

    /// Drops the queued records of the stream with the most bytes. They count as lost.
    pub(super) fn give_up_on_longest(&mut self) {
        let weight = |s: &Stream| s.held.iter().map(Record::weight).sum::<usize>();
        let longest = self.streams.iter().max_by_key(|(_, s)| weight(s));
        if let Some(id) = longest.map(|(id, _)| *id) {
            self.drop_held(id);
        }
    }

    pub(super) fn drop_held(&mut self, id: StreamId) {
        let Some(mut stream) = self.streams.remove(&id) else {
            return;
        };
        let count = stream.held.len();
        self.held_bytes -= stream.held.iter().map(Record::weight).sum::<usize>();
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
