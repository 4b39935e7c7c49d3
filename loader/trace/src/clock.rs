//! How the clocks of several runs were compared.

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::Nanos;

/// How the clock of a run was compared with that of the session it is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// By what.
    pub by: ClockBy,
    /// How far its times may be off, ns, as far as that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Nanos>,
}

/// By what clocks of different hosts were compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockBy {
    /// By the ends of training steps, where ranks that exchange gradients wait for each other.
    Steps,
    /// By the wall clocks of both hosts.
    WallClock,
    /// Not at all: each is shown from its own beginning.
    Beginning,
}

impl Clock {
    /// In a few words: `by its first training steps, ±0.8 ms`.
    pub fn label(&self) -> String {
        match (self.by, self.within) {
            (ClockBy::Steps, Some(within)) => say!("by its first training steps, ±{within}"),
            (ClockBy::Steps, None) => say!("by its first training steps").to_owned(),
            (ClockBy::WallClock, Some(within)) => say!("by its wall clock, ±{within}"),
            (ClockBy::WallClock, None) => {
                say!("by its wall clock, with unknown accuracy").to_owned()
            }
            (ClockBy::Beginning, _) => say!("from its own start").to_owned(),
        }
    }
}
