//! The loader with a virtual clock, with datasets opened by this crate.

use loadscope_trace::{Event, RunOptions};

pub use loadscope_plan::simulate::{Delivery, Simulation, Work};

use crate::dataset::OpeningCatalog;
use crate::error::LoaderError;

/// Runs `options` with a virtual clock. The events are ordered by time, and always the same for the same options.
///
/// # Errors
/// If the engine would refuse the options, or if there are too many samples.
pub fn simulate(options: &RunOptions) -> Result<Vec<Event>, LoaderError> {
    loadscope_plan::simulate::simulate(options, &OpeningCatalog)
}
