//! Random streams of a worker.

use super::{Generator, NumpyRandom, PythonRandom, numpy_seed_state};

/// Random streams that PyTorch seeds at the start of a worker: `torch.manual_seed(seed)`, `random.seed(seed)` and
/// `numpy.random.seed(…)`, with `seed = base_seed + worker_id`.
#[derive(Clone, Debug)]
pub struct WorkerRng {
    /// PyTorch's default generator.
    pub torch: Generator,
    /// Python's `random`.
    pub python: PythonRandom,
    /// NumPy's `numpy.random`. Its seed is a hash of the base seed and the worker id.
    pub numpy: NumpyRandom,
}

impl WorkerRng {
    /// Returns the streams of worker `worker_id`.
    pub fn new(base_seed: u64, worker_id: u32) -> Self {
        let seed = base_seed.wrapping_add(u64::from(worker_id));
        Self {
            torch: Generator::new(seed),
            // Python's integers do not overflow.
            python: PythonRandom::new(i128::from(base_seed) + i128::from(worker_id)),
            numpy: NumpyRandom::new(&numpy_seed_state(base_seed, worker_id)),
        }
    }
}
