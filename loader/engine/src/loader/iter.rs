//! One epoch: PyTorch's `_SingleProcessDataLoaderIter` and `_MultiProcessingDataLoaderIter`.

mod events;
mod outcome;
mod single;

use loadscope_trace::{BatchId, EventKind, Level, Message, Stage, WorkerId};

use super::state::{LoaderState, Progress, ResumeSkip, Snapshot};
use super::{DataLoader, RequestIter};
use crate::batch::Loaded;
use crate::error::LoaderError;
use crate::fetch::{Fetch, Fetcher};
use crate::pool::{Pool, Timeout};
use crate::preview_budget::PreviewBudget;
use crate::scheduler::{Next, Scheduler, Yielded};
use crate::worker::{TaskOutput, WorkerCommand, WorkerMessage};
use events::{error_message, record_dispatch};
use outcome::{IterItem, NextOutcome};

type TaskResult<F> = Result<TaskOutput<<F as Fetch>::Batch>, LoaderError>;

/// Source of the batches of an epoch: workers, or the consumer's thread.
#[allow(clippy::large_enum_variant, reason = "there is one of them an epoch")]
pub(super) enum Source<F: Fetch> {
    Single {
        fetcher: Box<dyn Fetcher<Batch = F::Batch>>,
        next: usize,
        /// True if the stream has ended. Then no more batches are requested.
        stream_ended: bool,
        budget: PreviewBudget,
    },
    Threads {
        pool: Pool<F>,
        scheduler: Scheduler<TaskResult<F>>,
    },
    Ended {
        /// Status of each worker at the end.
        workers_status: Vec<bool>,
    },
}

/// One epoch. PyTorch's `_SingleProcessDataLoaderIter` and `_MultiProcessingDataLoaderIter`.
///
/// A failed batch or a timeout is an `Err`, and the next call continues with the next batch. A map-style dataset that
/// raises `StopIteration` yields `None` once, as in PyTorch, where a `for` loop ends there. Dropping the iterator ends
/// and joins all threads, unless the workers are persistent.
pub struct LoaderIter<'a, F: Fetch> {
    pub(super) loader: &'a mut DataLoader<F>,
    pub(super) epoch: u32,
    pub(super) source: Source<F>,
    pub(super) requests: RequestIter,
    /// Batch that the caller is processing.
    pub(super) training: Option<BatchId>,
    pub(super) ended: bool,
    /// `_num_yielded`
    pub(super) num_yielded: usize,
    /// Length that a stream reported when the loader's length was requested.
    pub(super) len_called: Option<usize>,
    pub(super) resume_skip: ResumeSkip,
    pub(super) progress: Progress,
    pub(super) snapshot: Snapshot,
}

impl<F: Fetch> LoaderIter<'_, F> {
    /// Returns `state_dict()`. A loader that loads this state yields exactly the batches that this iterator has not yet yielded.
    pub fn state_dict(&self) -> LoaderState {
        let num_workers = self.loader.options.num_workers;
        self.snapshot.state(num_workers, self.epoch, &self.progress)
    }

    /// Returns the index of the next task, PyTorch's `_send_idx`. Returns `None` without workers.
    pub fn send_idx(&self) -> Option<usize> {
        self.scheduler().map(Scheduler::send_idx)
    }

    /// Returns the index of the next batch to yield, PyTorch's `_rcvd_idx`. Returns `None` without workers.
    pub fn rcvd_idx(&self) -> Option<usize> {
        self.scheduler().map(Scheduler::rcvd_idx)
    }

    /// Returns, for each worker, true if the worker still takes tasks: PyTorch's `_workers_status`.
    pub fn workers_status(&self) -> &[bool] {
        match &self.source {
            Source::Single { .. } => &[],
            Source::Threads { scheduler, .. } => scheduler.workers_status(),
            Source::Ended { workers_status } => workers_status,
        }
    }

    fn scheduler(&self) -> Option<&Scheduler<TaskResult<F>>> {
        match &self.source {
            Source::Threads { scheduler, .. } => Some(scheduler),
            _ => None,
        }
    }

    fn id(&self, idx: usize) -> BatchId {
        BatchId {
            epoch: self.epoch,
            idx: idx as u32,
        }
    }

    pub(super) fn prime(&mut self) -> Result<(), LoaderError> {
        let window = self.scheduler().map_or(0, Scheduler::window);
        for _ in 0..window {
            if !self.try_put()? {
                break;
            }
        }
        Ok(())
    }

    /// PyTorch's `_try_put_index`. Returns false if there was nothing to put.
    fn try_put(&mut self) -> Result<bool, LoaderError> {
        let epoch = self.epoch;
        let Source::Threads { pool, scheduler } = &mut self.source else {
            return Ok(false);
        };
        let next = scheduler.send_idx();
        let put = match scheduler.try_put(|| self.requests.next()) {
            Ok(put) => put,
            // The sampler's error was raised before the state was saved.
            Err(_) if self.resume_skip.sampler_failed(next) => return Ok(false),
            Err(error) => {
                self.progress.record_yielded(next, 0);
                return Err(error);
            }
        };
        let Some((idx, worker, request)) = put else {
            return Ok(false);
        };
        let batch = BatchId {
            epoch,
            idx: idx as u32,
        };
        let skip = self.resume_skip.skip(idx, worker);
        if !skip {
            let to = Some(worker as WorkerId);
            record_dispatch(&self.loader.probe, batch, to, &request);
        }
        let command = WorkerCommand::Task {
            batch,
            request,
            skip,
        };
        pool.send(worker, command);
        Ok(true)
    }

    /// `_MultiProcessingDataLoaderIter._next_data`
    fn next_threaded(&mut self) -> NextOutcome<F> {
        loop {
            let Source::Threads { pool, scheduler } = &mut self.source else {
                return NextOutcome::End;
            };
            let yielded = match scheduler.next_step() {
                Next::Exhausted => return NextOutcome::End,
                Next::Dropped { idx } => {
                    let id = self.id(idx);
                    self.loader.probe.enter(id, Stage::Discarded);
                    continue;
                }
                Next::Yield(yielded) => Some(yielded),
                Next::Receive => {
                    let timeout = Timeout::of(self.loader.options.timeout);
                    match pool.receive(timeout, self.loader.interrupt.as_deref()) {
                        Ok(message) => match self.handle_message(message) {
                            Ok(yielded) => yielded,
                            Err(error) => return self.raise(error),
                        },
                        // After these errors, no more results can arrive.
                        Err(e @ (LoaderError::Interrupted | LoaderError::WorkersGone)) => {
                            self.end();
                            return NextOutcome::Item(Err(e));
                        }
                        Err(timed_out) => return self.raise(timed_out),
                    }
                }
            };
            let Some(yielded) = yielded else { continue };
            match self.process(yielded) {
                Ok(Some(outcome)) => return outcome,
                Ok(None) => {}
                Err(error) => return self.raise(error),
            }
        }
    }

    /// Raises an error that does not end a batch. The consumer is not waiting while it handles the error.
    fn raise(&self, error: LoaderError) -> NextOutcome<F> {
        self.loader
            .probe
            .emit(|| EventKind::Consumer { waiting: false });
        NextOutcome::Item(Err(error))
    }

    /// Handles a worker's message. Returns a batch if it is the next to yield.
    fn handle_message(
        &mut self,
        message: WorkerMessage<F::Batch>,
    ) -> Result<Option<Yielded<TaskResult<F>>>, LoaderError> {
        let Source::Threads { pool, scheduler } = &mut self.source else {
            return Ok(None);
        };
        match message {
            WorkerMessage::Resumed => Ok(None),
            WorkerMessage::Batch { batch, result, .. } => {
                let idx = batch.idx as usize;
                if !matches!(result, Ok(TaskOutput::Skipped)) {
                    let in_order = self.loader.options.in_order;
                    let its_turn = idx == scheduler.rcvd_idx() || !in_order;
                    let stage = if its_turn { Stage::Ready } else { Stage::Held };
                    self.loader.probe.enter(batch, stage);
                }
                Ok(scheduler.receive(idx, result))
            }
            WorkerMessage::StreamEnded {
                batch,
                worker,
                skip,
            } => {
                if !skip {
                    self.loader.probe.enter(batch, Stage::Discarded);
                }
                scheduler.worker_ended(worker.into(), batch.idx as usize);
                if !self.loader.options.persistent_workers {
                    pool.close(worker.into());
                }
                self.try_put()?;
                Ok(None)
            }
            WorkerMessage::Died { worker, os_id, how } => {
                scheduler.mark_worker_as_unavailable(worker.into());
                let error = pool.mark_dead(os_id, &how);
                self.loader.probe.emit(|| {
                    EventKind::Message(Box::new(Message {
                        level: Level::Error,
                        text: error.to_string(),
                        about: None,
                        worker: Some(worker),
                        sample: None,
                    }))
                });
                Err(error)
            }
        }
    }

    /// PyTorch's `_process_data`: sends one new task per yielded batch before it raises the batch's error.
    ///
    /// Returns `None` if the batch was yielded before the state was saved.
    fn process(
        &mut self,
        yielded: Yielded<TaskResult<F>>,
    ) -> Result<Option<NextOutcome<F>>, LoaderError> {
        let id = self.id(yielded.idx);
        if let Err(error) = self.try_put() {
            // As in PyTorch, the batch to be yielded is lost.
            self.progress.record_yielded(yielded.idx, yielded.worker);
            return Err(error);
        }
        if matches!(yielded.data, Ok(TaskOutput::Skipped)) {
            return Ok(None);
        }
        let outcome = self.yield_batch(id, Some(yielded.worker as WorkerId), yielded.data);
        if let Source::Threads { scheduler, .. } = &self.source
            && self.loader.options.in_order
            && let Some(idx) = scheduler.ready()
        {
            self.loader.probe.enter(self.id(idx), Stage::Ready);
        }
        Ok(Some(outcome))
    }

    fn yield_batch(
        &mut self,
        id: BatchId,
        worker: Option<WorkerId>,
        made: TaskResult<F>,
    ) -> NextOutcome<F> {
        self.progress
            .record_yielded(id.idx as usize, worker.map_or(0, usize::from));
        let probe = &self.loader.probe;
        match made {
            Ok(TaskOutput::Batch(batch, lease)) => {
                probe.enter(id, Stage::Training);
                self.training = Some(id);
                self.num_yielded += 1;
                self.warn_of_length();
                NextOutcome::Item(Ok(Loaded::new(id, worker, batch, lease)))
            }
            Ok(TaskOutput::Skipped) => NextOutcome::StopIteration,
            Err(error) => {
                probe.emit(|| EventKind::Message(Box::new(error_message(&error, id, worker))));
                probe.enter(id, Stage::Failed);
                if error.is_stop_iteration() {
                    NextOutcome::StopIteration
                } else {
                    NextOutcome::Item(Err(error))
                }
            }
        }
    }

    /// Warns like PyTorch if the number of yielded batches exceeds the stream's reported number of samples.
    fn warn_of_length(&mut self) {
        let Some(reported) = self.len_called.filter(|len| self.num_yielded > *len) else {
            return;
        };
        let name = (self.loader.dataset_info.as_ref()).map_or("IterableDataset", |a| &a.name);
        let mut text = format!(
            "Length of IterableDataset {name} was reported to be {reported}(when accessing len(dataloader)), \
             but {} samples have been fetched. ",
            self.num_yielded
        );
        if self.loader.options.num_workers > 0 {
            text.push_str(
                "For multiprocessing data-loading, this could be caused by not properly configuring the \
                 IterableDataset replica at each worker. Please see \
                 https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples.",
            );
        }
        self.loader.warn(text);
    }

    /// Ends the epoch: joins the threads, or keeps them for the next epoch.
    pub(super) fn end(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.catch_up();
        // The event bypasses the gate, because a loader that is dropped while paused must not hang.
        if let Some(batch) = self.training.take() {
            let stage = Stage::Done;
            self.loader
                .probe
                .emit(|| EventKind::Entered { batch, stage });
        }
        let persistent = self.loader.options.persistent_workers;
        let mut workers_status = self.workers_status().to_vec();
        if !persistent {
            workers_status.fill(false);
        }
        let ended = Source::Ended { workers_status };
        if let Source::Threads { pool, .. } = std::mem::replace(&mut self.source, ended)
            && persistent
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
    type Item = IterItem<F>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        match self.training.take() {
            Some(batch) => {
                self.loader.probe.enter(batch, Stage::Done);
                self.loader.probe.consumer_at_last_stamp(true);
            }
            None => self.loader.probe.consumer_waits(),
        }
        let outcome = match self.source {
            Source::Single { .. } => self.next_single(),
            Source::Threads { .. } => self.next_threaded(),
            Source::Ended { .. } => NextOutcome::End,
        };
        match outcome {
            NextOutcome::Item(item) => Some(item),
            NextOutcome::StopIteration => None,
            NextOutcome::End => {
                self.end();
                None
            }
        }
    }
}

impl<F: Fetch> Drop for LoaderIter<'_, F> {
    fn drop(&mut self) {
        self.end();
    }
}
