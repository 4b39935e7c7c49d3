//! The diagnosis of a recording as a whole: for people, for scripts, and as a page that can be sent to someone.

use loadscope_trace::{Cause, Diagnosis, FetchBlame, Forecast, Nanos, Run, Summary, Survey};
use serde_json::{Map, Value, json};

pub mod compare;
mod html;
pub(crate) mod order;
pub mod rules;
mod text;

pub use html::html;
pub use text::text;

/// Everything that is said about a recording.
pub struct Report<'a> {
    /// What is known about the run.
    pub survey: Survey<'a>,
    /// The verdict and the findings.
    pub diagnosis: Diagnosis,
    /// The facts.
    pub summary: Summary,
    /// What fetching is to blame for, in detail.
    pub fetching: FetchBlame,
    /// True if the file ends in the middle.
    pub cut: bool,
}

impl<'a> Report<'a> {
    /// Looks at a run whose file may have been `cut` off; `forecasts` say what other settings would bring.
    pub fn of(run: &'a Run, cut: bool, forecasts: &[Forecast]) -> Self {
        let survey = Survey::of(run);
        Self {
            diagnosis: Diagnosis::from(&survey, forecasts, order::findings(run)),
            summary: Summary::of(run),
            fetching: run.blame_fetching(Nanos(i64::MIN), Nanos::MAX),
            survey,
            cut,
        }
    }

    /// One JSON object.
    pub fn json(&self) -> Value {
        let verdict = &self.diagnosis.verdict;
        let blame = &self.survey.blame;
        let run = self.survey.run;
        json!({
            "verdict": {
                "id": verdict.id,
                "text": verdict.text(),
                "severity": verdict.severity,
                "evidence": verdict.evidence,
            },
            "run_seconds": self.survey.total().as_secs_f64(),
            "waited_seconds": (!run.tells_only_parts()).then_some(blame.waited.as_secs_f64()),
            "blame": self.blame(),
            "not_measured": blame.not_measured.iter().map(|c| c.id()).collect::<Vec<_>>(),
            "ready_batch_seconds": blame.ready_batches.map(Nanos::as_secs_f64),
            "fetching": self.fetching_json(),
            "findings": self.diagnosis.findings,
            "summary": self.summary,
            "cut": self.cut,
            "origin": run.info.origin.label(),
            "options": run.info.options,
        })
    }

    /// Seconds by cause; null for what the source does not measure.
    fn blame(&self) -> Map<String, Value> {
        let causes = Cause::ALL.into_iter();
        let entry = |cause: Cause| {
            let time = self.survey.blame.of(cause).map(Nanos::as_secs_f64);
            (cause.id().to_owned(), json!(time))
        };
        causes.map(entry).collect()
    }

    fn fetching_json(&self) -> Value {
        let run = self.survey.run;
        let stages = self.fetching.stages.iter();
        let stages: Map<String, Value> = stages
            .map(|(name, time)| (name.clone(), json!(time.as_secs_f64())))
            .collect();
        let samples = self.fetching.samples.iter().map(|s| {
            let id = run.batches()[s.row].id;
            json!({
                "epoch": id.epoch,
                "batch": id.idx,
                "position": s.position,
                "sample": s.index,
                "waited_seconds": s.waited.as_secs_f64(),
                "seconds": s.wall.as_secs_f64(),
            })
        });
        json!({
            "stages": stages,
            "unnamed": self.fetching.unnamed.as_secs_f64(),
            "between_samples": self.fetching.elsewhere.as_secs_f64(),
            "samples": samples.collect::<Vec<_>>(),
        })
    }
}

#[cfg(test)]
mod tests;
