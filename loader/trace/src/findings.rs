//! Findings: what makes training wait, each a sentence with a number, its evidence, and a remedy in PyTorch's words.
//!
//! Each finding is a small function of what is known about the run ([`Survey`]) with its thresholds beside it. One that does
//! not apply says nothing.

use crate::{Nanos, Run};

mod blocked;
mod collate;
mod cores;
mod crew;
mod finding;
mod forecast;
mod glance;
mod handover;
mod id;
mod memory;
mod remedy;
mod resources;
mod start;
mod starved;
mod survey;
mod verdict;
mod window;

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
    /// What remedies need to know of the loader.
    loader: remedy::Loader,
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
            findings,
            ..self.clone()
        }
    }

    /// The same for who has surveyed the run already.
    pub fn from(survey: &Survey, prospects: Option<&Prospects>, more: Vec<Finding>) -> Self {
        let mut findings = findings(survey);
        let loader = remedy::Loader::of(survey);
        remedy::agree(&mut findings, loader, prospects);
        findings.extend(more);
        // What is wrong or lost comes before what is slow. Of equals the one that is named first is the nearer cause.
        findings.sort_by_key(|f| std::cmp::Reverse((f.severity, f.cost.unwrap_or(Nanos::MAX))));
        collate::put_before_workers(&mut findings);
        Self {
            verdict: Verdict::of(survey, &findings, prospects),
            findings,
            loader,
        }
    }
}

/// Everything that applies, causes before their consequences.
fn findings(survey: &Survey) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(crew::dead(survey));
    all.extend(crew::silent(survey));
    all.extend(resources::shared_memory(survey));
    all.extend(resources::descriptors(survey));
    // Who says why it ended is not told that it did.
    if all
        .iter()
        .all(|f: &Finding| f.severity < Severity::Critical)
    {
        all.extend(crew::failed(survey));
    }
    all.extend(memory::nearly_full(survey));
    all.extend(memory::copy_on_write(survey));
    all.extend(memory::growth(survey));
    all.extend(resources::lost_events(survey));
    all.extend(blocked::heavy_tail(survey));
    all.extend(blocked::head_of_line(survey));
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
    match handover::slower_than_none(survey) {
        Some(finding) => all.push(finding),
        None if is_crowded => {}
        None => {
            all.extend(starved::starved(survey));
            all.extend(starved::sawtooth(survey));
            all.extend(window::too_small(survey));
        }
    }
    all.extend(window::too_large(survey));
    all.extend(starved::trainer(survey));
    all
}
