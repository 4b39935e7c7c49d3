//! Remedies that agree with the forecasts: a finding never advises a setting that is forecast to be slower.

use super::blocked::{PREPARE, grouping};
use super::start::{EARLIER, FEWER, LONGER};
use super::{Change, Finding, FindingId, Forecast, Prospects, Survey};
use loadscope_trace::Origin;
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
    "Simplify the transforms or cache their output. No other number of workers is forecast to be faster."
);

/// What there is to do first after a worker died.
const DIED: Text =
    text!("Find out why a worker died before you add workers, which need more memory");

/// What remedies need to know of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loader {
    /// Workers of the run.
    pub workers: usize,
    /// Batches are yielded in order, though there are several workers.
    pub in_order: bool,
    /// The order of the samples is drawn at random.
    pub is_random: bool,
    /// Advice to group samples of similar cost.
    grouping: Option<Text>,
    /// True if `loadscope tune` can run the program.
    is_program: bool,
}

impl Loader {
    /// The loader of a run.
    pub fn of(survey: &Survey) -> Self {
        Self {
            workers: survey.workers,
            in_order: survey.run.info.options.in_order && survey.workers > 1,
            is_random: survey.run.info.is_random(),
            grouping: grouping(&survey.run.info.options),
            is_program: matches!(
                survey.run.info.origin,
                Origin::Pytorch(_) | Origin::Import(_)
            ),
        }
    }
}

/// Puts what is forecast to be best in the place of what the finding alone would advise.
pub(super) fn agree(findings: &mut [Finding], loader: Loader, prospects: Option<&Prospects>) {
    let workers = loader.workers;
    let died = findings.iter().any(|f| f.id == FindingId::DeadWorker);
    let is_unreliable = prospects.is_some_and(|p| !p.fits());
    let prospects = prospects.filter(|p| p.fits());
    let about_workers = match (died, prospects) {
        (true, _) => Some(DIED.say().to_owned()),
        (false, Some(prospects)) => Some(about_workers(workers, prospects)),
        (false, None) => None,
    };
    for finding in findings {
        let remedy = match finding.id {
            id if ABOUT_WORKERS.contains(&id) => about_workers.clone(),
            FindingId::HeavyTail => prospects.and_then(|p| about_slow_samples(workers, p)),
            FindingId::WindowTooSmall => prospects.and_then(|p| about_window(workers, p)),
            FindingId::SlowerThanNone => prospects.and_then(|p| {
                let none = p.first_of(workers, |change| change == Change::NumWorkers(0))?;
                Some(p.remedy(&none))
            }),
            FindingId::HeadOfLine => {
                prospects.and_then(|p| about_order(workers, p, loader.grouping))
            }
            _ => None,
        };
        let remedy = remedy.or_else(|| match prospects {
            Some(prospects) => instead(finding, workers, prospects),
            None if is_unreliable => {
                to_try(finding).map(|change| attempt(change, loader.is_program))
            }
            None => None,
        });
        if let Some(remedy) = remedy {
            finding.remedy = remedy;
        }
    }
}

/// The setting that a remedy consists of: the one to try where the forecasts are unreliable.
pub(super) fn to_try(finding: &Finding) -> Option<Change> {
    match finding.id {
        FindingId::NoWorkers
        | FindingId::StarvedWorkers
        | FindingId::Sawtooth
        | FindingId::WindowTooSmall => finding.named().next(),
        _ => None,
    }
}

/// The remedy without a reliable forecast.
fn attempt(change: Change, is_program: bool) -> String {
    match is_program {
        true => say!("Try {change}, and measure it with `loadscope tune`"),
        false => say!("Try {change}"),
    }
}

/// The remedy of a finding about time whose own remedy names a setting that is not forecast to be faster; `None` if it names none.
fn instead(finding: &Finding, workers: usize, prospects: &Prospects) -> Option<String> {
    finding.cost?;
    let is_slow =
        |known: &[&Forecast]| !known.is_empty() && known.iter().all(|f| f.took >= prospects.now());
    if finding.remedy == FEWER.say() {
        let fewer = |f: &&Forecast| matches!(f.change, Change::NumWorkers(n) if n < workers);
        let known: Vec<&Forecast> = prospects.changes.iter().filter(fewer).collect();
        let advice = EARLIER.say();
        return is_slow(&known)
            .then(|| say!("{advice}. Fewer workers are not forecast to be faster."));
    }
    let change = finding
        .named()
        .find(|change| is_slow(&prospects.known(*change).collect::<Vec<_>>()))?;
    let advice = match (finding.id, change) {
        (FindingId::EpochRefill, Change::PersistentWorkers(_)) => LONGER.say(),
        (FindingId::SlowFirstBatch, Change::PersistentWorkers(_) | Change::NumWorkers(_)) => {
            EARLIER.say()
        }
        (FindingId::SlowerThanNone, _) => say!("Use larger batches to reduce the transfer cost"),
        (_, Change::PinMemory(_)) => say!("Return fewer or smaller tensors per batch"),
        _ => say!("Reduce the work per batch: simplify the transforms or cache their output"),
    };
    Some(say!("{advice}. {change} is not forecast to be faster."))
}

fn about_workers(workers: usize, prospects: &Prospects) -> String {
    let is_about = |change| {
        matches!(
            change,
            Change::NumWorkers(_) | Change::Window(..) | Change::Kept(_)
        )
    };
    match prospects.first_of(workers, is_about) {
        Some(first) => prospects.remedy(&first),
        None => NOTHING.say().to_owned(),
    }
}

/// The best change, or that a larger window is not forecast to help. `None` without a forecast of one.
fn about_window(workers: usize, prospects: &Prospects) -> Option<String> {
    if let Some(first) = prospects.first(workers) {
        return Some(prospects.remedy(&first));
    }
    let is_window = |f: &Forecast| matches!(f.change, Change::PrefetchFactor(_));
    let prepare = say!("Reduce the work per batch: simplify the transforms or cache their output");
    let has_forecast = prospects.changes.iter().any(is_window);
    has_forecast.then(|| say!("{prepare}. A larger prefetch_factor is not forecast to help."))
}

/// The remedy for slow samples, with the settings that are forecast not to hide them; `None` without forecasts of such settings,
/// or if one of them helps.
fn about_slow_samples(workers: usize, prospects: &Prospects) -> Option<String> {
    let prepare = PREPARE.say();
    let any_order = |f: &Forecast| f.change == Change::InOrder(false);
    let further = |f: &Forecast| matches!(f.change, Change::PrefetchFactor(_));
    let better = prospects.better();
    if better.iter().any(|f| any_order(f) || further(f)) {
        return None;
    }
    if workers == 0 {
        return Some(say!(
            "{prepare}. With num_workers=0, training waits for each slow sample."
        ));
    }
    let changes = &prospects.changes;
    Some(
        match (changes.iter().any(further), changes.iter().any(any_order)) {
            (true, true) => say!(
                "{prepare}. Neither a larger prefetch_factor nor in_order=False is forecast to help."
            ),
            (true, false) => say!("{prepare}. A larger prefetch_factor is not forecast to help."),
            (false, true) => say!("{prepare}. in_order=False is not forecast to help."),
            (false, false) => return None,
        },
    )
}

/// `in_order=False` with its forecast, or the advice of `grouping` if it saves little; `None` without a forecast.
fn about_order(workers: usize, prospects: &Prospects, grouping: Option<Text>) -> Option<String> {
    let any_order = |f: &&Forecast| f.change == Change::InOrder(false);
    let known = prospects.changes.iter().find(any_order)?;
    let better = prospects.better();
    if better.iter().any(|f| f.change == known.change) {
        let remedy = prospects.remedy(known);
        let first = prospects
            .first(workers)
            .filter(|f| f.change != known.change);
        return Some(match first {
            Some(first) => {
                let (best, alone) = (prospects.remedy(&first), prospects.forecast_of(known));
                say!("{best}. Alternative: {alone}.")
            }
            None => remedy,
        });
    }
    let advice = grouping.map_or(say!("Find out why these samples are slow"), Text::say);
    Some(say!("{advice}. in_order=False is forecast to save little."))
}

#[cfg(test)]
mod tests;
