//! PyTorch's `torch.utils.data` in Rust, with events that show its work.
//!
//! Samplers, prefetch window, worker rotation, reorder buffer and random numbers follow PyTorch 2.13 exactly: the same seed
//! gives the same batches. Workers are threads.
//!
//! | PyTorch | here |
//! |---|---|
//! | `torch.Generator`, `torch.manual_seed` | [`rng::Generator`], [`rng::manual_seed`] |
//! | `Dataset`, `IterableDataset` | [`dataset::Dataset`], [`dataset::IterableDataset`] |
//! | `TensorDataset`, `StackDataset`, `ConcatDataset`, `ChainDataset`, `Subset` | the same names in [`dataset`] |
//! | `random_split` | [`dataset::random_split`] |
//! | `SequentialSampler`, `RandomSampler`, `SubsetRandomSampler` | the same names in [`sampler`] |
//! | `WeightedRandomSampler`, `DistributedSampler` | the same names in [`sampler`] |
//! | `BatchSampler`, `batch_sampler=` | [`sampler::BatchSampler`], [`sampler::BatchSource`] |
//! | `default_collate`, `default_convert`, `collate_fn=` | [`collate`], [`Collate`] |
//! | `_MapDatasetFetcher`, `_IterableDatasetFetcher` | [`MapFetcher`], [`StreamFetcher`] |
//! | `DataLoader(dataset, …)` | [`LoaderBuilder`] |
//! | `iter(loader)`, `len(loader)` | [`DataLoader::iter`], [`DataLoader::len`] |
//! | `_MultiProcessingDataLoaderIter` | [`LoaderIter`] around a [`scheduler::Scheduler`] |
//! | `get_worker_info()`, `worker_init_fn=` | [`get_worker_info`], [`LoaderBuilder::worker_init_fn`] |
//! | `random.seed`, `numpy.random.seed` in workers | [`with_worker_rng`] |
//! | `os._exit` in a worker | [`exit_worker`] |
//! | `pin_memory=` | [`pin`], [`Batch::pin`] |
//! | `StatefulDataLoader.state_dict()` | [`LoaderIter::state_dict`], [`DataLoader::load_state_dict`] |
//!
//! Samples of any type with a custom collate function:
//!
//! ```
//! use std::sync::Arc;
//! use loadscope_engine::{LoaderBuilder, LoaderError, dataset::ListDataset};
//!
//! # fn main() -> Result<(), LoaderError> {
//! let words = ["one", "two", "three"].map(str::to_owned);
//! let join = |samples: Vec<String>| -> Result<Vec<String>, LoaderError> { Ok(vec![samples.join(" ")]) };
//! let mut loader = LoaderBuilder::new(Arc::new(ListDataset::from(words.to_vec())))
//!     .batch_size(2)
//!     .num_workers(1)
//!     .collate_fn(join)
//!     .build()?;
//! let batches: Result<Vec<_>, _> = loader.iter()?.map(|b| b.map(|b| b.into_batch())).collect();
//! assert_eq!(batches?, [["one two"], ["three"]]);
//! # Ok(())
//! # }
//! ```

loadscope_words::catalogs!();

pub mod batch;
mod clock;
pub mod collate;
pub mod content;
mod cpu;
pub mod dataset;
pub mod fetch;
pub mod gate;
pub mod loader;
pub mod order;
mod panics;
pub mod pin;
mod pool;
mod preview_budget;
pub mod probe;
pub mod run;
pub mod simulate;
mod sync;
pub mod value;
mod worker;
mod worker_info;

pub use loadscope_plan::{error, forecast, limits, plan, rng, sampler, scheduler};

pub use batch::{Batch, Loaded};
pub use clock::Clock;
pub use error::LoaderError;
pub use fetch::{
    Collate, Convert, DefaultCollate, Fetch, FetchError, FetchScope, Fetcher, MapFetcher, Request,
    StreamFetcher,
};
pub use gate::Gate;
pub use loader::{Arguments, DataLoader, LoaderBuilder, LoaderIter, LoaderOptions, LoaderState};
pub use panics::exit_worker;
pub use probe::{ContentPolicy, Events, Probe};
pub use run::{RunControl, RunHandle, start};
pub use worker::WorkerInitFn;
pub use worker_info::{WorkerInfo, get_worker_info, with_worker_rng};

/// Compiles and runs the README's example as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
