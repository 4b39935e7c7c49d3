//! Training steps, as the main process reports them.

use loadscope_trace::{Aside, BatchId, EventKind, Level, Message, Nanos, Part, RunId, Stage};

use super::worker_pool::WorkerPool;
use super::{Join, Stream};
use crate::wire::Record;

impl Join {
    /// Processes a record about the start or the end of a training step.
    pub(super) fn of_step(&mut self, pool: &mut WorkerPool, at: Nanos, record: Record) {
        let run = pool.run;
        match record {
            Record::Wait { step, .. } => {
                let stepped = pool.stepping.take().zip(step);
                self.event(at, run, EventKind::Consumer { waiting: true });
                if let Some((batch, needed)) = stepped {
                    self.needed(at, run, batch, Part::Step, needed);
                }
            }
            Record::Yield { epoch, batch, .. } => {
                pool.stepping = Some(named(epoch, batch));
                self.enter(at, run, named(epoch, batch), Stage::Training);
            }
            Record::Step {
                epoch,
                batch,
                needed,
                ..
            } => {
                pool.stepping = None;
                let batch = named(epoch, batch);
                self.enter(at, run, batch, Stage::Done);
                if let Some(needed) = needed {
                    self.needed(at, run, batch, Part::Step, needed);
                }
            }
            _ => {}
        }
    }

    /// Processes a record about an event in a training step.
    pub(super) fn in_step(&mut self, stream: &Stream, run: RunId, at: Nanos, record: Record) {
        match record {
            Record::Aside {
                epoch,
                batch,
                start,
                kind,
                ..
            } => {
                let aside = Aside {
                    batch: named(epoch, batch),
                    kind,
                    start: self.time(stream, start),
                };
                self.event(at, run, EventKind::Aside(Box::new(aside)));
            }
            Record::Raised {
                epoch, batch, text, ..
            } => {
                let message = Message {
                    level: Level::Error,
                    text,
                    about: Some(named(epoch, batch)),
                    worker: None,
                    sample: None,
                };
                self.event(at, run, EventKind::Message(Box::new(message)));
            }
            _ => {}
        }
    }
}

pub(super) fn named(epoch: u32, batch: u32) -> BatchId {
    BatchId { epoch, idx: batch }
}
