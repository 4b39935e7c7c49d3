//! Arguments of overrides: their Python text, and those that did not apply.

use std::fmt;

use super::RunOptions;
use super::argument::Argument;
use super::overrides::Overrides;
use super::value::ArgValue;

impl Overrides {
    /// Returns the replaced arguments and their values.
    fn given(&self) -> impl Iterator<Item = (Argument, ArgValue)> + '_ {
        let all = Argument::OVERRIDABLE.into_iter();
        all.filter_map(|one| Some((one, one.overrides()?.value(self)?)))
    }

    /// Returns the arguments in Python notation: `num_workers=4`, `pin_memory=True`.
    pub fn arguments(&self) -> Vec<String> {
        let text =
            |(one, value): (Argument, ArgValue)| format!("{}={}", one.name(), value.code('\''));
        self.given().map(text).collect()
    }

    /// Returns the overrides that differ from a loader's actual `options`. Arguments without effect are ignored, such as `prefetch_factor`
    /// without workers.
    pub fn not_applied_in(&self, options: &RunOptions) -> Vec<&'static str> {
        let works = |one: Argument| options.num_workers > 0 || !one.needs_workers();
        let missed = self
            .given()
            .filter(|(one, value)| works(*one) && one.effective(options) != *value);
        missed.map(|(one, _)| one.name()).collect()
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
    use crate::options::StartMethod;

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
