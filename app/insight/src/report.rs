//! Full report of one run as text, Markdown, JSON or an HTML page.

use loadscope_diagnose::{Cause, Diagnosis, FetchBlame, Finding, ForecastSet, HotCode, Survey};
use loadscope_trace::{AsideKind, Nanos, Run, RunId, StepPhases, Summary};
use serde_json::{Map, Value, json};

mod alarms;
mod code;
pub mod compare;
mod facts;
mod html;
pub mod junit;
pub mod loader;
mod markdown;
pub mod options;
mod outlook;
pub mod past;
mod phases;
pub mod program;
mod remedy;
pub mod rules;
mod text;
mod verdict;

use loadscope_plan::forecast::prospects;

use crate::Datasets;
use crate::loaders::findings;
pub use html::html;
pub use loader::LoaderContext;
pub use markdown::markdown;
pub use program::Program;
pub use text::text;

/// Report of one run: verdict, findings, waits by cause and forecasts.
pub struct Report<'a> {
    /// Measurements of the run, the basis of the findings.
    pub survey: Survey<'a>,
    /// The verdict and the findings.
    pub diagnosis: Diagnosis,
    /// Counts and rates: batches, samples, samples per second, errors, dropped events.
    pub summary: Summary,
    /// Waits with the cause *Fetching*, by named stage and by sample.
    pub fetching: FetchBlame,
    /// Lines of code that take the time of fetching, collating and training, from sampled stacks.
    pub code: Vec<HotCode<'a>>,
    /// Samples per phase of the training step. `None` without a known phase.
    pub phases: Option<StepPhases>,
    /// Forecasts for other settings, or the reason why there are none. `None` if not requested.
    pub prospects: Option<Result<ForecastSet, String>>,
    /// True if the file is truncated.
    pub cut: bool,
    /// True if the file is still being written.
    pub is_growing: bool,
    /// The reported loader and the other loaders of the session. `None` for a session with one loader.
    pub loader: Option<LoaderContext>,
    /// Path of the recording as the user entered it. `None` if the caller set no path.
    pub file: Option<String>,
}

/// Version of the JSON format. Scripts can rely on the keys of a version.
const JSON_VERSION: u32 = 1;

impl<'a> Report<'a> {
    /// Creates a report without forecasts. `cut` is true if the file is truncated.
    pub fn of(run: &'a Run, cut: bool, datasets: Datasets) -> Self {
        Self::with(run, cut, datasets, None)
    }

    /// Creates a report with forecasts for other settings. `cut` is true if the file is truncated.
    pub fn with_prospects(run: &'a Run, cut: bool, datasets: Datasets) -> Self {
        let prospects = prospects(run, &|_| true).map_err(|e| e.to_string());
        Self::with(run, cut, datasets, prospects.transpose())
    }

    fn with(
        run: &'a Run,
        cut: bool,
        datasets: Datasets,
        prospects: Option<Result<ForecastSet, String>>,
    ) -> Self {
        let survey = Survey::of(run);
        let known = prospects.as_ref().and_then(|p| p.as_ref().ok());
        let code = code::hot_code(run);
        Self {
            diagnosis: Diagnosis::from(
                &survey,
                known,
                crate::sampling::of_run::findings(run, datasets),
            ),
            summary: Summary::of(run),
            fetching: FetchBlame::between(run, Nanos(i64::MIN), Nanos::MAX),
            phases: phases::step_phases(run, &code),
            code,
            survey,
            prospects,
            cut,
            is_growing: false,
            loader: None,
            file: None,
        }
    }

    /// Adds the other loaders of `all` and the findings from comparing them with the loader `id`.
    ///
    /// `is_requested` is true if the user chose this loader.
    #[must_use]
    pub fn for_loader(mut self, all: &[(RunId, &Run)], id: RunId, is_requested: bool) -> Self {
        self.loader = LoaderContext::of(all, id, is_requested);
        let found = findings(all, id);
        if !found.is_empty() {
            let known = self.prospects.as_ref().and_then(|p| p.as_ref().ok());
            self.diagnosis = self.diagnosis.with(&self.survey, known, found);
        }
        self
    }

    /// Returns the report as a JSON object with the keys of version `JSON_VERSION`.
    pub fn json(&self) -> Value {
        let verdict = &self.diagnosis.verdict;
        let blame = &self.survey.blame;
        let run = self.survey.run;
        let about = self.loader.as_ref().map(LoaderContext::json);
        // A single loader has an entry with its name too.
        let alone = || (loader::alone(run).json(), json!([]));
        let (loader, others) = about.unwrap_or_else(alone);
        json!({
            "format_version": JSON_VERSION,
            "writer": concat!("loadscope ", env!("CARGO_PKG_VERSION")),
            "file": self.file,
            "loader": loader,
            "other_loaders": others,
            "program": self.loader.as_ref().and_then(|l| l.program.as_ref()).map(Program::json),
            "verdict": {
                "id": verdict.id,
                "text": verdict.text(),
                "severity": verdict.severity,
                "evidence": verdict.evidence,
            },
            "warnings": alarms::alarms(run)
                .map(|(at, said)| json!({ "seconds": at.as_secs_f64(), "text": said }))
                .collect::<Vec<_>>(),
            "run_seconds": self.survey.total().as_secs_f64(),
            "waited_seconds": (!run.has_only_parts()).then_some(blame.waited.as_secs_f64()),
            "device": device(run),
            "left_out": left_out(run),
            "blame": self.blame(),
            "not_measured": blame.not_measured.iter().map(|c| c.id()).collect::<Vec<_>>(),
            "ready_batch_seconds": blame.ready_batches.map(Nanos::as_secs_f64),
            "fetching": self.fetching_json(),
            "code": code::json(&self.code),
            "step_phases": self.phases_json(),
            "findings": self.findings_json(),
            "forecasts": self.forecasts_json(),
            "summary": self.summary,
            "past": past::json(run),
            "cut": self.cut,
            "origin": run.info.origin.key(),
            "options": options::options(run),
            "dataset": run.info.dataset,
            "dataset_len": run.info.dataset_len,
            "cores": (run.info.cores > 0).then_some(run.info.cores),
        })
    }

    fn phases_json(&self) -> Option<Value> {
        let phases = self.phases.as_ref()?;
        Some(phases::json(phases, &self.survey))
    }

    /// Returns the findings, each with its remedy and the remedy's effects on training.
    fn findings_json(&self) -> Value {
        let to_json = |finding: &Finding| {
            let mut value = json!(finding);
            value["remedy"] = json!(self.whole_remedy(finding));
            value["effects"] = json!(
                self.diagnosis
                    .effects
                    .get(&finding.id)
                    .into_iter()
                    .flatten()
                    .collect::<Vec<_>>()
            );
            value
        };
        self.diagnosis.findings.iter().map(to_json).collect()
    }

    /// Returns the forecasts for other settings, or null if not requested.
    fn forecasts_json(&self) -> Value {
        match &self.prospects {
            None => Value::Null,
            Some(Err(reason)) => json!({ "refused": reason }),
            Some(Ok(prospects)) => {
                let mut value = json!(prospects);
                value["refit_error"] = json!(prospects.error());
                value["fits"] = json!(prospects.fits());
                value
            }
        }
    }

    /// Returns the waited seconds by cause. Causes that the source does not measure are null.
    fn blame(&self) -> Map<String, Value> {
        let causes = Cause::ALL.into_iter();
        let entry = |cause: Cause| {
            let time = self.survey.blame.time_of(cause).map(Nanos::as_secs_f64);
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

/// Returns the waits that were measured on the device, s. Null without a device.
fn device(run: &Run) -> Option<Value> {
    let time = run.device_time()?;
    Some(json!({
        "waited_seconds": time.waited.as_secs_f64(),
        "idle_seconds": time.idle.as_secs_f64(),
        "hidden_seconds": time.hidden().as_secs_f64(),
    }))
}

/// Returns the seconds outside the loop, by kind of work.
fn left_out(run: &Run) -> Value {
    let out = run.time_outside_loop();
    let seconds = |kind| {
        out.asides
            .get(&kind)
            .copied()
            .unwrap_or_default()
            .as_secs_f64()
    };
    json!({
        "checkpoints_seconds": seconds(AsideKind::Checkpoint),
        "evaluation_seconds": seconds(AsideKind::Evaluation),
        "other_loaders_seconds": seconds(AsideKind::Loader),
        "outside_loop_seconds": out.between.as_secs_f64(),
    })
}

#[cfg(test)]
mod tests;
