//! Assignment of facts to runs, workers and batches.

use loadscope_trace::{BatchId, EventKind, Fact, Misfit, Nanos, RunId, WorkerId};

use super::{Join, Place, Stream};
use crate::wire::{Learned, Record};

impl Join {
    /// Records a fact from the main process, unless it is about a batch.
    pub(super) fn learned_of_main(&mut self, stream: &Stream, learned: &Learned) {
        let at = self.time(stream, learned.at());
        let (run, fact) = match learned {
            Learned::Earlier {
                iterator, workers, ..
            } => {
                let run = stream.pools.get(iterator).map(|pool| pool.run);
                let workers = *workers;
                (run, Fact::EarlierWorkers { workers })
            }
            Learned::Length {
                loader, batches, ..
            } => {
                let batches = *batches;
                (stream.runs.get(loader).copied(), Fact::Length { batches })
            }
            Learned::Changed {
                loader, attributes, ..
            } => {
                let attributes = attributes.clone();
                let run = stream.runs.get(loader).copied();
                (run, Fact::DatasetChanged { attributes })
            }
            Learned::Undivided { .. } | Learned::File { .. } | Learned::Misfit { .. } => return,
        };
        match run {
            Some(run) => self.learned(at, run, fact),
            None => self.lost += 1,
        }
    }

    /// Records a fact that a worker reports about itself.
    pub(super) fn learned_of_worker(&mut self, stream: &Stream, place: Place, record: &Record) {
        let Record::Learned(Learned::Undivided { at, .. }) = record else {
            return;
        };
        let main = self.streams.get(&place.stream);
        let pool = main.and_then(|main| main.pools.get(&place.iterator));
        if let Some(run) = pool.map(|pool| pool.run) {
            let worker: WorkerId = place.worker;
            let at = self.time(stream, *at);
            self.learned(at, run, Fact::UndividedStream { worker });
        }
    }

    /// Records a fact about a sample of a batch. Returns the position of a sample that differs from the others, if there is a usual form.
    pub(super) fn learned_of_batch(
        &mut self,
        at: Nanos,
        run: RunId,
        of: BatchId,
        learned: Learned,
    ) -> Option<u32> {
        match learned {
            Learned::File { position, file, .. } => {
                self.learned(at, run, Fact::File { of, position, file });
                None
            }
            Learned::Misfit { position, what, .. } => {
                let is_one = !what.usual.is_empty();
                let misfit = Misfit {
                    of,
                    position,
                    field: what.field,
                    by: what.by,
                    got: what.got,
                    usual: what.usual,
                    alike: what.alike,
                };
                self.learned(at, run, Fact::Misfit(misfit));
                is_one.then_some(position)
            }
            Learned::Earlier { .. }
            | Learned::Length { .. }
            | Learned::Changed { .. }
            | Learned::Undivided { .. } => None,
        }
    }

    fn learned(&mut self, at: Nanos, run: RunId, fact: Fact) {
        self.event(at, run, EventKind::Fact(Box::new(fact)));
    }
}
