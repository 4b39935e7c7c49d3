//! The loader with a virtual clock, of datasets that are opened here.

use loadscope_trace::{Event, RunOptions};

pub use loadscope_plan::simulate::{Delivery, Simulation, Work};

use crate::dataset::Opening;
use crate::error::LoaderError;

/// Runs `options` with a virtual clock; the events are in order of time. The same options give the same events, always.
///
/// # Errors
/// What the engine would refuse; and if there are too many samples.
pub fn simulate(options: &RunOptions) -> Result<Vec<Event>, LoaderError> {
    loadscope_plan::simulate::simulate(options, &Opening)
}
