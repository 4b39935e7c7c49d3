//! What is found out about a run: the verdict, the blame, the findings, what was waited for longest.

use loadscope_diagnose::{Blame, Blamed, Cause, Diagnosis, FetchBlame, Prospects, Survey};
use loadscope_trace::{Activity, BatchId, Nanos, Run, RunId, Stage, WorkerId};
use loadscope_words::say;

use crate::Datasets;
use crate::background::{Progress, Unwanted};
use crate::format::percent;
use crate::loaders::findings;
use crate::report::{Program, order};

/// So many of the longest waits are looked into, one by one.
const LOOKED_INTO: usize = 200;
/// So many of them are shown.
pub const SHOWN: usize = 10;

/// Everything that the workspace says about a run, in words where it is words.
#[derive(Clone, Debug)]
pub struct Look {
    /// The verdict and the findings.
    pub diagnosis: Diagnosis,
    /// What the trainer waited for.
    pub blame: Blame,
    /// From the beginning of the first epoch to the end.
    pub total: Nanos,
    /// The blame in words, in the order of a batch's life.
    pub parts: Vec<Part>,
    /// How long finished batches lay behind a missing one, if the source tells.
    pub ready_batches: Option<String>,
    /// What fetching is to blame for, in detail.
    pub fetching: FetchBlame,
    /// The longest waits, the longest first.
    pub waits: Vec<LongWait>,
    /// The samples that were waited for longest.
    pub samples: Vec<SlowSample>,
    /// How the time of its program passed, if that has several loaders.
    pub program: Option<Program>,
}

/// A part of the waited time.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What is to blame for it.
    pub cause: Cause,
    /// 0 to 1, of the waited time.
    pub share: f64,
    /// `0.96 s`
    pub time: String,
    /// `87 %`
    pub percent: String,
    /// The longest wait that it is most to blame for, as far as was looked: position in [`Look::waits`]' order of length.
    pub longest: Option<LongWait>,
}

/// A wait that was long.
#[derive(Clone, Debug, PartialEq)]
pub struct LongWait {
    /// The batch that was awaited: its position in [`Run::batches`].
    pub row: usize,
    /// Its name.
    pub id: BatchId,
    /// Who made it.
    pub worker: Option<WorkerId>,
    /// When it began.
    pub start: Nanos,
    /// When it ended.
    pub end: Nanos,
    /// `0.96 s`
    pub time: String,
    /// What was most to blame.
    pub cause: Cause,
}

/// A sample that was waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowSample {
    /// Its batch: the position in [`Run::batches`].
    pub row: usize,
    /// The name of its batch.
    pub id: BatchId,
    /// Its index in the dataset, if that is known, otherwise its place in the batch.
    pub name: String,
    /// How long the trainer waited while it was fetched.
    pub waited: String,
    /// How long it took.
    pub took: String,
    /// When its batch was yielded, or the end.
    pub until: Nanos,
}

impl Look {
    /// Looks at a run.
    ///
    /// # Errors
    /// If it is not wanted any more.
    pub fn at(run: &Run, datasets: Datasets, progress: &Progress) -> Result<Self, Unwanted> {
        Self::among(&[], RunId(0), run, datasets, progress)
    }

    /// Looks at the loader `id` of `all`.
    ///
    /// # Errors
    /// If it is not wanted any more.
    pub fn among(
        all: &[(RunId, &Run)],
        id: RunId,
        run: &Run,
        datasets: Datasets,
        progress: &Progress,
    ) -> Result<Self, Unwanted> {
        progress.tell(0.0)?;
        let survey = Survey::of(run);
        progress.tell(0.3)?;
        let mut more = order::findings(run, datasets);
        more.extend(findings(all, id));
        progress.tell(0.6)?;
        let diagnosis = Diagnosis::from(&survey, None, more);
        let blame = survey.blame.clone();
        progress.tell(0.8)?;
        let longest = longest_waits(run, &survey);
        let fetching = FetchBlame::between(run, Nanos(i64::MIN), Nanos::MAX);
        let samples = fetching.samples.iter().map(|s| SlowSample {
            row: s.row,
            id: run.batches()[s.row].id,
            name: match s.index {
                Some(index) => crate::format::count(index),
                None => say!("place {}", s.position),
            },
            waited: survey.say(s.waited),
            took: survey.say(s.wall),
            until: run.entered(s.row, Stage::Training).unwrap_or(run.end()),
        });
        Ok(Self {
            total: survey.total(),
            program: Program::of(all, id),
            parts: parts(&survey, &blame, &longest),
            ready_batches: blame
                .ready_batches
                .filter(|t| t.0 > 0)
                .map(|t| survey.say(t)),
            samples: samples.collect(),
            waits: longest.into_iter().take(SHOWN).collect(),
            diagnosis,
            blame,
            fetching,
        })
    }

    /// The same once it is known what other settings would bring: its findings advise nothing else.
    #[must_use]
    pub fn agreeing(&self, prospects: &Prospects) -> Self {
        Self {
            diagnosis: self.diagnosis.agreeing(prospects),
            ..self.clone()
        }
    }

    /// Share of the time in which the trainer waited, 0 to 1.
    pub fn share(&self) -> f64 {
        match self.total.0 {
            total if total > 0 => self.blame.waited.0 as f64 / total as f64,
            _ => 0.0,
        }
    }
}

fn parts(survey: &Survey, blame: &Blame, longest: &[LongWait]) -> Vec<Part> {
    let share = |time: Nanos| time.0 as f64 / blame.waited.0.max(1) as f64;
    let part = |(cause, time): (Cause, Nanos)| Part {
        cause,
        share: share(time),
        time: survey.say(time),
        percent: percent(share(time)),
        longest: longest.iter().find(|w| w.cause == cause).cloned(),
    };
    blame.iter().map(part).collect()
}

fn longest_waits(run: &Run, survey: &Survey) -> Vec<LongWait> {
    let length = |k: usize| {
        let wait = run.waits()[k];
        wait.end.min(run.end()) - wait.start
    };
    let mut order: Vec<usize> = (0..run.waits().len()).collect();
    let by_length = |k: &usize| (std::cmp::Reverse(length(*k)), *k);
    if order.len() > LOOKED_INTO {
        order.select_nth_unstable_by_key(LOOKED_INTO, by_length);
        order.truncate(LOOKED_INTO);
    }
    order.sort_unstable_by_key(by_length);
    let into = |k: usize| {
        let wait = run.waits()[k];
        let row = run.awaited_in(&wait)?;
        let batch = &run.batches()[row];
        Some(LongWait {
            row,
            id: batch.id,
            worker: batch.worker,
            start: wait.start,
            end: wait.end.min(run.end()),
            time: survey.say(length(k)),
            cause: main_cause(run, k)?,
        })
    };
    order
        .into_iter()
        .filter(|k| length(*k).0 > 0)
        .filter_map(into)
        .collect()
}

/// What was to blame for most of a wait.
fn main_cause(run: &Run, wait: usize) -> Option<Cause> {
    let mut times = [Nanos::ZERO; Cause::ALL.len()];
    for part in Blamed::of_wait(run, wait) {
        times[part.cause as usize] += part.end - part.start;
    }
    let causes = Cause::ALL.into_iter();
    causes.max_by_key(|c| (times[*c as usize], std::cmp::Reverse(*c)))
}

/// How a cause is coloured: as the stage that is to blame; `None` for what is no stage.
pub fn activity(cause: Cause) -> Option<Activity> {
    cause.activity()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::simulated::simulated;

    #[test]
    fn the_parts_are_the_whole_and_the_longest_wait_comes_first() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        });
        let look = Look::at(&run, Datasets::default(), &Progress::default()).expect("it is wanted");
        let sum: f64 = look.parts.iter().map(|p| p.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert_eq!(look.waits[0].id.idx, 4);
        assert_eq!(look.waits[0].cause, Cause::Fetching);
        assert_eq!(look.samples[0].name, "4");
        let lengths = look.waits.iter().map(|w| w.end - w.start);
        assert!(lengths.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
        let fetching = look.parts.iter().find(|p| p.cause == Cause::Fetching);
        assert_eq!(
            fetching.and_then(|p| p.longest.as_ref()),
            Some(&look.waits[0])
        );
        let unwanted = Progress::default();
        unwanted.give_up();
        assert!(Look::at(&run, Datasets::default(), &unwanted).is_err());
    }
}
