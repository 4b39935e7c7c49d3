//! Effects of a request on the program, as its processes report them.

use std::collections::BTreeMap;

use loadscope_trace::{RunId, brief};

use crate::wire::About;

/// Errors that are kept.
const MOST_REFUSED: usize = 1000;

/// Effects of a [`Request`](crate::Request) on the program. The recording has a message for each of them, for people: its text
/// steers nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// The probe ended the program, as [`Request::stop`](crate::Request::stop) asks.
    pub stopped: bool,
    /// Arguments of a loader were set.
    pub was_set: bool,
    /// Loaders that kept their arguments, with the first line of the error of `DataLoader`; at most 1000.
    pub refused: BTreeMap<RunId, String>,
}

impl Effects {
    /// Adds the effects on one loader.
    pub(super) fn note(&mut self, run: RunId, about: &About) {
        self.was_set |= !about.set.is_empty();
        if !about.not_set.is_empty() && self.refused.len() < MOST_REFUSED {
            let line = about.not_set.lines().next().unwrap_or_default();
            self.refused.insert(run, brief(line.to_owned()));
        }
    }
}
