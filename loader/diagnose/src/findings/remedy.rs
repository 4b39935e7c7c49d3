//! Consistency of remedies and forecasts: no finding advises a setting that is forecast to be slower.

use super::blocked::{CHECK_HOST, PREPARE, grouping};
use super::start::{EARLIER_START, FEWER_WORKERS, LONGER_EPOCHS};
use super::{Change, Finding, FindingId, Forecast, ForecastSet, Survey};
use loadscope_trace::Origin;
use loadscope_words::{Text, say, text};

/// Findings with a remedy that changes the number of workers or of batches in flight.
const ABOUT_WORKERS: [FindingId; 4] = [
    FindingId::NoWorkers,
    FindingId::StarvedWorkers,
    FindingId::Sawtooth,
    FindingId::Oversubscribed,
];

/// Remedy if no other number of workers is forecast to be faster.
const NO_FASTER_WORKERS: Text = text!(
    "Simplify the transforms or cache their output. No other number of workers is forecast to be faster."
);

/// Remedy after a worker died, before any change of the number of workers.
const WORKER_DIED: Text =
    text!("Find out why a worker died before you add workers, which need more memory");

/// Properties of the loader that affect remedies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loader {
    /// Number of workers.
    pub workers: usize,
    /// True if batches are yielded in order and there are at least two workers.
    pub in_order: bool,
    /// True if the sample order is random.
    pub is_random: bool,
    /// Advice to group samples of similar cost. `None` if a batch is one sample.
    grouping: Option<Text>,
    /// True if `loadscope tune` can run the program.
    is_program: bool,
}

impl Loader {
    /// Returns the properties of the loader of a run.
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

/// Replaces remedies with the best forecast change. If the forecasts are unreliable, a remedy names a setting to try instead.
pub(super) fn apply_forecasts(
    findings: &mut [Finding],
    loader: Loader,
    prospects: Option<&ForecastSet>,
) {
    let workers = loader.workers;
    let died = findings.iter().any(|f| f.id == FindingId::DeadWorker);
    let is_unreliable = prospects.is_some_and(|p| !p.fits());
    let prospects = prospects.filter(|p| p.fits());
    let about_workers = match (died, prospects) {
        (true, _) => Some(WORKER_DIED.say().to_owned()),
        (false, Some(prospects)) => Some(about_workers(workers, prospects)),
        (false, None) => None,
    };
    for finding in findings {
        let remedy = match finding.id {
            id if ABOUT_WORKERS.contains(&id) => about_workers.clone(),
            FindingId::HeavyTail if finding.remedy != CHECK_HOST.say() => {
                prospects.and_then(|p| about_slow_samples(workers, p))
            }
            FindingId::WindowTooSmall => prospects.and_then(|p| about_window(workers, p)),
            FindingId::SlowerThanNone => prospects.and_then(|p| {
                let none =
                    p.recommended_among(workers, |change| change == Change::NumWorkers(0))?;
                Some(p.remedy(&none))
            }),
            FindingId::HeadOfLine => {
                prospects.and_then(|p| about_order(workers, p, loader.grouping))
            }
            _ => None,
        };
        let remedy = remedy.or_else(|| match prospects {
            Some(prospects) => faster_remedy(finding, workers, prospects),
            None if is_unreliable => {
                suggested_change(finding).map(|change| suggested_remedy(change, loader.is_program))
            }
            None => None,
        });
        if let Some(remedy) = remedy {
            finding.remedy = remedy;
        }
    }
}

/// Returns the setting to try if the forecasts are unreliable: the first one in the remedy. Returns `None` for findings about other
/// problems.
pub(super) fn suggested_change(finding: &Finding) -> Option<Change> {
    match finding.id {
        FindingId::NoWorkers
        | FindingId::StarvedWorkers
        | FindingId::Sawtooth
        | FindingId::WindowTooSmall => finding.settings_in_remedy().next(),
        _ => None,
    }
}

/// Returns the remedy without a reliable forecast.
fn suggested_remedy(change: Change, is_program: bool) -> String {
    match is_program {
        true => say!("Try {change}, and measure it with `loadscope tune`"),
        false => say!("Try {change}"),
    }
}

/// Returns another remedy if the finding names a setting that is not forecast to be faster.
///
/// Returns `None` if its settings are faster or have no forecast, or if the finding has no cost in time.
fn faster_remedy(finding: &Finding, workers: usize, prospects: &ForecastSet) -> Option<String> {
    finding.cost?;
    let is_slow =
        |known: &[&Forecast]| !known.is_empty() && known.iter().all(|f| f.took >= prospects.now());
    if finding.remedy == FEWER_WORKERS.say() {
        let fewer = |f: &&Forecast| matches!(f.change, Change::NumWorkers(n) if n < workers);
        let known: Vec<&Forecast> = prospects.changes.iter().filter(fewer).collect();
        let advice = EARLIER_START.say();
        return is_slow(&known)
            .then(|| say!("{advice}. Fewer workers are not forecast to be faster."));
    }
    let change = finding
        .settings_in_remedy()
        .find(|change| is_slow(&prospects.forecasts_for(*change).collect::<Vec<_>>()))?;
    let advice = match (finding.id, change) {
        (FindingId::EpochRefill, Change::PersistentWorkers(_)) => LONGER_EPOCHS.say(),
        (FindingId::SlowFirstBatch, Change::PersistentWorkers(_) | Change::NumWorkers(_)) => {
            EARLIER_START.say()
        }
        (FindingId::SlowerThanNone, _) => say!("Use larger batches to reduce the transfer cost"),
        (_, Change::PinMemory(_)) => say!("Return fewer or smaller tensors per batch"),
        _ => say!("Reduce the work per batch: simplify the transforms or cache their output"),
    };
    Some(say!("{advice}. {change} is not forecast to be faster."))
}

/// Returns the best forecast change of the number of workers or of the prefetch window, or [`NO_FASTER_WORKERS`].
fn about_workers(workers: usize, prospects: &ForecastSet) -> String {
    let is_about = |change| {
        matches!(
            change,
            Change::NumWorkers(_) | Change::Window(..) | Change::Kept(_)
        )
    };
    match prospects.recommended_among(workers, is_about) {
        Some(first) => prospects.remedy(&first),
        None => NO_FASTER_WORKERS.say().to_owned(),
    }
}

/// Returns the best forecast change, or the advice to reduce the work per batch. Returns `None` without a forecast of another prefetch
/// factor.
fn about_window(workers: usize, prospects: &ForecastSet) -> Option<String> {
    if let Some(first) = prospects.recommended(workers) {
        return Some(prospects.remedy(&first));
    }
    let is_window = |f: &Forecast| matches!(f.change, Change::PrefetchFactor(_));
    let prepare = say!("Reduce the work per batch: simplify the transforms or cache their output");
    let has_forecast = prospects.changes.iter().any(is_window);
    has_forecast.then(|| say!("{prepare}. A larger prefetch_factor is not forecast to help."))
}

/// Returns the remedy for slow samples, with the settings that are forecast not to hide them.
///
/// Returns `None` without forecasts of such settings, or if one of them helps.
fn about_slow_samples(workers: usize, prospects: &ForecastSet) -> Option<String> {
    let prepare = PREPARE.say();
    let any_order = |f: &Forecast| f.change == Change::InOrder(false);
    let prefetch = |f: &Forecast| matches!(f.change, Change::PrefetchFactor(_));
    let better = prospects.better();
    if better.iter().any(|f| any_order(f) || prefetch(f)) {
        return None;
    }
    if workers == 0 {
        return Some(say!(
            "{prepare}. With num_workers=0, training waits for each slow sample."
        ));
    }
    let changes = &prospects.changes;
    Some(
        match (changes.iter().any(prefetch), changes.iter().any(any_order)) {
            (true, true) => say!(
                "{prepare}. Neither a larger prefetch_factor nor in_order=False is forecast to help."
            ),
            (true, false) => say!("{prepare}. A larger prefetch_factor is not forecast to help."),
            (false, true) => say!("{prepare}. in_order=False is not forecast to help."),
            (false, false) => return None,
        },
    )
}

/// Returns `in_order=False` with its forecast, or the advice in `grouping` if it saves little. Returns `None` without a forecast.
fn about_order(workers: usize, prospects: &ForecastSet, grouping: Option<Text>) -> Option<String> {
    let any_order = |f: &&Forecast| f.change == Change::InOrder(false);
    let known = prospects.changes.iter().find(any_order)?;
    let better = prospects.better();
    if better.iter().any(|f| f.change == known.change) {
        let remedy = prospects.remedy(known);
        let first = prospects
            .recommended(workers)
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
