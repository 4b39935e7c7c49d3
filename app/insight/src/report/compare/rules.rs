//! Rules about the change between two recordings, for scripts and CI: `wait>+5%`.

use std::fmt;
use std::str::FromStr;

use loadscope_plan::keyvalue::{Key, KeySet, KeyValueError, real};
use loadscope_words::{Text, say};

use super::pieces::Outcome;
use super::{Comparison, Measure, change, shown};

/// Limit for the change of a measure. A significant change beyond it is a failure.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeRule {
    metric: Metric,
    is_greater: bool,
    /// Limit as a share: 0.05 is 5 %.
    limit: f64,
    text: String,
}

/// A quantity that a rule limits.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// Change of the share of time waiting, in percentage points.
    Wait,
    /// Relative change of the measure with this name.
    Measure(&'static str),
}

const NAMES: [(&str, Metric); 4] = [
    ("wait", Metric::Wait),
    ("throughput", Metric::Measure("samples_per_second")),
    ("wait_per_batch", Metric::Measure("wait_seconds_per_batch")),
    ("work_per_batch", Metric::Measure("work_seconds_per_batch")),
];

/// Error message for an invalid rule.
#[derive(Debug, thiserror::Error)]
#[error("{}", say!("{0}. Examples: 'wait>+5%' (percentage points), 'throughput<-10%', 'wait_per_batch>+20%', 'work_per_batch>+20%'.", .0))]
pub struct InvalidChangeRule(String);

impl FromStr for ChangeRule {
    type Err = InvalidChangeRule;

    fn from_str(text: &str) -> Result<Self, InvalidChangeRule> {
        let no = |why: &str| InvalidChangeRule(why.to_owned());
        let (name, limit, is_greater) = match (text.split_once('>'), text.split_once('<')) {
            (Some((name, limit)), None) => (name.trim(), limit.trim(), true),
            (None, Some((name, limit))) => (name.trim(), limit.trim(), false),
            _ => return Err(no(say!("it needs one > or <"))),
        };
        let known = NAMES.into_iter().find(|(own, _)| *own == name);
        let (_, metric) = known.ok_or_else(|| {
            let mut names = NAMES.map(|(name, _)| name);
            names.sort_unstable();
            let names = KeySet::new(names.map(|name| Key::once(name, Text::same(name))));
            no(&names.sentence(&KeyValueError::Unknown(name.to_owned())))
        })?;
        let number = limit
            .strip_suffix('%')
            .ok_or_else(|| no(say!("the limit must be in %")))?;
        if !number.starts_with(['+', '-']) {
            return Err(no(say!("the limit needs a sign, + or -")));
        }
        let number = number.strip_prefix('+').unwrap_or(number);
        let limit = real(number, ..).map_err(|wrong| no(&wrong.to_string()))?;
        Ok(Self {
            metric,
            is_greater,
            limit: limit / 100.0,
            text: text.to_owned(),
        })
    }
}

impl ChangeRule {
    /// Returns a message if the second recording breaks the rule.
    ///
    /// Returns `None` if it keeps the rule, or if the change is not significant. A rule fails if one of the recordings has no batches.
    pub fn violation(&self, comparison: &Comparison) -> Option<String> {
        let id = match self.metric {
            Metric::Wait => "wait_share",
            Metric::Measure(id) => id,
        };
        let Some(measure) = comparison.measures.iter().find(|m| m.id == id) else {
            return Some(say!(
                "cannot check {self}: one of the recordings has no batches"
            ));
        };
        let by = match self.metric {
            Metric::Wait => measure.b - measure.a,
            Metric::Measure(_) => match measure.change {
                Some(change) => change,
                // An increase from zero has no relative change.
                None if measure.b > 0.0 => f64::INFINITY,
                None => 0.0,
            },
        };
        let is_beyond = match self.is_greater {
            true => by > self.limit,
            false => by < self.limit,
        };
        (is_beyond && !may_be_chance(measure)).then(|| self.sentence(measure, by))
    }

    fn sentence(&self, measure: &Measure, by: f64) -> String {
        let (name, a, b) = shown(measure);
        let by = match self.metric {
            Metric::Wait => {
                let points = (by * 100.0).abs();
                let sign = if by < 0.0 { "−" } else { "+" };
                say!("{} points", format!("{sign}{points:.1}"))
            }
            Metric::Measure(_) => change(measure),
        };
        say!("failed: {self}: {name} changed from {a} to {b} ({by})")
    }
}

/// Returns true if the change is not significant.
///
/// Returns false without a confidence interval: with too few batches, the change itself decides.
fn may_be_chance(measure: &Measure) -> bool {
    measure.low.is_some() && measure.outcome == Outcome::Unclear
}

impl fmt::Display for ChangeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Run, RunOptions};

    use super::*;
    use crate::Datasets;
    use crate::simulated;

    fn run(num_workers: usize, seed: u64) -> Run {
        simulated(&RunOptions {
            dataset: format!("synthetic:len=400,cost_ms=10,jitter=0.5,seed={seed}"),
            batch_size: Some(2),
            num_workers,
            step_ms: 8.0,
            epochs: 2,
            ..RunOptions::default()
        })
    }

    fn broken(rule: &str, a: &Run, b: &Run) -> Option<String> {
        let comparison = Comparison::of((a, false), (b, false), Datasets::default());
        let rule: ChangeRule = rule.parse().expect("a rule");
        rule.violation(&comparison)
    }

    #[test]
    fn fewer_workers_break_rules_and_more_do_not() {
        let (many, few) = (run(4, 1), run(1, 2));
        let why = broken("wait>+5%", &many, &few).expect("it waits more");
        assert!(
            why.starts_with("failed: wait>+5%: share waited changed from"),
            "{why}"
        );
        assert!(why.ends_with(" points)"), "{why}");
        assert!(broken("throughput<-10%", &many, &few).is_some());
        assert!(broken("wait_per_batch>+100%", &many, &few).is_some());
        for rule in ["wait>+5%", "throughput<-10%", "wait_per_batch>+0%"] {
            assert_eq!(broken(rule, &few, &many), None, "{rule}");
        }
        // The limit is in percentage points, not relative to the first share.
        assert_eq!(broken("wait>+100%", &many, &few), None);
    }

    #[test]
    fn noise_breaks_no_rule_and_an_empty_run_does() {
        let (a, b) = (run(2, 1), run(2, 2));
        assert_eq!(broken("throughput<-0%", &a, &b), None);
        assert_eq!(broken("throughput>+0%", &a, &b), None);
        let nothing = Run::default();
        assert!(broken("wait>+5%", &a, &nothing).is_some());
    }

    #[test]
    fn a_malformed_rule_is_refused_with_an_example() {
        for text in [
            "wait",
            "wait>5%",
            "wait>+5",
            "speed>+5%",
            "wait>+x%",
            "wait>+1%<",
        ] {
            let error = text.parse::<ChangeRule>().expect_err(text).to_string();
            assert!(error.contains("wait>+5%"), "{error}");
        }
    }
}
