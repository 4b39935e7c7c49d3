//! Remedies that agree with the forecasts: a finding does not advise what the table beside it says is slower.

use super::{Finding, FindingId, Prospects, Survey};
use crate::Nanos;
use loadscope_words::{Text, say, text};

/// Findings whose remedy is another number of workers or of batches in flight.
const ABOUT_WORKERS: [FindingId; 4] = [
    FindingId::NoWorkers,
    FindingId::StarvedWorkers,
    FindingId::Sawtooth,
    FindingId::Oversubscribed,
];

/// What there is to do where no other setting is faster.
const NOTHING: Text = text!(
    "No other number of workers is forecast to be faster: cheaper transforms, or a cache of what they make"
);

/// What there is to do first after a worker died.
const DIED: Text = text!("Find out first why a worker died: more workers need more memory");

/// Puts what is forecast to be best in the place of what the finding alone would advise.
pub(super) fn agree(findings: &mut [Finding], survey: &Survey, prospects: Option<&Prospects>) {
    let died = findings.iter().any(|f| f.id == FindingId::DeadWorker);
    let remedy = match (died, prospects.filter(|p| p.fits())) {
        (true, _) => DIED.say().to_owned(),
        (false, Some(prospects)) => forecast(survey, prospects),
        (false, None) => return,
    };
    let about = findings
        .iter_mut()
        .filter(|f| ABOUT_WORKERS.contains(&f.id));
    about.for_each(|finding| finding.remedy.clone_from(&remedy));
}

/// `num_workers=5: 2.40 s are forecast instead of 3.10 s`
fn forecast(survey: &Survey, prospects: &Prospects) -> String {
    let Some(first) = prospects.first(survey.workers) else {
        return NOTHING.say().to_owned();
    };
    let now: Nanos = prospects.recorded.min(prospects.refit);
    say!(
        "{}: {} are forecast instead of {}{}",
        first.change,
        first.took.beside(now),
        now.beside(now),
        prospects.condition(first.change)
    )
}
