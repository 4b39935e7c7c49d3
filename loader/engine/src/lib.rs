//! PyTorch's `torch.utils.data` in Rust, which tells what it does.
//!
//! Samplers, the prefetch window, the cycle of the workers, the reorder buffer and the consumption of random numbers follow
//! PyTorch 2.13 exactly: the same seed gives the same batches. Workers are threads.
//!
//! | PyTorch | here |
//! |---|---|
//! | `torch.Generator` | [`rng::Generator`] |
//! | `Dataset` | [`dataset::Dataset`] |
//! | `SequentialSampler`, `RandomSampler`, `BatchSampler` | [`sampler`] |
//! | `default_collate`, `default_convert` | [`collate`] |
//! | `_MapDatasetFetcher` | [`MapFetcher`] |
//! | `DataLoader` | [`DataLoader`] |
//! | `_MultiProcessingDataLoaderIter` | [`LoaderIter`] around a [`scheduler::Scheduler`] |
//! | `pin_memory` | [`pin`] |

pub mod batch;
mod clock;
pub mod collate;
pub mod content;
mod cpu;
pub mod dataset;
pub mod error;
pub mod fetch;
pub mod gate;
pub mod loader;
pub mod order;
pub mod pin;
pub mod plan;
mod pool;
pub mod probe;
pub mod rng;
pub mod run;
pub mod sampler;
pub mod scheduler;
pub mod simulate;
mod sync;
pub mod value;
mod worker;
mod worker_info;

pub use batch::{Batch, Loaded};
pub use clock::Clock;
pub use error::EngineError;
pub use fetch::{
    Collate, Convert, DefaultCollate, Fetch, FetchError, FetchScope, Fetcher, MapFetcher, Request,
    StreamFetcher,
};
pub use gate::Gate;
pub use loader::{Arguments, DataLoader, LoaderBuilder, LoaderIter, LoaderOptions, LoaderState};
pub use probe::{ContentPolicy, Probe};
pub use run::{RunControl, RunHandle, start};
pub use worker::{WorkerInitFn, exit_worker};
pub use worker_info::{WorkerInfo, get_worker_info, with_worker_rng};
