//! Assignment of facts to runs, workers and batches.

use loadscope_trace::{BatchId, EventKind, Fact, Misfit, Nanos, RunId, Sent, WorkerId};

use super::{Join, Place, Stream};
use crate::wire::{FactRecord, Record};

impl Join {
    /// Records a fact from the main process, unless it is about a batch.
    pub(super) fn apply_main_fact(&mut self, stream: &Stream, record: &FactRecord) {
        let at = self.time(stream, record.at());
        let (run, fact) = match record {
            FactRecord::Earlier {
                iterator, workers, ..
            } => {
                let run = stream.pools.get(iterator).map(|pool| pool.run);
                let workers = *workers;
                (run, Fact::EarlierWorkers { workers })
            }
            FactRecord::Length {
                loader, batches, ..
            } => {
                let batches = *batches;
                (stream.runs.get(loader).copied(), Fact::Length { batches })
            }
            FactRecord::Changed {
                loader, attributes, ..
            } => {
                let attributes = attributes.clone();
                let run = stream.runs.get(loader).copied();
                (run, Fact::DatasetChanged { attributes })
            }
            FactRecord::Sent { iterator, sent, .. } => {
                let run = stream.pools.get(iterator).map(|pool| pool.run);
                (run, Fact::Sent(Sent::clone(sent)))
            }
            FactRecord::Objects {
                iterator,
                attribute,
                objects,
                ..
            } => {
                let run = stream.pools.get(iterator).map(|pool| pool.run);
                let attribute = attribute.clone();
                let objects = *objects;
                (run, Fact::Objects { attribute, objects })
            }
            FactRecord::Undivided { .. } | FactRecord::File { .. } | FactRecord::Misfit { .. } => {
                return;
            }
        };
        match run {
            Some(run) => self.emit_fact(at, run, fact),
            None => self.lost += 1,
        }
    }

    /// Records a fact that a worker reports about itself.
    pub(super) fn apply_worker_fact(&mut self, stream: &Stream, place: Place, record: &Record) {
        let Record::Fact(FactRecord::Undivided { at, .. }) = record else {
            return;
        };
        let main = self.streams.get(&place.stream);
        let pool = main.and_then(|main| main.pools.get(&place.iterator));
        if let Some(run) = pool.map(|pool| pool.run) {
            let worker: WorkerId = place.worker;
            let at = self.time(stream, *at);
            self.emit_fact(at, run, Fact::UndividedStream { worker });
        }
    }

    /// Records a fact about a sample of a batch. Returns the position of a sample that differs from the others, if there is a usual form.
    pub(super) fn apply_batch_fact(
        &mut self,
        at: Nanos,
        run: RunId,
        of: BatchId,
        record: FactRecord,
    ) -> Option<u32> {
        match record {
            FactRecord::File { position, file, .. } => {
                self.emit_fact(at, run, Fact::File { of, position, file });
                None
            }
            FactRecord::Misfit {
                position, mismatch, ..
            } => {
                let is_one = !mismatch.usual.is_empty();
                let misfit = Misfit {
                    of,
                    position,
                    field: mismatch.field,
                    by: mismatch.by,
                    got: mismatch.got,
                    usual: mismatch.usual,
                    alike: mismatch.alike,
                };
                self.emit_fact(at, run, Fact::Misfit(misfit));
                is_one.then_some(position)
            }
            FactRecord::Earlier { .. }
            | FactRecord::Length { .. }
            | FactRecord::Changed { .. }
            | FactRecord::Undivided { .. }
            | FactRecord::Sent { .. }
            | FactRecord::Objects { .. } => None,
        }
    }

    fn emit_fact(&mut self, at: Nanos, run: RunId, fact: Fact) {
        self.event(at, run, EventKind::Fact(Box::new(fact)));
    }
}
