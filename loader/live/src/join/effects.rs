//! Effects of a request on the program, as its processes report them.

use std::collections::BTreeMap;

use loadscope_trace::{RunId, brief};

use crate::wire::About;

/// Maximum number of stored errors.
const MOST_REFUSED: usize = 1000;

/// Effects of a [`Request`](crate::Request) on the program. The recording also has a message about each of them. Those messages are for
/// users only: no code reads them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// True if the probe ended the program, as [`Request::stop`](crate::Request::stop) requests.
    pub stopped: bool,
    /// True if arguments of a loader were overridden.
    pub was_set: bool,
    /// Loaders that kept their arguments, with the first line of the error from `DataLoader`. At most 1000.
    pub refused: BTreeMap<RunId, String>,
}

impl Effects {
    /// Adds the effects on one loader.
    pub(super) fn add(&mut self, run: RunId, about: &About) {
        self.was_set |= !about.set.is_empty();
        if !about.not_set.is_empty() && self.refused.len() < MOST_REFUSED {
            let line = about.not_set.lines().next().unwrap_or_default();
            self.refused.insert(run, brief(line.to_owned()));
        }
    }
}
