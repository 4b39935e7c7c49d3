//! What code inside a worker can learn about it: PyTorch's `get_worker_info`, and the worker's random streams.

use std::cell::RefCell;

use crate::rng::WorkerRng;
use crate::sync::thread_local;

/// PyTorch's `WorkerInfo`. Its `dataset` is missing: threads share one dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerInfo {
    /// Number of this worker, from 0.
    pub id: usize,
    /// Number of workers.
    pub num_workers: usize,
    /// `base_seed + id`: what the worker's random streams were seeded with.
    pub seed: u64,
}

struct Local {
    info: WorkerInfo,
    rng: WorkerRng,
}

thread_local! {
    static LOCAL: RefCell<Option<Local>> = const { RefCell::new(None) };
}

/// `torch.utils.data.get_worker_info()`: about the worker that runs the caller; `None` in any other thread.
pub fn get_worker_info() -> Option<WorkerInfo> {
    LOCAL.with(|local| local.borrow().as_ref().map(|l| l.info))
}

/// The random streams of the worker that runs the caller, seeded as PyTorch seeds `torch`, `random` and `numpy.random` in
/// its worker processes; `None` in any other thread. They go on from epoch to epoch while the worker lives.
///
/// `libtorch`'s own default generator is one for the whole process, so transforms in workers should draw from here.
pub fn with_worker_rng<R>(work: impl FnOnce(&mut WorkerRng) -> R) -> Option<R> {
    LOCAL.with(|local| local.borrow_mut().as_mut().map(|l| work(&mut l.rng)))
}

/// Makes the calling thread a worker.
pub(crate) fn become_worker(info: WorkerInfo, base_seed: u64) {
    let rng = WorkerRng::new(base_seed, info.id as u32);
    LOCAL.with(|local| *local.borrow_mut() = Some(Local { info, rng }));
}
