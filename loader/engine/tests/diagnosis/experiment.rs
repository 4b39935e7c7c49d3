//! Experiment: compares the causes added to a run with the verdict.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use loadscope_diagnose::{Blame, Diagnosis, Finding, Severity};
use loadscope_trace::Nanos;

use super::scenario::{Cause, Scenario};

/// Number of runs of each single cause per set of seeds.
const ALONE: u64 = 4;
/// Number of runs of each pair of causes.
const PAIRED: u64 = 1;
/// Number of runs without causes, with one epoch and again with several.
const HEALTHY: u64 = 12;
/// Maximum number of seeds per set.
const SET: u64 = 10_000;

/// Aspect of a run that a cause changes. Two causes of one aspect are indistinguishable and cannot be combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Speed of making or transferring batches.
    Supply,
    /// Time of single samples.
    Samples,
    /// Start of a run or an epoch.
    Beginning,
    /// Exhausted resource, such as shared memory or file descriptors.
    Resource,
    /// End of the run.
    Ending,
}

fn part(cause: Cause) -> Part {
    match cause {
        Cause::HeadOfLine | Cause::HeavyTail => Part::Samples,
        Cause::SlowFirstBatch | Cause::EpochRefill => Part::Beginning,
        Cause::SharedMemory | Cause::Descriptors => Part::Resource,
        Cause::DeadWorker | Cause::SilentWorker => Part::Ending,
        _ => Part::Supply,
    }
}

/// Returns true if both causes have their effects in one run.
fn go_together(a: Cause, b: Cause) -> bool {
    let needs_workers =
        |c| matches!(part(c), Part::Samples | Part::Ending) || c == Cause::EpochRefill;
    let has_none = |c| matches!(c, Cause::NoWorkers | Cause::Sampler);
    // In a run limited elsewhere, single slow samples have no effect. With one worker, no batch overtakes another.
    let hides_samples = |c| {
        matches!(
            c,
            Cause::Pinning | Cause::SlowerThanNone | Cause::WindowTooSmall | Cause::Oversubscribed
        )
    };
    let excluded = |a, b| {
        has_none(a) && needs_workers(b)
            || hides_samples(a) && part(b) == Part::Samples
            // A heavy tail needs workers with spare time.
            || part(a) == Part::Supply && b == Cause::HeavyTail
            // `SlowerThanNone` has a single worker, but an ending cause affects one of several.
            || a == Cause::SlowerThanNone && part(b) == Part::Ending
    };
    part(a) != part(b) && !excluded(a, b) && !excluded(b, a)
}

/// Returns all pairs, each once.
pub fn pairs() -> Vec<(Cause, Cause)> {
    let all = Cause::ALL.into_iter().enumerate();
    let each = all.flat_map(|(k, a)| Cause::ALL[k + 1..].iter().map(move |b| (a, *b)));
    each.filter(|(a, b)| go_together(*a, *b)).collect()
}

/// Returns true if `id` is a finding of the cause. `Starved` and `Sawtooth` are both a lack of workers.
fn is_named(cause: Cause, id: &str) -> bool {
    match cause {
        Cause::Starved | Cause::Sawtooth => ["starved_workers", "sawtooth"].contains(&id),
        _ => cause.id() == id,
    }
}

fn weighty(diagnosis: &Diagnosis) -> impl Iterator<Item = &Finding> {
    let findings = diagnosis.findings.iter();
    findings.filter(|f| f.severity > Severity::Note)
}

/// Result of one run.
pub struct Trial {
    /// Added causes. Empty for a healthy run.
    pub put: Vec<Cause>,
    /// ID of the verdict.
    pub verdict: &'static str,
    /// True if the verdict names an added cause and the findings include all of them.
    ///
    /// For a healthy run, true if the verdict is `fine` and all findings are notes, including `training_bound`.
    pub is_right: bool,
    /// Verdict text, findings and scenario for a failed trial, otherwise empty.
    pub remark: String,
}

impl Trial {
    fn of(scenario: &Scenario, put: &[Cause]) -> Self {
        let run = scenario.run();
        assert_eq!(run.anomalies(), (0, 0), "{scenario:?}");
        let blame = Blame::whole(&run);
        let sum = blame.iter().fold(Nanos::ZERO, |sum, (_, t)| sum + t);
        assert_eq!((sum, blame.waited), (run.waited(), run.waited()));
        let d = Diagnosis::of(&run, None, Vec::new());
        let finds = |cause: Cause| weighty(&d).any(|f| is_named(cause, f.id.as_str()));
        // A worker that is silent for minutes makes all preceding effects small.
        let counts = |cause: &Cause| {
            let silent = put.contains(&Cause::SilentWorker);
            !silent || matches!(part(*cause), Part::Ending | Part::Resource)
        };
        let is_right = match put {
            [] => {
                let bound = d.findings.iter().any(|f| f.id.as_str() == "training_bound");
                d.verdict.id.as_str() == "fine" && weighty(&d).next().is_none() && bound
            }
            [cause] => {
                let itself = weighty(&d).any(|f| f.id.as_str() == cause.id());
                itself && is_named(*cause, d.verdict.id.as_str())
            }
            _ => {
                put.iter().filter(|c| counts(c)).all(|c| finds(*c))
                    && put.iter().any(|c| is_named(*c, d.verdict.id.as_str()))
            }
        };
        let found: Vec<String> = weighty(&d)
            .map(|f| match f.cost {
                Some(cost) => format!("{} {cost}", f.id.as_str()),
                None => f.id.as_str().to_owned(),
            })
            .collect();
        Self {
            put: put.to_vec(),
            verdict: d.verdict.id.as_str(),
            is_right,
            remark: match is_right {
                true => String::new(),
                false => format!("{}\n  {found:?}\n  {scenario:?}", d.verdict.text()),
            },
        }
    }
}

/// The runs of one set of seeds.
pub struct Set {
    /// Runs of single causes.
    pub alone: Vec<Trial>,
    /// Runs of two causes.
    pub paired: Vec<Trial>,
    /// Runs without causes.
    pub healthy: Vec<Trial>,
}

impl Set {
    /// Runs set number `set`. Sets have no seeds in common.
    pub fn run(set: u64) -> Self {
        let base = set * SET;
        let alone = Cause::ALL.into_iter().flat_map(|cause| {
            (0..ALONE).map(move |k| {
                let seed = base + 1_000 + k;
                Trial::of(&Scenario::healthy(seed).with(cause), &[cause])
            })
        });
        let paired = pairs().into_iter().flat_map(|(a, b)| {
            (0..PAIRED).map(move |k| {
                let healthy = Scenario::healthy(base + 2_000 + k);
                // The places of single samples depend on the length of the epochs.
                let (first, then) = match part(b) {
                    Part::Beginning => (b, a),
                    _ => (a, b),
                };
                Trial::of(&healthy.with(first).with(then), &[a, b])
            })
        });
        let healthy = (0..HEALTHY).flat_map(|k| {
            let one = Scenario::healthy(base + k);
            let several = Scenario::healthy(base + HEALTHY + k).of_epochs(3);
            [Trial::of(&one, &[]), Trial::of(&several, &[])]
        });
        Self {
            alone: alone.collect(),
            paired: paired.collect(),
            healthy: healthy.collect(),
        }
    }
}

/// Score of several trials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Number of right trials.
    pub right: usize,
    /// Number of trials.
    pub of: usize,
}

impl Score {
    /// Counts the trials.
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> Self {
        let mut score = Self::default();
        for trial in trials {
            score.of += 1;
            score.right += usize::from(trial.is_right);
        }
        score
    }

    /// Returns the share of right trials, 0 to 1.
    pub fn share(self) -> f64 {
        self.right as f64 / self.of.max(1) as f64
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = self.share() * 100.0;
        write!(f, "{} of {} ({share:.1} %)", self.right, self.of)
    }
}

/// Returns a table of added causes, verdicts and their numbers.
pub fn table<'a>(trials: impl IntoIterator<Item = &'a Trial>) -> String {
    let mut rows: BTreeMap<(String, &str, bool), u32> = BTreeMap::new();
    for trial in trials {
        let names: Vec<&str> = trial.put.iter().map(|c| c.id()).collect();
        let put = match names.is_empty() {
            true => "nothing".to_owned(),
            false => names.join(" + "),
        };
        *rows
            .entry((put, trial.verdict, trial.is_right))
            .or_default() += 1;
    }
    let mut out = String::from("| put in | the verdict says | | runs |\n|---|---|---|--:|\n");
    for ((put, verdict, is_right), runs) in rows {
        let mark = if is_right { "" } else { "**wrong**" };
        let _ = writeln!(out, "| {put} | {verdict} | {mark} | {runs} |");
    }
    out
}
