//! One epoch: PyTorch's `_SingleProcessDataLoaderIter` and `_MultiProcessingDataLoaderIter`.

use std::sync::Arc;

use loadscope_trace::{BatchId, EventKind, Level, Message, Stage, WorkerId};

use super::DataLoader;
use crate::batch::{Batch as _, Loaded};
use crate::error::EngineError;
use crate::fetch::Fetch;
use crate::pin::Lease;
use crate::pool::Pool;
use crate::probe::Probe;
use crate::sampler::BatchIter;
use crate::scheduler::{Next, Scheduler, Yielded};
use crate::worker::{Arrival, Looking, Order, caught, fetch_batch};

type Made<F> = Result<(<F as Fetch>::Batch, Lease), EngineError>;

/// Where batches come from.
pub(super) enum Source<F: Fetch> {
    Single {
        next: u32,
        looking: Looking,
    },
    Threads {
        pool: Pool<F>,
        scheduler: Scheduler<Made<F>>,
    },
    Ended,
}

/// One epoch. PyTorch's `_SingleProcessDataLoaderIter` and `_MultiProcessingDataLoaderIter`.
///
/// A batch that could not be made is an `Err`, and the next call goes on with the batch after it. Dropping the iterator
/// ends and joins all threads, unless the workers are persistent.
pub struct LoaderIter<'a, F: Fetch> {
    pub(super) loader: &'a mut DataLoader<F>,
    pub(super) epoch: u32,
    pub(super) source: Source<F>,
    pub(super) batches: BatchIter,
    /// The batch the caller works on.
    pub(super) training: Option<BatchId>,
    pub(super) ended: bool,
}

impl<F: Fetch> LoaderIter<'_, F> {
    fn id(&self, idx: usize) -> BatchId {
        BatchId {
            epoch: self.epoch,
            idx: idx as u32,
        }
    }

    pub(super) fn prime(&mut self) -> Result<(), EngineError> {
        let window = match &self.source {
            Source::Threads { scheduler, .. } => scheduler.window(),
            _ => 0,
        };
        for _ in 0..window {
            if !self.try_put()? {
                break;
            }
        }
        Ok(())
    }

    /// PyTorch's `_try_put_index`; false if there was nothing to put.
    fn try_put(&mut self) -> Result<bool, EngineError> {
        let epoch = self.epoch;
        let Source::Threads { pool, scheduler } = &mut self.source else {
            return Ok(false);
        };
        let put = scheduler.try_put(|| self.batches.next())?;
        if let Some((idx, worker, indices)) = put {
            let batch = BatchId {
                epoch,
                idx: idx as u32,
            };
            tell_dispatch(
                &self.loader.probe,
                batch,
                Some(worker as WorkerId),
                &indices,
            );
            pool.send(worker, Order::Task { batch, indices });
            return Ok(true);
        }
        Ok(false)
    }

    fn next_single(&mut self) -> Option<Result<Loaded<F::Batch>, EngineError>> {
        let indices = match self.batches.next()? {
            Ok(indices) => indices,
            Err(e) => return Some(Err(e)),
        };
        let Source::Single { next, .. } = &mut self.source else {
            return None;
        };
        let idx = *next as usize;
        *next += 1;
        let id = self.id(idx);
        let loader = &*self.loader;
        let watched = loader
            .interrupt
            .as_ref()
            .map(|i| loader.probe.until(Arc::clone(i)));
        let probe = watched.as_ref().unwrap_or(&loader.probe);
        tell_dispatch(probe, id, None, &indices);
        let made = fetch_batch(&*loader.fetch, probe, id, None, &indices).and_then(|made| {
            match &loader.pinner {
                Some(pinner) => {
                    probe.enter(id, Stage::Pinning);
                    caught(|| made.pin(pinner)).flatten()
                }
                None => Ok((made, Lease::default())),
            }
        });
        if let (Ok((batch, _)), Source::Single { looking, .. }) = (&made, &mut self.source)
            && looking.may_look()
        {
            looking.look(&loader.probe, id, batch);
        }
        Some(self.hand_out(id, None, made))
    }

    /// PyTorch's `_next_data`.
    fn next_threaded(&mut self) -> Option<Result<Loaded<F::Batch>, EngineError>> {
        loop {
            let Source::Threads { pool, scheduler } = &mut self.source else {
                return None;
            };
            match scheduler.next_step() {
                Next::Exhausted => return None,
                Next::Yield(yielded) => return Some(self.process(yielded)),
                Next::Receive => {}
            }
            let (batch, result) = match pool.receive(self.loader.interrupt.as_deref()) {
                Ok(Arrival::Batch { batch, result, .. }) => (batch, result),
                Ok(Arrival::Resumed) => continue,
                Err(e) => {
                    // Nothing more will come.
                    self.end();
                    return Some(Err(e));
                }
            };
            let idx = batch.idx as usize;
            let its_turn = idx == scheduler.rcvd_idx() || !self.loader.options.in_order;
            let stage = if its_turn { Stage::Ready } else { Stage::Held };
            self.loader.probe.enter(batch, stage);
            if let Some(yielded) = scheduler.receive(idx, result) {
                return Some(self.process(yielded));
            }
        }
    }

    /// PyTorch's `_process_data`: one new task for a batch that is handed out, and only then its error, if it has one.
    fn process(&mut self, yielded: Yielded<Made<F>>) -> Result<Loaded<F::Batch>, EngineError> {
        let id = self.id(yielded.idx);
        self.try_put()?;
        let handed = self.hand_out(id, Some(yielded.worker as WorkerId), yielded.data);
        if let Source::Threads { scheduler, .. } = &self.source
            && self.loader.options.in_order
            && let Some(idx) = scheduler.ready()
        {
            self.loader.probe.enter(self.id(idx), Stage::Ready);
        }
        handed
    }

    fn hand_out(
        &mut self,
        id: BatchId,
        worker: Option<WorkerId>,
        made: Made<F>,
    ) -> Result<Loaded<F::Batch>, EngineError> {
        let probe = &self.loader.probe;
        match made {
            Ok((batch, lease)) => {
                probe.enter(id, Stage::Training);
                self.training = Some(id);
                Ok(Loaded::new(id, worker, batch, lease))
            }
            Err(error) => {
                probe.emit(|| EventKind::Message(Box::new(message_of(&error, id, worker))));
                probe.enter(id, Stage::Failed);
                Err(error)
            }
        }
    }

    /// Ends the epoch: joins the threads, or keeps them for the next epoch.
    fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        // Without the gate: a loader that is dropped while paused must not hang.
        if let Some(batch) = self.training.take() {
            let stage = Stage::Done;
            self.loader
                .probe
                .emit(|| EventKind::Entered { batch, stage });
        }
        if let Source::Threads { pool, .. } = std::mem::replace(&mut self.source, Source::Ended)
            && self.loader.options.persistent_workers
        {
            self.loader.persistent = Some(pool);
        }
        let epoch = self.epoch;
        self.loader
            .probe
            .emit(|| EventKind::Consumer { waiting: false });
        self.loader.probe.emit(|| EventKind::EpochEnded { epoch });
    }
}

impl<F: Fetch> Iterator for LoaderIter<'_, F> {
    type Item = Result<Loaded<F::Batch>, EngineError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        if let Some(batch) = self.training.take() {
            self.loader.probe.enter(batch, Stage::Done);
        }
        self.loader
            .probe
            .emit(|| EventKind::Consumer { waiting: true });
        let next = match self.source {
            Source::Single { .. } => self.next_single(),
            Source::Threads { .. } => self.next_threaded(),
            Source::Ended => None,
        };
        if next.is_none() {
            self.end();
        }
        next
    }
}

impl<F: Fetch> Drop for LoaderIter<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}

fn tell_dispatch(probe: &Probe, batch: BatchId, worker: Option<WorkerId>, indices: &[usize]) {
    probe.transition(|| {
        let indices: Vec<u64> = indices.iter().map(|i| *i as u64).collect();
        EventKind::dispatched(batch, worker, indices)
    });
}

fn message_of(error: &EngineError, about: BatchId, worker: Option<WorkerId>) -> Message {
    let sample = match error {
        EngineError::Worker { sample, .. } => sample.map(|s| s as u64),
        _ => None,
    };
    Message {
        level: Level::Error,
        text: error.to_string(),
        about: Some(about),
        worker,
        sample,
    }
}
