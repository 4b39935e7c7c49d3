//! Alignment of the clocks of several runs.

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::Nanos;

/// Alignment of a run's clock with the clock of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clock {
    /// Method of alignment.
    pub by: ClockMethod,
    /// Largest error, ns. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Nanos>,
}

/// Method of aligning the clocks of different hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockMethod {
    /// Ends of training steps, where ranks that exchange gradients wait for each other.
    Steps,
    /// Wall clocks of both hosts.
    WallClock,
    /// No alignment: each run starts at its own beginning.
    Beginning,
}

impl Clock {
    /// Returns a short description, such as `by its first training steps, ±0.8 ms`.
    pub fn label(&self) -> String {
        match (self.by, self.within) {
            (ClockMethod::Steps, Some(within)) => say!("by its first training steps, ±{within}"),
            (ClockMethod::Steps, None) => say!("by its first training steps").to_owned(),
            (ClockMethod::WallClock, Some(within)) => say!("by its wall clock, ±{within}"),
            (ClockMethod::WallClock, None) => {
                say!("by its wall clock, with unknown accuracy").to_owned()
            }
            (ClockMethod::Beginning, _) => say!("from its own start").to_owned(),
        }
    }
}
