//! Stands in the place of the files of indices, weights and labels where there are none: in a browser.

use crate::error::EngineError;
use loadscope_words::say;

fn refused(path: &str, what: &str) -> EngineError {
    EngineError::Spec(say!(
        "{path}: a page in a browser cannot read files, so the {what} are missing. Choose another sampler, or use the desktop program."
    ))
}

/// Dataset indices.
pub(super) fn indices(path: &str, _: usize) -> Result<Vec<usize>, EngineError> {
    Err(refused(path, "indices"))
}

/// One weight a sample.
pub(super) fn weights(path: &str, _: usize) -> Result<Vec<f64>, EngineError> {
    Err(refused(path, "weights"))
}

/// The samples of each class.
pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, EngineError> {
    Err(refused(path, "labels"))
}
