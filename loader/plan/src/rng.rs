//! PyTorch's CPU random number generator, bit for bit: MT19937 and the distributions of `torch`.
//!
//! It also has the streams of Python's `random` and NumPy's `numpy.random`, which PyTorch seeds in every worker.

mod generator;
mod indices;
mod mt19937;
mod multinomial;
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

/// Generator that samplers and the loader share, like a `torch.Generator` in Python.
pub type SharedGenerator = Arc<Mutex<Generator>>;

/// Returns a new shared generator, seeded as [`Generator::new`].
pub fn shared_generator(seed: u64) -> SharedGenerator {
    Arc::new(Mutex::new(Generator::new(seed)))
}

/// Locks a shared generator. It stays usable after a panic, since every draw completes or does not start.
pub fn lock_generator(generator: &SharedGenerator) -> MutexGuard<'_, Generator> {
    generator.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns `torch.default_generator`, which the whole process shares. Its seed is random until [`manual_seed`].
pub fn default_generator() -> SharedGenerator {
    static DEFAULT: OnceLock<SharedGenerator> = OnceLock::new();
    let generator = DEFAULT.get_or_init(|| {
        // The standard library seeds its hash maps from the system's randomness. PyTorch also uses 53 bits.
        let seed = RandomState::new().hash_one("default_generator") & ((1 << 53) - 1);
        shared_generator(seed)
    });
    Arc::clone(generator)
}

/// `torch.manual_seed(seed)`: seeds the shared default generator.
pub fn manual_seed(seed: u64) {
    lock_generator(&default_generator()).manual_seed(seed);
}
