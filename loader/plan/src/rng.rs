//! PyTorch's CPU random number generator, bit for bit: MT19937 and what `torch` draws from it.
//!
//! The streams of Python's `random` and of NumPy's `numpy.random`, which PyTorch seeds in every worker, are here as well.

mod generator;
mod indices;
mod mt19937;
mod multinomial;
mod normal;
mod numpy;
mod python;
mod randperm;
mod state;
mod topk;
mod worker;

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

pub use generator::Generator;
pub(crate) use generator::{RANDINT_WIDE, reserve};
pub use indices::{Indices, Permutation};
pub(crate) use multinomial::multinomial_words;
pub use numpy::{NumpyRandom, numpy_seed_state};
pub use python::PythonRandom;
pub use randperm::RANDPERM_WIDE;
pub(crate) use randperm::randperm_words;
pub use state::GeneratorState;
pub use worker::WorkerRng;

/// A generator that several samplers and the loader draw from, as they share one `torch.Generator` in Python.
pub type SharedGenerator = Arc<Mutex<Generator>>;

/// A new generator to share, seeded as [`Generator::new`].
pub fn shared_generator(seed: u64) -> SharedGenerator {
    Arc::new(Mutex::new(Generator::new(seed)))
}

/// Locks a shared generator. A panic elsewhere leaves the generator usable: every draw completes or does not start.
pub fn lock_generator(generator: &SharedGenerator) -> MutexGuard<'_, Generator> {
    generator.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `torch.default_generator`: one for the whole process. Until [`manual_seed`] its seed is another one in every run.
pub fn default_generator() -> SharedGenerator {
    static DEFAULT: OnceLock<SharedGenerator> = OnceLock::new();
    let generator = DEFAULT.get_or_init(|| {
        // The standard library seeds its hash maps from the system's randomness. PyTorch takes 53 bits, too.
        let seed = RandomState::new().hash_one("default_generator") & ((1 << 53) - 1);
        shared_generator(seed)
    });
    Arc::clone(generator)
}

/// `torch.manual_seed(seed)`: seeds the default generator, for everyone who draws from it.
pub fn manual_seed(seed: u64) {
    lock_generator(&default_generator()).manual_seed(seed);
}
