//! A worker: takes tasks from its index queue, fetches, puts batches on the result queue. PyTorch's `_worker_loop`.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender};
use loadscope_trace::{BatchId, EndReason, EventKind, Stage, WorkerId, WorkerInfo};

use crate::batch::Batch;
use crate::collate::CollateSite;
use crate::error::EngineError;
use crate::fetch::{Fetch, FetchError, FetchScope};
use crate::pin::Lease;
use crate::probe::{ContentPolicy, Probe};

/// What the main thread sends to a worker. Dropping the sender ends the worker.
#[derive(Debug)]
pub(crate) enum Order {
    /// Fetch this batch.
    Task {
        /// Its name.
        batch: BatchId,
        /// Dataset indices.
        indices: Vec<usize>,
    },
    /// A new epoch begins; say so.
    Resume,
}

/// What comes back.
#[derive(Debug)]
pub(crate) enum Arrival<B> {
    /// A batch or its error.
    Batch {
        batch: BatchId,
        worker: WorkerId,
        result: Result<(B, Lease), EngineError>,
    },
    /// Everything ordered before the new epoch is through.
    Resumed,
}

/// Everything a worker has.
pub(crate) struct Worker<F: Fetch> {
    pub id: WorkerId,
    pub seed: u64,
    pub fetch: Arc<F>,
    pub orders: Receiver<Order>,
    pub results: Sender<Arrival<F::Batch>>,
    /// Set when nobody wants results any more: tasks are skipped.
    pub done: Arc<AtomicBool>,
    pub probe: Probe,
}

impl<F: Fetch> Worker<F> {
    /// Works until the index queue is closed.
    pub fn run(self) {
        // As in PyTorch: many workers with many threads each would fight for the cores.
        tch::set_num_threads(1);
        let id = self.id;
        self.probe.emit(|| {
            EventKind::WorkerStarted(Box::new(WorkerInfo {
                worker: id,
                seed: self.seed,
                os_id: os_thread_id(),
            }))
        });
        let mut looking = Looking::new(self.probe.content());
        while let Ok(order) = self.orders.recv() {
            match order {
                Order::Resume => {
                    if self.results.send(Arrival::Resumed).is_err() {
                        break;
                    }
                }
                Order::Task { .. } if self.done.load(Ordering::Acquire) => {}
                Order::Task { batch, indices } => {
                    if !self.work(batch, &indices, &mut looking) {
                        break;
                    }
                }
            }
        }
        let reason = EndReason::Finished;
        self.probe
            .emit(|| EventKind::WorkerEnded { worker: id, reason });
    }

    /// Fetches one batch and sends it; false if nobody is there to receive it.
    fn work(&self, batch: BatchId, indices: &[usize], looking: &mut Looking) -> bool {
        let result = fetch_batch(&*self.fetch, &self.probe, batch, Some(self.id), indices);
        // Before it is sent on: afterwards it belongs to the consumer, who may write to it.
        if let Ok(made) = &result
            && looking.may_look()
        {
            looking.look(&self.probe, batch, made);
        }
        self.probe.enter(batch, Stage::Returning);
        let sent = self.results.send(Arrival::Batch {
            batch,
            worker: self.id,
            result: result.map(|made| (made, Lease::default())),
        });
        sent.is_ok()
    }
}

/// Fetches a batch; an error or a panic of the dataset becomes an error that names worker and sample.
pub(crate) fn fetch_batch<F: Fetch>(
    fetch: &F,
    probe: &Probe,
    batch: BatchId,
    worker: Option<WorkerId>,
    indices: &[usize],
) -> Result<F::Batch, EngineError> {
    let site = match worker {
        Some(_) => CollateSite::Worker,
        None => CollateSite::Main,
    };
    probe.enter(batch, Stage::Fetching);
    let mut scope = FetchScope::new(probe, batch, site);
    let result = caught(|| fetch.fetch(indices, &mut scope)).unwrap_or_else(|error| {
        Err(FetchError {
            sample: scope.current(),
            error,
        })
    });
    scope.tell_timings();
    result.map_err(|e| EngineError::Worker {
        worker,
        batch,
        sample: e.sample,
        cause: Box::new(e.error),
    })
}

/// Runs code of the user's; a panic becomes an error.
pub(crate) fn caught<T>(work: impl FnOnce() -> T) -> Result<T, EngineError> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| EngineError::Panic {
        message: panic_text(&*panic),
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("it gave no message").to_owned()
}

/// Looks inside batches without taking more than its share of a worker's time.
pub(crate) struct Looking {
    policy: ContentPolicy,
    since: Instant,
    spent: Duration,
}

impl Looking {
    /// Short runs are looked at completely.
    const GRACE: Duration = Duration::from_millis(150);

    pub fn new(policy: ContentPolicy) -> Self {
        Self {
            policy,
            since: Instant::now(),
            spent: Duration::ZERO,
        }
    }

    pub fn may_look(&self) -> bool {
        match self.policy {
            ContentPolicy::Off => false,
            ContentPolicy::Share(share) => {
                self.spent < Self::GRACE + self.since.elapsed().mul_f64(share.clamp(0.0, 1.0))
            }
        }
    }

    pub fn look<B: Batch>(&mut self, probe: &Probe, id: BatchId, batch: &B) {
        let start = Instant::now();
        // A batch type of the user's that panics here must not take the worker with it.
        let content = caught(|| batch.describe(id));
        if let Ok(Some(content)) = content {
            probe.emit(|| EventKind::Content(Box::new(content)));
        }
        self.spent += start.elapsed();
    }
}

/// The operating system's number of the calling thread.
pub(crate) fn os_thread_id() -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: gettid takes nothing and always succeeds.
        u64::try_from(unsafe { libc::gettid() }).ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        None
    }
}
