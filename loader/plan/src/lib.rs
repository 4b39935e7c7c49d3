//! Decisions of PyTorch's `DataLoader` that need no samples: random numbers, samplers, orders, the scheduler, simulations,
//! forecasts.
//!
//! This crate opens no dataset, starts no worker and does not need libtorch. A [`Catalog`](dataset::Catalog) returns the properties of
//! datasets. The embedded engine's catalog opens them. [`SyntheticCatalog`](dataset::SyntheticCatalog) contains the synthetic ones.
//!
//! ```
//! use loadscope_plan::{order::{Samples, order}, error::LoaderError};
//! use loadscope_trace::RunOptions;
//!
//! # fn main() -> Result<(), LoaderError> {
//! let options = RunOptions { batch_size: Some(2), num_workers: 2, ..RunOptions::default() };
//! let order = order(&options, &Samples::Map(5))?;
//! assert_eq!(order.epochs, [[vec![0, 1], vec![2, 3], vec![4]]]);
//! assert_eq!(order.workers, [[0, 1, 0]]);
//! # Ok(())
//! # }
//! ```

loadscope_words::catalogs!();

mod cpu;
pub mod dataset;
pub mod error;
mod facts;
pub mod forecast;
pub mod keyvalue;
pub mod limits;
pub mod loader;
pub mod order;
pub mod plan;
pub mod rng;
pub mod sampler;
pub mod scheduler;
pub mod simulate;

pub use cpu::processors;
pub use error::LoaderError;
pub use facts::Facts;

/// Doctest of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
