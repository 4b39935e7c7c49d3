//! PyTorch's `get_worker_info`, and the random streams of a worker.

use std::cell::RefCell;

use crate::rng::WorkerRng;
use crate::sync::thread_local;

/// PyTorch's `WorkerInfo`, without `dataset`, because threads share one dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Number of this worker, from 0.
    pub id: usize,
    /// Number of workers.
    pub num_workers: usize,
    /// Seed of the worker's random streams, `base_seed + id`.
    pub seed: u64,
}

struct Local {
    info: WorkerInfo,
    rng: WorkerRng,
}

thread_local! {
    static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
}

/// Returns `torch.utils.data.get_worker_info()` of the calling worker, or `None` in any other thread.
pub fn get_worker_info() -> Option<WorkerInfo> {
    LOCAL.with(|local| local.borrow().as_ref().map(|l| l.info))
}

/// Calls `work` with the random streams of the calling worker. Returns `None` in any other thread.
///
/// The streams are seeded as PyTorch seeds `torch`, `random` and `numpy.random` in its worker processes. The streams continue from
/// epoch to epoch during the worker's lifetime.
///
/// `libtorch`'s default generator is shared by the whole process, so transforms in workers should use these streams.
pub fn with_worker_rng<R>(work: impl FnOnce(&mut WorkerRng) -> R) -> Option<R> {
    LOCAL.with(|local| local.borrow_mut().as_mut().map(|l| work(&mut l.rng)))
}

/// Makes the calling thread a worker.
pub(crate) fn become_worker(info: WorkerInfo, base_seed: u64) {
    let rng = WorkerRng::new(base_seed, info.id as u32);
    LOCAL.with(|local| *local.borrow_mut() = Some(Local { info, rng }));
}
