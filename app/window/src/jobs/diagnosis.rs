//! Background calculations of the Diagnose workspace: their start, restart and results.

use std::sync::Arc;

use egui::Context;
use loadscope_trace::{Run, RunId};

use loadscope_insight::background::Progress;
use loadscope_insight::diagnose::Role;
use loadscope_insight::diagnose::compared::Compared;
use loadscope_insight::diagnose::run_analysis::RunAnalysis;
use loadscope_insight::diagnose::what_if::{Costs, WhatIf, costs};
use loadscope_model::results::DiagnosisResults;
use loadscope_model::state::{Source, State};

use super::cached_job::{CachedJob, JobContext, Key};

/// Findings that are consistent with the forecast.
struct ConsistentFindings {
    /// Findings before the forecast was added.
    found: Arc<RunAnalysis>,
    /// The forecast, if it is ready.
    forecast: Option<Arc<WhatIf>>,
    /// Findings with the forecast.
    look: Arc<RunAnalysis>,
}

/// Calculations of the Diagnose workspace, with their results.
#[derive(Default)]
pub struct DiagnosisJobs {
    look: CachedJob<Arc<RunAnalysis>>,
    costs: CachedJob<Costs>,
    what_if: CachedJob<Result<Arc<WhatIf>, String>>,
    compared: CachedJob<Arc<Compared>>,
    /// Result of `look`, consistent with that of `what_if`.
    consistent: Option<ConsistentFindings>,
}

impl DiagnosisJobs {
    /// Returns the results so far.
    pub fn answers(&self) -> DiagnosisResults {
        DiagnosisResults {
            look: self
                .consistent
                .as_ref()
                .map(|agreed| Arc::clone(&agreed.look)),
            what_if: self.what_if.answer().and_then(|w| w.as_ref().ok()).cloned(),
            refusal: self.forecast_error(),
            share: self.share(),
            compared: self.compared.answer().cloned(),
        }
    }

    /// Returns the reason why there is no forecast.
    fn forecast_error(&self) -> Option<String> {
        let of_costs = self.costs.answer().and_then(|c| c.as_ref().err());
        let of_table = self.what_if.answer().and_then(|w| w.as_ref().err());
        let failure = self.costs.failure().or(self.what_if.failure());
        of_costs.or(of_table).or(failure).cloned()
    }

    /// Returns the progress of the forecast, if one is being computed.
    fn share(&self) -> Option<f32> {
        let costs = self.costs.share().map(|_| 0.0);
        costs.or(self.what_if.share())
    }

    /// Takes new results and starts outdated calculations.
    pub fn update(&mut self, ctx: &Context, state: &State) {
        self.start_jobs(ctx, state);
        self.reconcile();
    }

    /// Makes the findings consistent with the forecast table next to them.
    fn reconcile(&mut self) {
        let Some(look) = self.look.answer() else {
            self.consistent = None;
            return;
        };
        let what_if = self.what_if.answer().and_then(|w| w.as_ref().ok());
        let is_made = |agreed: &ConsistentFindings| {
            Arc::ptr_eq(&agreed.found, look)
                && agreed.forecast.as_ref().map(Arc::as_ptr) == what_if.map(Arc::as_ptr)
        };
        if self.consistent.as_ref().is_some_and(is_made) {
            return;
        }
        let prospects = what_if.and_then(|w| w.prospects.as_ref());
        let agreed = match prospects {
            Some(prospects) => Arc::new(look.with_prospects(prospects)),
            None => Arc::clone(look),
        };
        self.consistent = Some(ConsistentFindings {
            found: Arc::clone(look),
            forecast: what_if.cloned(),
            look: agreed,
        });
    }

    fn start_jobs(&mut self, ctx: &Context, state: &State) {
        if !state.has_run() || state.session.run.epochs().is_empty() {
            self.look.clear();
            self.costs.clear();
            self.what_if.clear();
            self.compared.clear();
            return;
        }
        let grows = state.session.source == Source::Live { paused: false };
        let key = Key {
            run: state.session.run_number,
            events: state.session.run.version(),
            end: state.session.run.end(),
            code: None,
            base: None,
            other: 0,
        };
        let run = || state.session.run.snapshot();
        let datasets = state.place.datasets;
        let context = JobContext {
            ctx,
            platform: state.place.platform,
        };
        self.look.update(&context, &key, grows, || {
            let run: Arc<Run> = run();
            let loaders = &state.session.loaders;
            let id = loaders.shown();
            // A single loader is not read twice.
            let all = match loaders.are_many() {
                true => loaders.snapshot(&state.session.run),
                false => Vec::new(),
            };
            move |progress: &Progress| {
                let all: Vec<(RunId, &Run)> = all.iter().map(|(id, run)| (*id, &**run)).collect();
                RunAnalysis::of_loader(&all, id, &run, datasets, progress).map(Arc::new)
            }
        });
        // Forecasts are only computed for a run that no longer grows.
        if grows {
            self.costs.clear_other_runs(&key);
            self.what_if.clear_other_runs(&key);
            self.compared.clear_other_runs(&key);
            return;
        }
        self.costs.update(&context, &key, false, || {
            let run = run();
            move |_: &Progress| Ok(costs(&run))
        });
        self.forecast(&context, state, &key);
        self.compare(&context, state, key);
    }

    fn forecast(&mut self, context: &JobContext<'_>, state: &State, key: &Key) {
        let known = self.costs.answer_for_key(key);
        let Some(recorded) = known.and_then(|c| c.as_ref().ok()) else {
            if known.is_some() {
                self.what_if.clear();
            }
            return;
        };
        let recorded = Arc::clone(recorded);
        let base = state.session.diagnose.base.clone();
        let key = Key {
            base: base.clone(),
            ..key.clone()
        };
        let last = self.what_if.answer_for_run(key.run, key.events);
        let known = last.and_then(|w| w.as_ref().ok()?.prospects.clone());
        self.what_if.update(context, &key, false, || {
            move |progress: &Progress| {
                let table = WhatIf::explore(&recorded, base, known, progress)?;
                Ok(table.map(Arc::new))
            }
        });
    }

    fn compare(&mut self, context: &JobContext<'_>, state: &State, key: Key) {
        let Some(other) = &state.session.diagnose.other else {
            self.compared.clear();
            return;
        };
        let key = Key {
            other: other.number,
            ..key
        };
        let cut = matches!(state.session.source, Source::Recording { cut: true, .. });
        let datasets = state.place.datasets;
        self.compared.update(context, &key, false, || {
            let this = state.session.run.snapshot();
            let (names, is_after) = (other.names(), other.role == Role::After);
            let (other, other_cut) = (Arc::clone(&other.run), other.cut);
            move |_: &Progress| {
                let (other, this) = ((&*other, other_cut), (&*this, cut));
                let (before, after) = match is_after {
                    true => (this, other),
                    false => (other, this),
                };
                let compared = Compared::of(names, before, after, datasets);
                Ok(Arc::new(compared))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use loadscope_insight::background::Cancelled;
    use loadscope_insight::platform::{Jobs, Platform};
    use loadscope_trace::Nanos;

    use super::*;

    struct Threads;

    impl Jobs for Threads {
        fn start(&self, _: &str, job: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
            std::thread::Builder::new().spawn(job).map(drop)
        }
    }

    /// Regression test: the panic was reported as a lack of memory or threads.
    #[test]
    fn a_calculation_that_panics_is_reported_as_a_bug() {
        let key = Key {
            run: 1,
            events: 1,
            end: Nanos::ZERO,
            code: None,
            base: None,
            other: 0,
        };
        let mut jobs = DiagnosisJobs::default();
        let context = JobContext {
            ctx: &Context::default(),
            platform: Platform {
                jobs: &Threads,
                ..Platform::default()
            },
        };
        let until = Instant::now() + Duration::from_secs(20);
        // Neither a running nor a failed calculation is started again.
        while jobs.what_if.failure().is_none() {
            assert!(Instant::now() < until, "it did not end");
            jobs.what_if.update(&context, &key, false, || {
                |_: &Progress| -> Result<_, Cancelled> { panic!("on purpose") }
            });
            std::thread::sleep(Duration::from_millis(5));
        }
        let why = jobs.answers().refusal.expect("there is no answer");
        assert!(why.contains("a bug in Loadscope"), "{why}");
        assert!(!why.contains("Close other programs"), "{why}");
    }
}
