//! Failed batches and ended workers.

use loadscope_trace::{
    BatchId, EndReason, EventKind, Level, Message, Nanos, RunId, Stage, WorkerId,
};

use super::{Failure, Join, Stream, StreamId};

impl Join {
    pub(super) fn emit_batch_failed(
        &mut self,
        main: StreamId,
        stream: &Stream,
        iterator: u32,
        at: Nanos,
        batch: Option<BatchId>,
        text: String,
    ) {
        let Some(run) = stream.pools.get(&iterator).map(|pool| pool.run) else {
            return;
        };
        match batch {
            Some(batch) => {
                self.enter(at, run, batch, Stage::Failed);
                self.failures.push(Failure {
                    main,
                    iterator,
                    at,
                    run,
                    batch,
                    text,
                    polls: 0,
                });
            }
            None => {
                self.event(at, run, EventKind::Consumer { waiting: false });
                self.message(at, run, Level::Error, text);
            }
        }
    }

    /// Reports the errors whose sample is known, and those for which `is_due` returns true.
    pub(super) fn report_failures(&mut self, is_due: impl Fn(&Failure) -> bool) {
        for failure in std::mem::take(&mut self.failures) {
            let main = self.streams.get_mut(&failure.main);
            let pool = main.and_then(|main| main.pools.get_mut(&failure.iterator));
            let known = pool.and_then(|pool| pool.take_failure(failure.batch));
            if known.is_none() && !is_due(&failure) {
                self.failures.push(failure);
                continue;
            }
            let (worker, sample) = known.unwrap_or_default();
            let message = Message {
                level: Level::Error,
                text: failure.text,
                about: Some(failure.batch),
                worker,
                sample,
            };
            let kind = EventKind::Message(Box::new(message));
            self.event(failure.at, failure.run, kind);
        }
    }

    pub(super) fn emit_worker_ended(
        &mut self,
        at: Nanos,
        run: RunId,
        worker: WorkerId,
        pid: u64,
        code: i64,
    ) {
        // SIGTERM (-15) counts as a normal end: PyTorch terminates a worker that does not end in time.
        let reason = match code {
            0 | -15 => EndReason::Finished,
            _ => EndReason::Died,
        };
        self.event(
            at,
            run,
            EventKind::WorkerEnded {
                worker,
                reason,
                os_id: u32::try_from(pid).ok(),
            },
        );
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
}
