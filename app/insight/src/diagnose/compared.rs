//! Comparison of this run with another one.

use loadscope_trace::{Nanos, Run};

use crate::Datasets;
use crate::loaders::{Part, trainer};
use crate::report::compare::{Comparison, Outcome, change, shown};

/// Number of parts of the longer run.
const PARTS: usize = 240;

/// Differences of two runs in texts and shares. The second run is the outcome of a change to the first.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Names of the runs.
    pub names: [String; 2],
    /// Result in one sentence.
    pub sentence: String,
    /// Different options, in one line.
    pub options: String,
    /// Significance of the change in throughput.
    pub outcome: Outcome,
    /// Numbers of both runs.
    pub rows: Vec<Row>,
    /// Titles of findings that only the first run has.
    pub gone: Vec<String>,
    /// Titles of findings that only the second run has.
    pub new: Vec<String>,
    /// Activity of both trainers on one time scale.
    pub strips: [Strip; 2],
    /// Number of epochs that both runs have, if one has more.
    pub only_epochs: Option<usize>,
}

/// A number of both runs.
#[derive(Clone, Debug)]
pub struct Row {
    /// Name of the number.
    pub name: &'static str,
    /// Value of the first run.
    pub before: String,
    /// Value of the second run.
    pub after: String,
    /// `+12 % (+9.1 % to +15 %)`
    pub change: String,
    /// Rating of the change.
    pub outcome: Outcome,
}

/// Activity of a trainer from left to right.
#[derive(Clone, Debug)]
pub struct Strip {
    /// Length of the strip.
    pub total: Nanos,
    /// Activity in each part of the time.
    pub parts: Vec<Part>,
    /// Length relative to the longer run, 0 to 1.
    pub width: f32,
}

impl Compared {
    /// Compares two runs. The flag is true for a truncated file.
    pub fn of(
        names: [String; 2],
        before: (&Run, bool),
        after: (&Run, bool),
        datasets: Datasets,
    ) -> Self {
        let comparison = Comparison::of(before, after, datasets);
        let rows = comparison.measures.iter().map(|m| {
            let (name, before, after) = shown(m);
            Row {
                name,
                before,
                after,
                change: change(m),
                outcome: m.outcome,
            }
        });
        let (gone, new) = comparison.findings();
        let (a, b) = (&comparison.a.survey, &comparison.b.survey);
        let longest = a.total().max(b.total());
        let epochs = (before.0.epochs().len(), after.0.epochs().len());
        Self {
            sentence: comparison.sentence_of(&names[0], &names[1]),
            options: comparison.options(),
            outcome: comparison.outcome(),
            rows: rows.collect(),
            gone: gone.into_iter().map(|id| id.title().to_owned()).collect(),
            new: new.into_iter().map(|id| id.title().to_owned()).collect(),
            strips: [
                strip(before.0, (a.start, a.total()), longest),
                strip(after.0, (b.start, b.total()), longest),
            ],
            only_epochs: (epochs.0 != epochs.1).then_some(comparison.epochs),
            names,
        }
    }
}

fn strip(run: &Run, (start, total): (Nanos, Nanos), longest: Nanos) -> Strip {
    let parts = trainer(run, (start, start + longest), PARTS);
    Strip {
        total,
        parts,
        width: (total.0 as f64 / longest.0.max(1) as f64) as f32,
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Activity, Lane, RunOptions};

    use super::*;
    use crate::simulated;

    #[test]
    fn strips_share_one_scale_and_add_up() {
        let slow = RunOptions {
            dataset: "synthetic:len=400,cost_ms=20".to_owned(),
            batch_size: Some(2),
            num_workers: 1,
            step_ms: 10.0,
            ..RunOptions::default()
        };
        let fast = RunOptions {
            num_workers: 4,
            ..slow.clone()
        };
        let (before, after) = (simulated(&slow), simulated(&fast));
        let compared = Compared::of(
            ["before".to_owned(), "This run".to_owned()],
            (&before, false),
            (&after, false),
            Datasets::default(),
        );
        assert_eq!(compared.outcome, Outcome::Improved);
        assert!(
            compared.sentence.starts_with("This run is faster"),
            "{}",
            compared.sentence
        );
        let [other, this] = &compared.strips;
        assert!((other.width - 1.0).abs() < 1e-6 && this.width < 0.5);
        // Each strip contains all of its trainer's time.
        for (strip, run) in [(other, &before), (this, &after)] {
            let shown: f32 = strip.parts.iter().map(|p| p.trained + p.waiting()).sum();
            let spent = run.spent(Lane::Trainer, Nanos::ZERO, run.end());
            let all = spent.time_in(Activity::Training) + spent.time_in(Activity::Waiting);
            let part = other.total.0 as f32 / PARTS as f32;
            assert!((shown * part / all.0 as f32 - 1.0).abs() < 0.02, "{shown}");
        }
    }
}
