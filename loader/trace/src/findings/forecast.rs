//! What other settings would bring. The forecasts themselves are made elsewhere; this is what the verdict needs of them.

use serde::Serialize;

use crate::Nanos;

/// A setting that could be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// `num_workers`
    NumWorkers(usize),
    /// `prefetch_factor`
    PrefetchFactor(usize),
    /// `in_order`
    InOrder(bool),
    /// `persistent_workers`
    PersistentWorkers(bool),
    /// `pin_memory`
    PinMemory(bool),
}

/// How long the run would take with one setting changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// What would be changed.
    pub change: Change,
    /// How long it would take.
    pub took: Nanos,
    /// How long the trainer would wait.
    pub waited: Nanos,
}

impl Change {
    /// As the subject of a sentence; `now` is how many workers there are.
    pub(super) fn subject(self, now: usize) -> String {
        let python = |on: bool| if on { "True" } else { "False" };
        match self {
            Self::NumWorkers(n) if n.checked_sub(1) == Some(now) => {
                format!("a {} worker", ordinal(n))
            }
            Self::NumWorkers(n) => format!("num_workers={n}"),
            Self::PrefetchFactor(n) => format!("prefetch_factor={n}"),
            Self::InOrder(on) => format!("in_order={}", python(on)),
            Self::PersistentWorkers(on) => format!("persistent_workers={}", python(on)),
            Self::PinMemory(on) => format!("pin_memory={}", python(on)),
        }
    }
}

fn ordinal(n: usize) -> String {
    const WORDS: [&str; 9] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    ];
    match n.checked_sub(1).and_then(|k| WORDS.get(k)) {
        Some(word) => (*word).to_owned(),
        None => format!("{n}th"),
    }
}
