//! Analysis of a run: verdict, blame, findings and longest waits.

use loadscope_diagnose::{
    Blame, BlamedInterval, Cause, Diagnosis, FetchBlame, ForecastSet, Survey,
};
use loadscope_trace::{Activity, BatchId, Nanos, Run, RunId, Stage, WorkerId};
use loadscope_words::say;

use crate::Datasets;
use crate::background::{Cancelled, Progress};
use crate::format::percent;
use crate::loaders::findings;
use crate::report::Program;
use crate::sampling::of_run;

/// Number of longest waits that are analyzed one by one.
const MAX_ANALYZED_WAITS: usize = 200;
/// Number of longest waits that are shown.
pub const SHOWN: usize = 10;

/// Analysis of a run for the workspace, formatted as text where needed.
#[derive(Clone, Debug)]
pub struct RunAnalysis {
    /// Verdict and findings.
    pub diagnosis: Diagnosis,
    /// Causes of the trainer's waits.
    pub blame: Blame,
    /// Time from the start of the first epoch to the end.
    pub total: Nanos,
    /// The blame as texts, in the order of a batch's stages.
    pub parts: Vec<Part>,
    /// Time for which finished batches were held because of a missing one, if the source records it.
    pub ready_batches: Option<String>,
    /// Details of the waits caused by fetching.
    pub fetching: FetchBlame,
    /// Longest waits, the longest first.
    pub waits: Vec<LongWait>,
    /// Samples that caused the longest waits.
    pub samples: Vec<SlowSample>,
    /// Use of time in the program, if it has several loaders.
    pub program: Option<Program>,
}

/// A cause's part of the waited time.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Cause of the waits in this part.
    pub cause: Cause,
    /// Share of the waited time, 0 to 1.
    pub share: f64,
    /// `0.96 s`
    pub time: String,
    /// `87 %`
    pub percent: String,
    /// The longest analyzed wait with this main cause.
    pub longest: Option<LongWait>,
}

/// A long wait.
#[derive(Clone, Debug, PartialEq)]
pub struct LongWait {
    /// Position of the awaited batch in [`Run::batches`].
    pub row: usize,
    /// Name of the awaited batch.
    pub id: BatchId,
    /// Worker that loaded the batch.
    pub worker: Option<WorkerId>,
    /// Start of the wait.
    pub start: Nanos,
    /// End of the wait.
    pub end: Nanos,
    /// `0.96 s`
    pub time: String,
    /// Main cause.
    pub cause: Cause,
}

/// A sample that the trainer waited for.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowSample {
    /// Position of its batch in [`Run::batches`].
    pub row: usize,
    /// Name of its batch.
    pub id: BatchId,
    /// Index in the dataset if known, otherwise the position in the batch.
    pub name: String,
    /// Time that the trainer waited while the sample was fetched.
    pub waited: String,
    /// Duration of the fetch.
    pub took: String,
    /// Instant at which its batch was yielded, or the end of the run.
    pub until: Nanos,
}

impl RunAnalysis {
    /// Analyzes a run.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn of(run: &Run, datasets: Datasets, progress: &Progress) -> Result<Self, Cancelled> {
        Self::of_loader(&[], RunId(0), run, datasets, progress)
    }

    /// Analyzes the loader `id` of `all`.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn of_loader(
        all: &[(RunId, &Run)],
        id: RunId,
        run: &Run,
        datasets: Datasets,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        progress.report(0.0)?;
        let survey = Survey::of(run);
        progress.report(0.3)?;
        let mut more = of_run::findings(run, datasets);
        more.extend(findings(all, id));
        progress.report(0.6)?;
        let diagnosis = Diagnosis::from(&survey, None, more);
        let blame = survey.blame.clone();
        progress.report(0.8)?;
        let longest = longest_waits(run, &survey);
        let fetching = FetchBlame::between(run, Nanos(i64::MIN), Nanos::MAX);
        let samples = fetching.samples.iter().map(|s| SlowSample {
            row: s.row,
            id: run.batches()[s.row].id,
            name: match s.index {
                Some(index) => crate::format::count(index),
                None => say!("place {}", s.position),
            },
            waited: survey.format_time(s.waited),
            took: survey.format_time(s.wall),
            until: run.entered(s.row, Stage::Training).unwrap_or(run.end()),
        });
        Ok(Self {
            total: survey.total(),
            program: Program::of(all, id),
            parts: parts(&survey, &blame, &longest),
            ready_batches: blame
                .ready_batches
                .filter(|t| t.0 > 0)
                .map(|t| survey.format_time(t)),
            samples: samples.collect(),
            waits: longest.into_iter().take(SHOWN).collect(),
            diagnosis,
            blame,
            fetching,
        })
    }

    /// Returns the analysis with findings whose advice agrees with the forecasts `prospects`.
    #[must_use]
    pub fn with_prospects(&self, prospects: &ForecastSet) -> Self {
        Self {
            diagnosis: self.diagnosis.with_forecasts(prospects),
            ..self.clone()
        }
    }

    /// Returns the share of the time that the trainer waited, 0 to 1.
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
        time: survey.format_time(time),
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
    if order.len() > MAX_ANALYZED_WAITS {
        order.select_nth_unstable_by_key(MAX_ANALYZED_WAITS, by_length);
        order.truncate(MAX_ANALYZED_WAITS);
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
            time: survey.format_time(length(k)),
            cause: main_cause(run, k)?,
        })
    };
    order
        .into_iter()
        .filter(|k| length(*k).0 > 0)
        .filter_map(into)
        .collect()
}

/// Returns the cause of the largest part of a wait.
fn main_cause(run: &Run, wait: usize) -> Option<Cause> {
    let mut times = [Nanos::ZERO; Cause::ALL.len()];
    for part in BlamedInterval::of_wait(run, wait) {
        times[part.cause as usize] += part.end - part.start;
    }
    let causes = Cause::ALL.into_iter();
    causes.max_by_key(|c| (times[*c as usize], std::cmp::Reverse(*c)))
}

/// Returns the activity whose color a cause has. Returns `None` if the cause is not a stage.
pub fn activity(cause: Cause) -> Option<Activity> {
    cause.activity()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;
    use crate::simulated;

    #[test]
    fn parts_sum_to_one_and_the_longest_wait_comes_first() {
        let run = simulated(&RunOptions {
            dataset: "synthetic:len=24,cost_ms=50,slow=4:1000".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            step_ms: 20.0,
            ..RunOptions::default()
        });
        let look =
            RunAnalysis::of(&run, Datasets::default(), &Progress::default()).expect("it is wanted");
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
        let cancelled = Progress::default();
        cancelled.cancel();
        assert!(RunAnalysis::of(&run, Datasets::default(), &cancelled).is_err());
    }
}
