//! Stands in the place of the files of indices, weights and labels where there are none: in a browser.

use crate::error::LoaderError;
use loadscope_words::say;

fn refused(path: &str, what: &str) -> LoaderError {
    LoaderError::Spec(say!(
        "{path}: a page in a browser cannot read files, so the {what} are missing. Choose another sampler, or use the desktop program."
    ))
}

/// Dataset indices.
pub(super) fn indices(path: &str, _: usize) -> Result<Vec<usize>, LoaderError> {
    Err(refused(path, "indices"))
}

/// One weight a sample.
pub(super) fn weights(path: &str, _: usize) -> Result<Vec<f64>, LoaderError> {
    Err(refused(path, "weights"))
}

/// The samples of each class.
pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, LoaderError> {
    Err(refused(path, "labels"))
}
