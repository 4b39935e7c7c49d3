//! Overrides of a program's `DataLoader` arguments.

use serde::{Deserialize, Serialize};

use super::value::ArgValue;

/// Start method of Python's worker processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StartMethod {
    /// Fork of the main process.
    Fork,
    /// New Python process.
    Spawn,
    /// Fork of a small server process.
    Forkserver,
}

impl StartMethod {
    /// All start methods.
    pub const ALL: [Self; 3] = [Self::Fork, Self::Spawn, Self::Forkserver];

    /// Returns the method with this name in Python.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }

    /// Returns the name in Python.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::Spawn => "spawn",
            Self::Forkserver => "forkserver",
        }
    }
}

/// `DataLoader` arguments that replace those of the program. `None` keeps the program's value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Overrides {
    /// Number of worker processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub num_workers: Option<usize>,
    /// Batches in flight per worker. Ignored without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefetch_factor: Option<usize>,
    /// Keep the workers alive between epochs. Ignored without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persistent_workers: Option<bool>,
    /// Copy batches to page-locked memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin_memory: Option<bool>,
    /// Yield batches in the order of the sampler.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<bool>,
    /// Start method of the workers. Ignored without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiprocessing_context: Option<StartMethod>,
}

impl Overrides {
    /// Returns true if nothing is replaced.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Access to one of the [`Overrides`]: functions that read and write it.
#[derive(Clone, Copy, Debug)]
pub enum Override {
    /// Whole number.
    Count(fn(&Overrides) -> Option<usize>, fn(&mut Overrides, usize)),
    /// `True` or `False`.
    Flag(fn(&Overrides) -> Option<bool>, fn(&mut Overrides, bool)),
    /// Start method.
    Method(
        fn(&Overrides) -> Option<StartMethod>,
        fn(&mut Overrides, StartMethod),
    ),
}

impl Override {
    /// Returns the value that replaces the program's. Returns `None` if the program's value remains.
    pub fn value(self, of: &Overrides) -> Option<ArgValue> {
        match self {
            Self::Count(get, _) => get(of).map(ArgValue::from),
            Self::Flag(get, _) => get(of).map(ArgValue::from),
            Self::Method(get, _) => get(of).map(|method| method.name().into()),
        }
    }
}
