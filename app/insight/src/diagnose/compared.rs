//! This run beside another one.

use loadscope_trace::{Nanos, Run};
use loadscope_words::say;

use crate::Datasets;
use crate::loaders::{Part, trainer};
use crate::report::compare::{Comparison, Outcome, change, shown, title};

/// Into so many parts the longer run is divided.
const PARTS: usize = 240;

/// Two runs, and what differs, in words and shares. The first is the other one, the second this one.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The outcome in one sentence.
    pub sentence: String,
    /// Which options differ, in one line.
    pub options: String,
    /// What to think of the whole.
    pub outcome: Outcome,
    /// Numbers of both.
    pub rows: Vec<Row>,
    /// Titles of the findings that only the other one has.
    pub gone: Vec<String>,
    /// Titles of the findings that only this one has.
    pub new: Vec<String>,
    /// What their trainers did, on one scale of time.
    pub strips: [Strip; 2],
    /// Epochs that both have, if one has more.
    pub only_epochs: Option<usize>,
}

/// A number of both.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// In the other one.
    pub other: String,
    /// In this one.
    pub this: String,
    /// `+12 % (+9.1 % to +15 %)`
    pub change: String,
    /// What to think of it.
    pub outcome: Outcome,
}

/// What a trainer did from left to right.
#[derive(Clone, Debug)]
pub struct Strip {
    /// How long it was at it.
    pub total: Nanos,
    /// What it did in each part of the time.
    pub parts: Vec<Part>,
    /// Its share of the longer run, 0 to 1.
    pub width: f32,
}

impl Compared {
    /// Holds `this` against `other`, which is called `name`; each with true if its file was cut off.
    pub fn of(name: &str, other: (&Run, bool), this: (&Run, bool), datasets: Datasets) -> Self {
        let comparison = Comparison::of(other, this, datasets);
        let rows = comparison.measures.iter().map(|m| {
            let (name, other, this) = shown(m);
            Row {
                name,
                other,
                this,
                change: change(m),
                outcome: m.outcome,
            }
        });
        let (gone, new) = comparison.findings();
        let (a, b) = (&comparison.a.survey, &comparison.b.survey);
        let longest = a.total().max(b.total());
        let epochs = (other.0.epochs().len(), this.0.epochs().len());
        Self {
            sentence: comparison.sentence_of(name, say!("This run")),
            options: comparison.options(),
            outcome: comparison.outcome(),
            rows: rows.collect(),
            gone: gone.into_iter().map(|id| title(id).to_owned()).collect(),
            new: new.into_iter().map(|id| title(id).to_owned()).collect(),
            strips: [
                strip(other.0, (a.start, a.total()), longest),
                strip(this.0, (b.start, b.total()), longest),
            ],
            only_epochs: (epochs.0 != epochs.1).then_some(comparison.epochs),
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
    use crate::simulated::simulated;

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
            "before",
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
        // Each strip shows all the time that its trainer had.
        for (strip, run) in [(other, &before), (this, &after)] {
            let shown: f32 = strip.parts.iter().map(|p| p.trained + p.waiting()).sum();
            let spent = run.spent(Lane::Trainer, Nanos::ZERO, run.end());
            let all = spent.of(Activity::Training) + spent.of(Activity::Waiting);
            let part = other.total.0 as f32 / PARTS as f32;
            assert!((shown * part / all.0 as f32 - 1.0).abs() < 0.02, "{shown}");
        }
    }
}
