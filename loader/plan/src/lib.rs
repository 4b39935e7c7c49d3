//! What PyTorch's `DataLoader` decides without loading a sample: random numbers, samplers, orders, the scheduler, the virtual
//! clock, forecasts.
//!
//! Nothing here opens a dataset, starts a worker or needs libtorch. What has to be known of a dataset comes in through a
//! [`Catalog`](dataset::Catalog); the embedded engine has one that opens it, [`MadeUp`](dataset::MadeUp) knows those that are
//! made up.
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

/// The example of the README compiles and holds.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
