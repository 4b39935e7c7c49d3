//! A worker: takes tasks from its index queue, fetches batches and sends them to the result queue. PyTorch's `_worker_loop`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use loadscope_trace::{BatchId, EndReason, EventKind, Stage, WorkerId};

use crate::caught::{caught, death_of};
use crate::collate::CollateSite;
use crate::dataset::SampleError;
use crate::error::{ExceptionKind, LoaderError};
use crate::fetch::{Fetch, FetchError, FetchScope, Fetcher, Request};
use crate::pin::Lease;
use crate::preview_budget::PreviewBudget;
use crate::probe::Probe;
use crate::sync::{AtomicBool, Patience, Receiver, Sender};
use crate::worker_info::{WorkerInfo, become_worker};

/// PyTorch's `worker_init_fn`, called with the worker's ID in its thread.
pub type WorkerInitFn = Arc<dyn Fn(usize) -> Result<(), SampleError> + Send + Sync>;

/// Message from the main thread to a worker. Dropping the sender ends the worker.
#[derive(Debug)]
pub(crate) enum Order {
    /// Request for a batch.
    Task {
        /// Batch ID.
        batch: BatchId,
        /// Samples to fetch.
        request: Request,
        /// True if the batch was yielded before the loader's state was saved. It is only skipped.
        skip: bool,
    },
    /// Start of a new epoch, which the worker confirms.
    Resume,
}

/// Result of a task.
#[derive(Debug)]
pub(crate) enum Produced<B> {
    /// A batch, and its pooled buffers.
    Batch(B, Lease),
    /// A skipped batch, as requested.
    Skipped,
}

/// Message from a worker.
#[derive(Debug)]
pub(crate) enum Arrival<B> {
    /// A batch or its error.
    Batch {
        batch: BatchId,
        worker: WorkerId,
        result: Result<Produced<B>, LoaderError>,
    },
    /// End of the worker's stream instead of a batch. PyTorch's `_IterableDatasetStopIteration`.
    Ended {
        batch: BatchId,
        worker: WorkerId,
        /// True if it was answered before the state was saved, so that no event names it.
        skip: bool,
    },
    /// Confirmation of a new epoch. All earlier orders are done.
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
    pub orders: Receiver<Order>,
    pub results: Sender<Arrival<F::Batch>>,
    /// True when results are no longer wanted. Then tasks are skipped.
    pub done: Arc<AtomicBool>,
    pub probe: Probe,
}

/// Fetcher of the epoch, or the reason that there is none.
enum Fetching<B> {
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
            let _ = self.results.send(Arrival::Died {
                worker,
                os_id: os_thread_id(),
                how: death_of(&*payload),
            });
        }
    }

    fn work(&self) {
        // As in PyTorch: many workers with many threads each would compete for the cores.
        tch::set_num_threads(1);
        become_worker(self.info, self.base_seed);
        self.probe.emit(|| {
            EventKind::WorkerStarted(Box::new(loadscope_trace::WorkerInfo {
                worker: self.id(),
                seed: Some(self.info.seed),
                os_id: os_thread_id(),
            }))
        });
        let mut fetching = match self.call_init() {
            Ok(()) => self.start(),
            Err(error) => Fetching::Failed(error),
        };
        let mut budget = PreviewBudget::new(&self.probe);
        let mut patience = Patience::default();
        let mut next = || (patience.awake(&self.orders)).or_else(|| self.orders.recv().ok());
        while let Some(order) = next() {
            let sent = match order {
                Order::Resume => {
                    let sent = self.results.send(Arrival::Resumed).is_ok();
                    fetching = self.start();
                    sent
                }
                Order::Task { .. } if self.done.load(Ordering::Acquire) => true,
                Order::Task {
                    batch,
                    request,
                    skip,
                } => match self.answer(&mut fetching, batch, &request, skip, &mut budget) {
                    Some(arrival) => self.results.send(arrival).is_ok(),
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
        caught(|| init(self.info.id))?.map_err(LoaderError::from)
    }

    fn start(&self) -> Fetching<F::Batch> {
        match caught(|| self.fetch.start()).flatten() {
            Ok(fetcher) => Fetching::Ready(fetcher),
            Err(error) => Fetching::Failed(error),
        }
    }

    /// Performs a task. `None` if it gets no answer.
    fn answer(
        &self,
        fetching: &mut Fetching<F::Batch>,
        batch: BatchId,
        request: &Request,
        skip: bool,
        budget: &mut PreviewBudget,
    ) -> Option<Arrival<F::Batch>> {
        let worker = self.id();
        let mut left_out = Vec::new();
        let result = match fetching {
            Fetching::Ended => return None,
            Fetching::Ready(fetcher) if skip => {
                let site = CollateSite::Worker;
                let there = go_past(&mut **fetcher, &self.probe, batch, site, request);
                Ok(there.then_some(Produced::Skipped))
            }
            Fetching::Ready(fetcher) => {
                let fetched =
                    fetch_batch(&mut **fetcher, &self.probe, batch, Some(worker), request);
                fetched.map(|fetched| {
                    fetched.map(|fetched| {
                        left_out = fetched.left_out;
                        Produced::Batch(fetched.made, Lease::default())
                    })
                })
            }
            Fetching::Failed(_) | Fetching::Unbound if skip => {
                // Its error was yielded before the state was saved.
                *fetching = Fetching::Unbound;
                Ok(Some(Produced::Skipped))
            }
            Fetching::Failed(_) | Fetching::Unbound => Err(self.no_fetcher(fetching, batch)),
        };
        let result = match result {
            Ok(Some(produced)) => Ok(produced),
            Err(error) => Err(error),
            Ok(None) => {
                *fetching = Fetching::Ended;
                if !skip {
                    self.probe.enter(batch, Stage::Returning);
                }
                return Some(Arrival::Ended {
                    batch,
                    worker,
                    skip,
                });
            }
        };
        if !skip {
            self.probe.enter_next(batch, Stage::Returning);
        }
        // Before the batch is sent, because the consumer may write to it afterwards. The time does not count as collating.
        if let Ok(Produced::Batch(made, _)) = &result
            && budget.may_look()
        {
            budget.look(batch, made, &left_out);
        }
        Some(Arrival::Batch {
            batch,
            worker,
            result,
        })
    }

    /// Returns the error of a task without a fetcher.
    fn no_fetcher(&self, fetching: &mut Fetching<F::Batch>, batch: BatchId) -> LoaderError {
        self.probe.enter(batch, Stage::Fetching);
        let cause = match std::mem::replace(fetching, Fetching::Unbound) {
            Fetching::Failed(error) => error,
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

/// Skips a batch that was yielded before. Returns false if the stream ended.
///
/// Errors are ignored, because they were reported when the batch was yielded.
pub(crate) fn go_past<B>(
    fetcher: &mut dyn Fetcher<Batch = B>,
    probe: &Probe,
    batch: BatchId,
    site: CollateSite,
    request: &Request,
) -> bool {
    let silent = probe.silent();
    let mut scope = FetchScope::new(&silent, batch, site);
    caught(|| fetcher.skip(request, &mut scope)).unwrap_or(true)
}

/// A batch, and the positions of its missing samples.
pub(crate) struct FetchedBatch<B> {
    /// The batch.
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
        // It was dispatched at this moment.
        None => probe.enter_at_once(batch, Stage::Fetching),
    }
    let mut scope = FetchScope::new(probe, batch, site);
    let result = caught(|| fetcher.fetch(request, &mut scope)).unwrap_or_else(|error| {
        Err(FetchError {
            sample: scope.current(),
            error,
        })
    });
    scope.tell_timings();
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
#[allow(unsafe_code, reason = "a system call")]
pub(crate) fn os_thread_id() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: gettid has no arguments and always succeeds.
        u64::try_from(unsafe { libc::gettid() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}
