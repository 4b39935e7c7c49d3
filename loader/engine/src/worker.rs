//! Worker that takes tasks from its index queue, fetches batches and sends them to the result queue. PyTorch's `_worker_loop`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadscope_trace::{BatchId, EndReason, EventKind, Stage, WorkerId};

use crate::collate::CollateSite;
use crate::dataset::SampleError;
use crate::error::{ExceptionKind, LoaderError};
use crate::fetch::{Fetch, FetchError, FetchScope, Fetcher, Request};
use crate::panics::{catch_panic, describe_death};
use crate::pin::Lease;
use crate::preview_budget::PreviewBudget;
use crate::probe::Probe;
use crate::sync::{AtomicBool, Receiver, Sender, SpinWait};
use crate::worker_info::{WorkerInfo, become_worker};

/// PyTorch's `worker_init_fn`, called with the worker's ID in its thread.
pub type WorkerInitFn = Arc<dyn Fn(usize) -> Result<(), SampleError> + Send + Sync>;

/// Message from the consumer's thread to a worker. Dropping the sender ends the worker.
#[derive(Debug)]
pub(crate) enum WorkerCommand {
    /// Request for a batch.
    Task {
        /// Batch ID.
        batch: BatchId,
        /// Samples to fetch.
        request: Request,
        /// True if the batch was yielded before the loader's state was saved. The worker only skips such a batch.
        skip: bool,
    },
    /// Start of a new epoch, which the worker confirms.
    Resume,
}

/// Result of a task.
#[derive(Debug)]
pub(crate) enum TaskOutput<B> {
    /// A batch, and its pooled buffers.
    Batch(B, Lease),
    /// A skipped batch, as requested.
    Skipped,
}

/// Message from a worker.
#[derive(Debug)]
pub(crate) enum WorkerMessage<B> {
    /// A batch or its error.
    Batch {
        batch: BatchId,
        worker: WorkerId,
        result: Result<TaskOutput<B>, LoaderError>,
    },
    /// End of the worker's stream instead of a batch. PyTorch's `_IterableDatasetStopIteration`.
    StreamEnded {
        batch: BatchId,
        worker: WorkerId,
        /// True if the task was answered before the state was saved, so that no event names it.
        skip: bool,
    },
    /// Confirmation of a new epoch. All earlier commands are done.
    Resumed,
    /// The worker's thread ended unexpectedly.
    Died {
        worker: WorkerId,
        os_id: Option<u64>,
        how: String,
    },
}

/// State of a worker.
pub(crate) struct Worker<F: Fetch> {
    pub info: WorkerInfo,
    pub base_seed: u64,
    pub fetch: Arc<F>,
    pub init: Option<WorkerInitFn>,
    pub index_queue: Receiver<WorkerCommand>,
    pub results: Sender<WorkerMessage<F::Batch>>,
    /// True when results are no longer wanted. The worker then skips tasks.
    pub done: Arc<AtomicBool>,
    pub probe: Probe,
}

/// Fetcher of the epoch, or the reason that there is none.
enum FetcherState<B> {
    Ready(Box<dyn Fetcher<Batch = B>>),
    /// Error of `worker_init_fn` or the dataset, which the first task returns.
    Failed(LoaderError),
    /// The error was returned. From then on PyTorch fails with an unbound local variable.
    Unbound,
    /// The stream has ended. Tasks are skipped without an answer.
    Ended,
}

impl<F: Fetch> Worker<F> {
    fn id(&self) -> WorkerId {
        self.info.id as WorkerId
    }

    /// Works until the index queue is closed, and reports a death.
    pub fn run(self) {
        let worker = self.id();
        let ended = catch_unwind(AssertUnwindSafe(|| self.work()));
        let reason = match &ended {
            Ok(()) => EndReason::Finished,
            Err(_) => EndReason::Died,
        };
        self.probe.emit(|| EventKind::WorkerEnded {
            worker,
            reason,
            os_id: os_thread_id().and_then(|id| u32::try_from(id).ok()),
        });
        if let Err(payload) = ended {
            let _ = self.results.send(WorkerMessage::Died {
                worker,
                os_id: os_thread_id(),
                how: describe_death(&*payload),
            });
        }
    }

    /// Runs PyTorch's `_worker_loop`: initializes the worker, then handles commands until the index queue is closed.
    fn work(&self) {
        // As in PyTorch, a worker uses one libtorch thread. Many workers with many threads each would compete for the cores.
        tch::set_num_threads(1);
        become_worker(self.info, self.base_seed);
        self.probe.emit(|| {
            EventKind::WorkerStarted(Box::new(loadscope_trace::WorkerInfo {
                worker: self.id(),
                seed: Some(self.info.seed),
                os_id: os_thread_id(),
            }))
        });
        let mut fetcher_state = match self.call_init() {
            Ok(()) => self.start(),
            Err(error) => FetcherState::Failed(error),
        };
        let mut budget = PreviewBudget::new(&self.probe);
        let mut spin_wait = SpinWait::default();
        let mut next =
            || (spin_wait.poll(&self.index_queue)).or_else(|| self.index_queue.recv().ok());
        while let Some(command) = next() {
            let sent = match command {
                WorkerCommand::Resume => {
                    let sent = self.results.send(WorkerMessage::Resumed).is_ok();
                    fetcher_state = self.start();
                    sent
                }
                WorkerCommand::Task { .. } if self.done.load(Ordering::Acquire) => true,
                WorkerCommand::Task {
                    batch,
                    request,
                    skip,
                } => match self.run_task(&mut fetcher_state, batch, &request, skip, &mut budget) {
                    Some(message) => self.results.send(message).is_ok(),
                    None => true,
                },
            };
            if !sent {
                break;
            }
        }
    }

    fn call_init(&self) -> Result<(), LoaderError> {
        let Some(init) = &self.init else {
            return Ok(());
        };
        catch_panic(|| init(self.info.id))?.map_err(LoaderError::from)
    }

    fn start(&self) -> FetcherState<F::Batch> {
        match catch_panic(|| self.fetch.start()).flatten() {
            Ok(fetcher) => FetcherState::Ready(fetcher),
            Err(error) => FetcherState::Failed(error),
        }
    }

    /// Performs a task. Returns `None` if the task gets no answer.
    fn run_task(
        &self,
        fetcher_state: &mut FetcherState<F::Batch>,
        batch: BatchId,
        request: &Request,
        skip: bool,
        budget: &mut PreviewBudget,
    ) -> Option<WorkerMessage<F::Batch>> {
        let worker = self.id();
        let mut left_out = Vec::new();
        let result = match fetcher_state {
            FetcherState::Ended => return None,
            FetcherState::Ready(fetcher) if skip => {
                let site = CollateSite::Worker;
                let there = skip_batch(&mut **fetcher, &self.probe, batch, site, request);
                Ok(there.then_some(TaskOutput::Skipped))
            }
            FetcherState::Ready(fetcher) => {
                let fetched =
                    fetch_batch(&mut **fetcher, &self.probe, batch, Some(worker), request);
                fetched.map(|fetched| {
                    fetched.map(|fetched| {
                        left_out = fetched.left_out;
                        TaskOutput::Batch(fetched.made, Lease::default())
                    })
                })
            }
            FetcherState::Failed(_) | FetcherState::Unbound if skip => {
                // The error was yielded before the state was saved.
                *fetcher_state = FetcherState::Unbound;
                Ok(Some(TaskOutput::Skipped))
            }
            FetcherState::Failed(_) | FetcherState::Unbound => {
                Err(self.no_fetcher(fetcher_state, batch))
            }
        };
        let result = match result {
            Ok(Some(produced)) => Ok(produced),
            Err(error) => Err(error),
            Ok(None) => {
                *fetcher_state = FetcherState::Ended;
                if !skip {
                    self.probe.enter(batch, Stage::Returning);
                }
                return Some(WorkerMessage::StreamEnded {
                    batch,
                    worker,
                    skip,
                });
            }
        };
        if !skip {
            self.probe.enter(batch, Stage::Returning);
        }
        // The batch is summarized before it is sent, because the consumer may write to it afterwards. The time does not count as collating.
        if let Ok(TaskOutput::Batch(made, _)) = &result
            && budget.may_summarize()
        {
            budget.summarize(batch, made, &left_out);
        }
        Some(WorkerMessage::Batch {
            batch,
            worker,
            result,
        })
    }

    /// Returns the error of a task without a fetcher.
    fn no_fetcher(
        &self,
        fetcher_state: &mut FetcherState<F::Batch>,
        batch: BatchId,
    ) -> LoaderError {
        self.probe.enter(batch, Stage::Fetching);
        let cause = match std::mem::replace(fetcher_state, FetcherState::Unbound) {
            FetcherState::Failed(error) => error,
            _ => LoaderError::python(
                ExceptionKind::UNBOUND_LOCAL_ERROR,
                "cannot access local variable 'fetcher' where it is not associated with a value: \
                 the worker's start failed, see its first error",
            ),
        };
        LoaderError::Worker {
            worker: Some(self.id()),
            batch,
            sample: None,
            cause: Box::new(cause),
        }
    }
}

/// Skips a batch that was yielded before. Returns false if the stream has ended.
///
/// Errors are ignored, because they were reported when the batch was yielded.
pub(crate) fn skip_batch<B>(
    fetcher: &mut dyn Fetcher<Batch = B>,
    probe: &Probe,
    batch: BatchId,
    site: CollateSite,
    request: &Request,
) -> bool {
    let silent = probe.silent();
    let mut scope = FetchScope::new(&silent, batch, site);
    catch_panic(|| fetcher.skip(request, &mut scope)).unwrap_or(true)
}

/// A batch, and the positions of its missing samples.
pub(crate) struct FetchedBatch<B> {
    /// Collated batch, not yet pinned.
    pub made: B,
    /// Positions, increasing, of failed samples that are missing in the batch.
    pub left_out: Vec<u32>,
}

/// Fetches a batch. An error or a panic of the dataset becomes an error that names worker and sample.
pub(crate) fn fetch_batch<B>(
    fetcher: &mut dyn Fetcher<Batch = B>,
    probe: &Probe,
    batch: BatchId,
    worker: Option<WorkerId>,
    request: &Request,
) -> Result<Option<FetchedBatch<B>>, LoaderError> {
    let site = match worker {
        Some(_) => CollateSite::Worker,
        None => CollateSite::Main,
    };
    match worker {
        Some(_) => probe.enter(batch, Stage::Fetching),
        // The batch was dispatched at this moment.
        None => probe.enter_at_last_stamp(batch, Stage::Fetching),
    }
    let mut scope = FetchScope::new(probe, batch, site);
    let result = catch_panic(|| fetcher.fetch(request, &mut scope)).unwrap_or_else(|error| {
        Err(FetchError {
            sample: scope.current(),
            error,
        })
    });
    scope.record_timings();
    let left_out = scope.into_left_out();
    let result = result.map(|made| made.map(|made| FetchedBatch { made, left_out }));
    result.map_err(|e| LoaderError::Worker {
        worker,
        batch,
        sample: e.sample,
        cause: Box::new(e.error),
    })
}

/// Returns the operating system's ID of the calling thread.
pub(crate) fn os_thread_id() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        u64::try_from(rustix::thread::gettid().as_raw_pid()).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}
