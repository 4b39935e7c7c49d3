//! Findings: causes of waits, errors and lost data in a run. Each has a text with a measured number, its evidence and a remedy.
//!
//! Each finding is a function of the [`Survey`] of a run, next to its thresholds. The function returns `None` if the finding does not
//! apply.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use loadscope_trace::{Nanos, Run};
use loadscope_words::say;

mod blocked;
mod collate;
mod cores;
mod effect;
mod finding;
mod forecast;
mod handover;
mod host;
mod id;
mod iterators;
mod large_pickle;
mod memory;
mod misfit;
mod remedy;
mod remedy_settings;
mod resources;
mod shared_file;
mod slow_line;
mod slow_sample;
mod slow_worker;
mod start;
mod starved;
mod step;
mod storage;
mod streams;
mod stuck;
mod survey;
mod threads;
mod transfer;
mod unrecorded;
mod verdict;
mod wait_summary;
mod window;
mod worker_failures;

pub use effect::Effect;
pub use finding::{Evidence, Finding, Severity};
pub use forecast::{Change, Forecast, ForecastSet, LineForecast, is_likely_less};
pub use id::{FindingId, VerdictId};
pub use survey::Survey;
pub use verdict::Verdict;
pub use wait_summary::{LongestWait, WaitSummary};

/// Verdict on a run, with all findings.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// Summary of the run for the user.
    pub verdict: Verdict,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// Effects of the remedies on training, by finding. Findings without an effect are missing.
    pub effects: BTreeMap<FindingId, BTreeSet<Effect>>,
    /// Properties of the loader that the remedies depend on.
    loader: remedy::Loader,
    /// Total time that training waited.
    waited: Nanos,
}

impl Diagnosis {
    /// Returns the diagnosis of a run. `prospects` are the forecasts for other settings. `more` are findings from other crates.
    pub fn of(run: &Run, prospects: Option<&ForecastSet>, more: Vec<Finding>) -> Self {
        Self::from(&Survey::of(run), prospects, more)
    }

    /// Returns a copy whose remedies and effects agree with the forecasts. The verdict stays the same.
    #[must_use]
    pub fn with_forecasts(&self, prospects: &ForecastSet) -> Self {
        let mut findings = self.findings.clone();
        remedy::apply_forecasts(&mut findings, self.loader, Some(prospects));
        Self {
            effects: effect::effects(self.loader, &findings, Some(prospects)),
            findings,
            ..self.clone()
        }
    }

    /// Returns the setting to try if the forecasts are unreliable, from the first remedy that contains one. Returns `None` without such a
    /// remedy.
    pub fn suggested_change(&self) -> Option<Change> {
        self.findings.iter().find_map(remedy::suggested_change)
    }

    /// Returns a warning if several findings have a cost and their sum exceeds the waited time. Returns `None` otherwise.
    pub fn overlap(&self) -> Option<&'static str> {
        let costs: Vec<Nanos> = self.findings.iter().filter_map(|f| f.cost).collect();
        let sum = costs.iter().fold(Nanos::ZERO, |sum, cost| sum + *cost);
        let overlap = costs.len() > 1 && sum > self.waited;
        overlap.then(|| say!("Costs of findings overlap and do not add up."))
    }

    /// Returns the diagnosis of a run from its survey. See [`Diagnosis::of`].
    pub fn from(survey: &Survey, prospects: Option<&ForecastSet>, more: Vec<Finding>) -> Self {
        let mut findings = findings(survey);
        let loader = remedy::Loader::of(survey);
        remedy::apply_forecasts(&mut findings, loader, prospects);
        // A repeated stream causes duplicates. One finding covers both.
        let is_repeated = findings.iter().any(|f| f.id == FindingId::RepeatedStream);
        let more = more.into_iter();
        findings.extend(more.filter(|f| !is_repeated || f.id != FindingId::Duplicates));
        Self::sorted(survey, findings, prospects, loader)
    }

    /// Returns a copy with additional findings and a new verdict.
    #[must_use]
    pub fn with(
        &self,
        survey: &Survey,
        prospects: Option<&ForecastSet>,
        more: Vec<Finding>,
    ) -> Self {
        let mut findings = self.findings.clone();
        findings.extend(more);
        Self::sorted(survey, findings, prospects, self.loader)
    }

    fn sorted(
        survey: &Survey,
        mut findings: Vec<Finding>,
        prospects: Option<&ForecastSet>,
        loader: remedy::Loader,
    ) -> Self {
        // Errors and lost data have no cost and precede slowness of the same severity. The sort is stable, so ties keep the order of
        // `findings`: causes before consequences.
        // Too few workers precede the line that keeps them busy: a setting is easier to change.
        let weight = |f: &Finding| match f.id {
            FindingId::SlowLine => f.cost.map(|cost| cost.min(starved::cost(survey))),
            _ => f.cost,
        };
        findings.sort_by_key(|f| Reverse((f.severity, weight(f).unwrap_or(Nanos::MAX))));
        collate::put_before_workers(&mut findings);
        Self {
            verdict: Verdict::of(survey, &findings, prospects),
            effects: effect::effects(loader, &findings, prospects),
            findings,
            loader,
            waited: survey.blame.waited,
        }
    }
}

/// Returns all findings that apply, causes before their consequences.
fn findings(survey: &Survey) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(worker_failures::dead(survey));
    all.extend(stuck::worker(survey));
    all.extend(step::failed(survey));
    all.extend(resources::shared_memory(survey));
    all.extend(resources::descriptors(survey));
    // A critical finding already explains the end of the run, so the error that ended it adds nothing.
    if all
        .iter()
        .all(|f: &Finding| f.severity < Severity::Critical)
    {
        all.extend(misfit::collating(survey).or_else(|| worker_failures::failed(survey)));
    }
    all.extend(misfit::stop_iteration(survey));
    all.extend(shared_file::shared(survey));
    all.extend(effect::stale(survey));
    all.extend(memory::nearly_full(survey));
    all.extend(memory::copy_on_write(survey));
    all.extend(memory::growth(survey));
    all.extend(resources::lost_events(survey));
    let is_stuck = all.iter().any(|f| f.id == FindingId::SilentWorker);
    match iterators::per_batch(survey) {
        // A stuck worker already explains the waiting.
        _ if is_stuck => {}
        // A new iterator per batch causes the other delays, so they need no remedy.
        Some(finding) => all.push(finding),
        None => add_slowness(survey, &mut all),
    }
    all
}

/// Adds the findings about slow loading.
fn add_slowness(survey: &Survey, all: &mut Vec<Finding>) {
    all.extend(unrecorded::workers(survey));
    let stream_finding = streams::repeated(survey).or_else(|| streams::idle(survey));
    let is_evenly_divided = stream_finding.is_none();
    all.extend(stream_finding);
    match slow_worker::slow(survey) {
        Some(finding) => all.push(finding),
        None => all.extend(slow_samples(survey)),
    }
    all.extend(large_pickle::large_pickle(survey));
    all.extend(start::slow_first_batch(survey));
    all.extend(start::refill(survey));
    all.extend(start::short_run(survey));
    let oversubscribed = threads::too_many(survey).or_else(|| cores::oversubscribed(survey));
    let is_oversubscribed = oversubscribed.is_some();
    all.extend(oversubscribed);
    all.extend(storage::slow(survey));
    all.extend(handover::pinning(survey));
    all.extend(handover::sampler(survey));
    all.extend(collate::slow(survey));
    // If workers cost more than they save, the finding about them includes the transfer.
    let costly_workers = handover::slower_than_none(survey);
    if costly_workers.is_none() {
        all.extend(transfer::slow(survey));
    }
    match costly_workers {
        Some(finding) => all.push(finding),
        // More workers do not help if the workers already share cores, or if the stream is uneven or repeated.
        None if is_oversubscribed || !is_evenly_divided => {}
        None => {
            all.extend(starved::starved(survey));
            all.extend(slow_line::slow(survey));
            all.extend(starved::sawtooth(survey));
            all.extend(window::too_small(survey));
        }
    }
    all.extend(window::too_large(survey));
    all.extend(starved::trainer(survey));
    all.extend(host::busy(survey));
}

/// Returns findings about slow samples, and about finished batches that are held because of one. If a few samples cause most of the
/// waiting, the finding names them. If such a sample is slow in only one epoch and delays finished batches, the finding is head-of-line
/// blocking.
fn slow_samples(survey: &Survey) -> Vec<Finding> {
    /// Minimum ratio of two costs that count as the same waits.
    const SAME: f64 = 0.8;
    let tail = blocked::heavy_tail(survey);
    let named = slow_sample::slow(survey);
    let named = named.filter(|_| tail.is_none() || slow_sample::outweighs(survey));
    let tail = tail.filter(|_| named.is_none());
    let blocked_batch = blocked::head_of_line(survey);
    let cost = |finding: &Option<Finding>| {
        let cost = finding.as_ref().and_then(|f| f.cost);
        cost.unwrap_or_default().0 as f64
    };
    let (named_cost, blocked_cost) = (cost(&named), cost(&blocked_batch));
    let is_explained = named_cost >= SAME * blocked_cost;
    let is_about_order = is_explained
        && blocked_batch.is_some()
        && blocked_cost >= SAME * named_cost
        && !slow_sample::recurs(survey);
    let named = named.filter(|_| !is_about_order);
    let blocked_batch = blocked_batch.filter(|_| is_about_order || !is_explained);
    tail.into_iter().chain(named).chain(blocked_batch).collect()
}
