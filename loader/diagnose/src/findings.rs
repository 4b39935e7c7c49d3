//! Findings: what makes training wait, each a sentence with a number, its evidence, and a remedy in PyTorch's words.
//!
//! Each finding is a small function of what is known about the run ([`Survey`]) with its thresholds beside it. One that does
//! not apply says nothing.

use std::collections::{BTreeMap, BTreeSet};

use loadscope_trace::{Nanos, Run};
use loadscope_words::say;

mod blocked;
mod collate;
mod cores;
mod crew;
mod effect;
mod finding;
mod forecast;
mod glance;
mod handover;
mod host;
mod id;
mod iterators;
mod memory;
mod misfit;
mod named;
mod remedy;
mod resources;
mod slow_sample;
mod slow_worker;
mod start;
mod starved;
mod step;
mod streams;
mod stuck;
mod survey;
mod transfer;
mod unrecorded;
mod verdict;
mod window;

pub use effect::Effect;
pub use finding::{Evidence, Finding, Severity};
pub use forecast::{Change, Forecast, Prospects, is_likely_less};
pub use glance::{Glance, LongestWait};
pub use id::{FindingId, VerdictId};
pub use survey::Survey;
pub use verdict::Verdict;

/// All findings about a run: what makes training wait, the worst first.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// In one sentence.
    pub verdict: Verdict,
    /// The findings, the worst first.
    pub findings: Vec<Finding>,
    /// Effects of the remedies on training, by finding. Findings whose remedy has none are missing.
    pub effects: BTreeMap<FindingId, BTreeSet<Effect>>,
    /// What remedies need to know of the loader.
    loader: remedy::Loader,
    /// Length of the waits.
    waited: Nanos,
}

impl Diagnosis {
    /// Looks at a run. `prospects` say what other settings would bring, `more` is what others found; both may be missing.
    pub fn of(run: &Run, prospects: Option<&Prospects>, more: Vec<Finding>) -> Self {
        Self::from(&Survey::of(run), prospects, more)
    }

    /// The same once it is known what other settings of the run would bring: what was advised before gives way to what is forecast.
    #[must_use]
    pub fn agreeing(&self, prospects: &Prospects) -> Self {
        let mut findings = self.findings.clone();
        remedy::agree(&mut findings, self.loader, Some(prospects));
        Self {
            effects: effect::effects(self.loader, &findings, Some(prospects)),
            findings,
            ..self.clone()
        }
    }

    /// The setting to try where the forecasts are unreliable: that of the first remedy that names one.
    pub fn to_try(&self) -> Option<Change> {
        self.findings.iter().find_map(remedy::to_try)
    }

    /// A sentence if the costs of the findings exceed the waiting.
    pub fn overlap(&self) -> Option<&'static str> {
        let costs: Vec<Nanos> = self.findings.iter().filter_map(|f| f.cost).collect();
        let sum = costs.iter().fold(Nanos::ZERO, |sum, cost| sum + *cost);
        let overlap = costs.len() > 1 && sum > self.waited;
        overlap.then(|| say!("Costs of findings overlap and do not add up."))
    }

    /// The same for who has surveyed the run already.
    pub fn from(survey: &Survey, prospects: Option<&Prospects>, more: Vec<Finding>) -> Self {
        let mut findings = findings(survey);
        let loader = remedy::Loader::of(survey);
        remedy::agree(&mut findings, loader, prospects);
        // A repeated stream yields duplicates: one finding for both.
        let is_repeated = findings.iter().any(|f| f.id == FindingId::RepeatedStream);
        let more = more.into_iter();
        findings.extend(more.filter(|f| !is_repeated || f.id != FindingId::Duplicates));
        Self::sorted(survey, findings, prospects, loader)
    }

    /// The same with more findings.
    #[must_use]
    pub fn with(&self, survey: &Survey, prospects: Option<&Prospects>, more: Vec<Finding>) -> Self {
        let mut findings = self.findings.clone();
        findings.extend(more);
        Self::sorted(survey, findings, prospects, self.loader)
    }

    fn sorted(
        survey: &Survey,
        mut findings: Vec<Finding>,
        prospects: Option<&Prospects>,
        loader: remedy::Loader,
    ) -> Self {
        // What is wrong or lost comes before what is slow. Of equals the one that is named first is the nearer cause.
        findings.sort_by_key(|f| std::cmp::Reverse((f.severity, f.cost.unwrap_or(Nanos::MAX))));
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

/// Everything that applies, causes before their consequences.
fn findings(survey: &Survey) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(crew::dead(survey));
    all.extend(stuck::worker(survey));
    all.extend(step::failed(survey));
    all.extend(resources::shared_memory(survey));
    all.extend(resources::descriptors(survey));
    // Who says why it ended is not told that it did.
    if all
        .iter()
        .all(|f: &Finding| f.severity < Severity::Critical)
    {
        all.extend(misfit::collating(survey).or_else(|| crew::failed(survey)));
    }
    all.extend(misfit::stop_iteration(survey));
    all.extend(effect::stale(survey));
    all.extend(memory::nearly_full(survey));
    all.extend(memory::copy_on_write(survey));
    all.extend(memory::growth(survey));
    all.extend(resources::lost_events(survey));
    let is_stuck = all.iter().any(|f| f.id == FindingId::SilentWorker);
    match iterators::per_batch(survey) {
        // A hang is not slowness.
        _ if is_stuck => {}
        // Its consequences need no remedy of their own.
        Some(finding) => all.push(finding),
        None => slowness(survey, &mut all),
    }
    all
}

/// Causes of a slow loop that runs to its end.
fn slowness(survey: &Survey, all: &mut Vec<Finding>) {
    all.extend(unrecorded::workers(survey));
    let shared = streams::repeated(survey).or_else(|| streams::idle(survey));
    let is_shared = shared.is_none();
    all.extend(shared);
    match slow_worker::slow(survey) {
        Some(finding) => all.push(finding),
        None => all.extend(slow_samples(survey)),
    }
    all.extend(start::slow_first_batch(survey));
    all.extend(start::refill(survey));
    all.extend(start::short_run(survey));
    let crowded = cores::oversubscribed(survey);
    let is_crowded = crowded.is_some();
    all.extend(crowded);
    all.extend(handover::pinning(survey));
    all.extend(handover::sampler(survey));
    all.extend(collate::slow(survey));
    // Where workers cost more than they bring, or have no core to themselves, that there are too few of them is no advice.
    let handed_over = handover::slower_than_none(survey);
    if handed_over.is_none() {
        all.extend(transfer::slow(survey));
    }
    match handed_over {
        Some(finding) => all.push(finding),
        // Nor is it where workers have nothing to yield, or all yield the same.
        None if is_crowded || !is_shared => {}
        None => {
            all.extend(starved::starved(survey));
            all.extend(starved::sawtooth(survey));
            all.extend(window::too_small(survey));
        }
    }
    all.extend(window::too_large(survey));
    all.extend(starved::trainer(survey));
    all.extend(host::busy(survey));
}

/// Samples that take much longer than others, and the batches after them. A few samples that cost nearly all of it are named. If finished
/// batches wait for samples that are slow once, the finding is about the order.
fn slow_samples(survey: &Survey) -> Vec<Finding> {
    /// Share of a cost from which both costs are the same waits.
    const SAME: f64 = 0.8;
    let tail = blocked::heavy_tail(survey);
    let named = slow_sample::slow(survey);
    let named = named.filter(|_| tail.is_none() || slow_sample::outweighs(survey));
    let tail = tail.filter(|_| named.is_none());
    let behind = blocked::head_of_line(survey);
    let cost = |finding: &Option<Finding>| {
        let cost = finding.as_ref().and_then(|f| f.cost);
        cost.unwrap_or_default().0 as f64
    };
    let (of_named, of_behind) = (cost(&named), cost(&behind));
    let is_explained = of_named >= SAME * of_behind;
    let is_about_order = is_explained
        && behind.is_some()
        && of_behind >= SAME * of_named
        && !slow_sample::recurs(survey);
    let named = named.filter(|_| !is_about_order);
    let behind = behind.filter(|_| is_about_order || !is_explained);
    tail.into_iter().chain(named).chain(behind).collect()
}
