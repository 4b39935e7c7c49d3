//! Data sets as far as they are known without loading a sample: their names, lengths, classes and made-up costs.

mod catalog;
mod cost;
mod spec;
mod stream;

pub use catalog::{Catalog, Entry, MadeUp};
pub use cost::{CostModel, Tail};
pub use spec::{DatasetSpec, TokenDtype, TokenSpec};
pub use stream::{Sharing, StreamModel};

use loadscope_trace::RunOptions;

use crate::error::EngineError;

/// What `text` adds to the costs of a data set of `len` samples.
///
/// # Errors
/// If the text is not understood, or speaks of the length or the shape, which are those of the data set.
pub fn extra_cost(text: &str, len: usize) -> Result<CostModel, EngineError> {
    let keys = || {
        text.split(',')
            .filter_map(|o| o.split_once('='))
            .map(|(key, _)| key.trim())
    };
    if let Some(key) = keys().find(|key| ["len", "shape"].contains(key)) {
        return Err(EngineError::Spec(format!(
            "extra_cost={text}: {key} is that of the data set and cannot be given here. Leave {key} out"
        )));
    }
    let free = if keys().any(|key| key == "cost_ms") {
        ""
    } else {
        "cost_ms=0,"
    };
    // The length lets indices beyond the end be refused.
    format!("len={},{free}{text}", len.max(1)).parse()
}

/// Whether the data set of these options can be slowed down.
///
/// # Errors
/// If it is a stream.
pub fn check_extra_cost(options: &RunOptions, spec: &DatasetSpec) -> Result<(), EngineError> {
    match spec {
        DatasetSpec::Stream(_) if !options.extra_cost.is_empty() => Err(EngineError::Spec(
            "extra_cost is for data sets with indices; a stream takes its costs by itself: stream:cost_ms=10"
                .to_owned(),
        )),
        _ => Ok(()),
    }
}
