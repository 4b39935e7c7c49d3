//! Overrides of a program's `DataLoader` arguments.

use std::fmt;

use serde::Serialize;

use super::{PinMemory, RunOptions};

/// Start method of Python's worker processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
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

    /// Returns the arguments in Python notation: `num_workers=4`, `pin_memory=True`.
    pub fn arguments(&self) -> Vec<String> {
        let truth = |yes: bool| if yes { "True" } else { "False" };
        let number = |name: &str, n: Option<usize>| n.map(|n| format!("{name}={n}"));
        let flag = |name: &str, yes: Option<bool>| yes.map(|yes| format!("{name}={}", truth(yes)));
        let context = self.multiprocessing_context;
        [
            number("num_workers", self.num_workers),
            number("prefetch_factor", self.prefetch_factor),
            flag("persistent_workers", self.persistent_workers),
            flag("pin_memory", self.pin_memory),
            flag("in_order", self.in_order),
            context.map(|context| format!("multiprocessing_context='{}'", context.name())),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// Returns the overrides that differ from a loader's actual `options`. Arguments without effect are ignored, such as `prefetch_factor`
    /// without workers.
    pub fn not_applied_in(&self, options: &RunOptions) -> Vec<&'static str> {
        let works = options.num_workers > 0;
        let pins = options.pin_memory != PinMemory::Off;
        let context = self.multiprocessing_context.map(StartMethod::name);
        let differ = |wanted: Option<bool>, is: bool| wanted.is_some_and(|wanted| wanted != is);
        let checks = [
            (
                "num_workers",
                self.num_workers.is_some_and(|n| n != options.num_workers),
            ),
            (
                "prefetch_factor",
                works
                    && self
                        .prefetch_factor
                        .is_some_and(|n| n != options.prefetch()),
            ),
            (
                "persistent_workers",
                works && differ(self.persistent_workers, options.persistent_workers),
            ),
            ("pin_memory", differ(self.pin_memory, pins)),
            ("in_order", works && differ(self.in_order, options.in_order)),
            (
                "multiprocessing_context",
                works && context.is_some_and(|name| name != options.multiprocessing_context),
            ),
        ];
        let missed = checks.into_iter().filter(|(_, is_missed)| *is_missed);
        missed.map(|(name, _)| name).collect()
    }
}

/// Formats the arguments: `num_workers=4, pin_memory=True`.
impl fmt::Display for Overrides {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.arguments().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_written_as_python_text_and_probe_json() {
        let all = Overrides {
            num_workers: Some(4),
            prefetch_factor: Some(3),
            persistent_workers: Some(true),
            pin_memory: Some(false),
            in_order: Some(true),
            multiprocessing_context: Some(StartMethod::Forkserver),
        };
        assert_eq!(
            all.to_string(),
            "num_workers=4, prefetch_factor=3, persistent_workers=True, pin_memory=False, in_order=True, \
             multiprocessing_context='forkserver'"
        );
        assert_eq!(
            serde_json::to_string(&all).unwrap(),
            r#"{"num_workers":4,"prefetch_factor":3,"persistent_workers":true,"pin_memory":false,"in_order":true,"multiprocessing_context":"forkserver"}"#
        );
        assert_eq!(serde_json::to_string(&Overrides::default()).unwrap(), "{}");
        assert!(Overrides::default().is_empty() && !all.is_empty());
    }

    #[test]
    fn overrides_with_an_effect_that_did_not_apply_are_listed() {
        let wanted = Overrides {
            num_workers: Some(0),
            prefetch_factor: Some(4),
            persistent_workers: Some(true),
            ..Overrides::default()
        };
        let mut options = RunOptions::default();
        assert!(wanted.not_applied_in(&options).is_empty());
        options.num_workers = 2;
        assert_eq!(
            wanted.not_applied_in(&options),
            ["num_workers", "prefetch_factor", "persistent_workers"]
        );
        let default = Overrides {
            prefetch_factor: Some(2),
            in_order: Some(true),
            ..Overrides::default()
        };
        assert!(default.not_applied_in(&options).is_empty());
    }
}
