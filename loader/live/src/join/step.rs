//! Training steps, as the main process reports them.

use loadscope_trace::{
    Aside, BatchId, DeviceWait, EventKind, Level, Message, Nanos, Part, RunId, Stage,
};

use super::worker_pool::WorkerPool;
use super::{Join, Stream};
use crate::wire::Record;

impl Join {
    /// Processes a record about the start or the end of a training step.
    pub(super) fn apply_step_record(&mut self, pool: &mut WorkerPool, at: Nanos, record: Record) {
        let run = pool.run;
        match record {
            Record::Wait { step, .. } => {
                let stepped = pool.stepping.take().zip(step);
                self.event(at, run, EventKind::Consumer { waiting: true });
                if let Some((batch, cpu_use)) = stepped {
                    self.emit_cpu_use(at, run, batch, Part::Step, cpu_use);
                }
            }
            Record::Yield { epoch, batch, .. } => {
                pool.stepping = Some(batch_id(epoch, batch));
                self.enter(at, run, batch_id(epoch, batch), Stage::Training);
            }
            Record::Step {
                epoch,
                batch,
                cpu_use,
                ..
            } => {
                pool.stepping = None;
                let batch = batch_id(epoch, batch);
                self.enter(at, run, batch, Stage::Done);
                if let Some(cpu_use) = cpu_use {
                    self.emit_cpu_use(at, run, batch, Part::Step, cpu_use);
                }
            }
            _ => {}
        }
    }

    /// Processes a record about an event in a training step.
    pub(super) fn apply_step_event(
        &mut self,
        stream: &Stream,
        run: RunId,
        at: Nanos,
        record: Record,
    ) {
        match record {
            Record::Aside {
                epoch,
                batch,
                start,
                kind,
                ..
            } => {
                let aside = Aside {
                    batch: batch_id(epoch, batch),
                    kind,
                    start: self.time(stream, start),
                };
                self.event(at, run, EventKind::Aside(Box::new(aside)));
            }
            Record::Device {
                epoch,
                batch,
                waited,
                idle,
                ..
            } => {
                let wait = DeviceWait {
                    batch: batch_id(epoch, batch),
                    waited: Nanos(waited),
                    idle: Nanos(idle),
                };
                self.event(at, run, EventKind::DeviceWait(Box::new(wait)));
            }
            Record::Raised {
                epoch, batch, text, ..
            } => {
                let message = Message {
                    level: Level::Error,
                    text,
                    about: Some(batch_id(epoch, batch)),
                    worker: None,
                    sample: None,
                };
                self.event(at, run, EventKind::Message(Box::new(message)));
            }
            _ => {}
        }
    }
}

pub(super) fn batch_id(epoch: u32, batch: u32) -> BatchId {
    BatchId { epoch, idx: batch }
}
