//! Replacement for `files` in a browser, which cannot read files.

use crate::error::LoaderError;
use loadscope_words::say;

fn refused(path: &str, what: &str) -> LoaderError {
    LoaderError::Spec(say!(
        "{path}: a page in a browser cannot read files, so the {what} are missing. Choose another sampler, or use the desktop program."
    ))
}

pub(super) fn indices(path: &str, _: usize) -> Result<Vec<usize>, LoaderError> {
    Err(refused(path, "indices"))
}

pub(super) fn weights(path: &str, _: usize) -> Result<Vec<f64>, LoaderError> {
    Err(refused(path, "weights"))
}

pub(super) fn classes(path: &str) -> Result<Vec<Vec<usize>>, LoaderError> {
    Err(refused(path, "labels"))
}
