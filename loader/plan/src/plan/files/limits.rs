//! Limits of such files.

use crate::error::LoaderError;
use crate::limits::{CLASSES, SAMPLER_ENTRIES, grouped};
use loadscope_words::say;

pub(super) fn check_count(path: &str, what: &str, count: usize) -> Result<(), LoaderError> {
    match count > SAMPLER_ENTRIES {
        true => Err(LoaderError::Spec(say!("{path} {}", too_many(what)))),
        false => Ok(()),
    }
}

pub(super) fn check_classes(path: &str, count: usize) -> Result<(), LoaderError> {
    match count > CLASSES {
        true => Err(LoaderError::Spec(say!("{path} {}", too_many_classes()))),
        false => Ok(()),
    }
}

pub(super) fn too_many(what: &str) -> String {
    say!(
        "has more than {} {what}, the limit for such a file. Use a smaller dataset.",
        grouped(SAMPLER_ENTRIES as u64)
    )
}

pub(super) fn too_many_classes() -> String {
    say!(
        "has more than {} different labels, the limit for such a file. Use fewer classes.",
        grouped(CLASSES as u64)
    )
}
