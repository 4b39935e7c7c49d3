//! Remedies that agree with the forecasts: a finding never advises a setting that is forecast to be slower.

use super::blocked::grouping;
use super::{Change, Finding, FindingId, Forecast, Prospects, Survey};
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
    "No other number of workers is forecast to be faster. Simplify the transforms, or cache their output."
);

/// What there is to do first after a worker died.
const DIED: Text = text!("First find out why a worker died: more workers need more memory");

/// What there is to do about slow samples in any case.
const PREPARE: Text = text!("Best: preprocess or cache these samples.");

/// What remedies need to know of the loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Loader {
    /// Workers of the run.
    workers: usize,
    /// Advice to group samples of similar cost.
    grouping: Option<Text>,
}

impl Loader {
    /// The loader of a run.
    pub fn of(survey: &Survey) -> Self {
        Self {
            workers: survey.workers,
            grouping: grouping(&survey.run.info.options),
        }
    }
}

/// Puts what is forecast to be best in the place of what the finding alone would advise.
pub(super) fn agree(findings: &mut [Finding], loader: Loader, prospects: Option<&Prospects>) {
    let workers = loader.workers;
    let died = findings.iter().any(|f| f.id == FindingId::DeadWorker);
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
            FindingId::HeadOfLine => prospects.and_then(|p| about_order(p, loader.grouping)),
            _ => None,
        };
        if let Some(remedy) = remedy {
            finding.remedy = remedy;
        }
    }
}

fn about_workers(workers: usize, prospects: &Prospects) -> String {
    match prospects.first(workers) {
        Some(first) => prospects.remedy(&first),
        None => NOTHING.say().to_owned(),
    }
}

/// What lets other batches pass slow ones, where it is forecast to bring something; `None` where nothing is forecast of it.
fn about_slow_samples(workers: usize, prospects: &Prospects) -> Option<String> {
    let prepare = PREPARE.say();
    let any_order = |f: &Forecast| f.change == Change::InOrder(false);
    let further = |f: &Forecast| matches!(f.change, Change::PrefetchFactor(_));
    let better = prospects.better();
    if let Some(first) = better.iter().find(|f| any_order(f) || further(f)) {
        return Some(say!("{}. {prepare}", prospects.remedy(first)));
    }
    if workers == 0 {
        return Some(say!(
            "Without workers, nothing hides slow samples. {prepare}"
        ));
    }
    let changes = &prospects.changes;
    Some(
        match (changes.iter().any(further), changes.iter().any(any_order)) {
            (true, true) => say!(
                "Neither a larger prefetch_factor nor in_order=False is forecast to help. {prepare}"
            ),
            (true, false) => say!("A larger prefetch_factor is not forecast to help. {prepare}"),
            (false, true) => say!("in_order=False is not forecast to help. {prepare}"),
            (false, false) => return None,
        },
    )
}

/// What `in_order=False` is forecast to bring, and the advice of `grouping`; `None` where that is not known.
fn about_order(prospects: &Prospects, grouping: Option<Text>) -> Option<String> {
    let any_order = |f: &&Forecast| f.change == Change::InOrder(false);
    let known = prospects.changes.iter().find(any_order)?;
    let is_better = prospects.better().iter().any(|f| f.change == known.change);
    let text = match is_better {
        true => say!(
            "{}, in a different order in every run",
            prospects.remedy(known)
        ),
        false => say!("in_order=False is forecast to save little").to_owned(),
    };
    Some(match grouping {
        Some(advice) => say!("{text}. {advice}"),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evidence, Nanos, Severity};

    fn finding(id: FindingId, remedy: &str) -> Finding {
        Finding {
            id,
            text: String::new(),
            severity: Severity::Warning,
            evidence: Evidence::Run,
            remedy: remedy.to_owned(),
            cost: Some(Nanos::from_millis(1)),
        }
    }

    fn prospects(changes: &[(Change, i64)]) -> Prospects {
        let of = |(change, ms): &(Change, i64)| Forecast {
            change: *change,
            took: Nanos::from_millis(*ms),
            waited: Nanos::ZERO,
            low: Nanos::from_millis(*ms),
            high: Nanos::from_millis(*ms),
        };
        Prospects {
            recorded: Nanos::from_millis(1000),
            refit: Nanos::from_millis(1000),
            refit_high: Nanos::from_millis(1000),
            refit_waited: Nanos::ZERO,
            changes: changes.iter().map(of).collect(),
            best: None,
            cheapest: None,
            workers_refused: None,
            is_divided: false,
            headroom: Nanos::from_millis(100),
            assumptions: Vec::new(),
        }
    }

    const GROUPS: Text = text!("Group samples of similar cost into a batch to avoid outliers.");

    fn remedies(of: &[Finding], prospects: &Prospects) -> Vec<String> {
        let mut findings = of.to_vec();
        let loader = Loader {
            workers: 2,
            grouping: Some(GROUPS),
        };
        agree(&mut findings, loader, Some(prospects));
        let plain = |f: Finding| f.remedy.replace('\u{2009}', " ");
        findings.into_iter().map(plain).collect()
    }

    /// One window said: add no workers, num_workers=5, and a larger prefetch_factor, of which the forecast was that it brings nothing.
    #[test]
    fn nothing_is_advised_that_is_forecast_to_bring_nothing() {
        let of = [
            finding(FindingId::StarvedWorkers, "more workers do not help"),
            finding(
                FindingId::HeavyTail,
                "A larger prefetch_factor hides slow samples",
            ),
            // In Chinese another sign stands between the two.
            finding(FindingId::HeadOfLine, "in_order=False；把它们分组"),
        ];
        let known = prospects(&[
            (Change::NumWorkers(5), 400),
            (Change::PrefetchFactor(4), 1000),
            (Change::InOrder(false), 995),
        ]);
        let remedies = remedies(&of, &known);
        assert_eq!(
            remedies[0],
            "num_workers=5: forecast 0.40 s instead of 1.00 s"
        );
        assert_eq!(
            remedies[1],
            "Neither a larger prefetch_factor nor in_order=False is forecast to help. Best: preprocess or cache these samples."
        );
        assert_eq!(
            remedies[2],
            "in_order=False is forecast to save little. Group samples of similar cost into a batch to avoid outliers."
        );
    }

    /// It was reported of `in_order=False` as well where that was not forecast: with one worker, or where it is set already.
    #[test]
    fn only_what_is_forecast_is_reported_not_to_help() {
        let of = [finding(FindingId::HeavyTail, "as it was")];
        let said = |changes: &[(Change, i64)]| remedies(&of, &prospects(changes)).remove(0);
        let further = (Change::PrefetchFactor(4), 1000);
        let any_order = (Change::InOrder(false), 995);
        assert!(said(&[further, any_order]).starts_with("Neither"));
        assert_eq!(
            said(&[(Change::NumWorkers(3), 1000), further]),
            "A larger prefetch_factor is not forecast to help. Best: preprocess or cache these samples."
        );
        assert!(said(&[any_order]).starts_with("in_order=False is not forecast to help. "));
        assert_eq!(said(&[]), "as it was");
    }

    #[test]
    fn what_is_forecast_to_help_has_its_number() {
        let of = [
            finding(
                FindingId::HeavyTail,
                "A larger prefetch_factor hides slow samples",
            ),
            finding(FindingId::HeadOfLine, "in_order=False"),
        ];
        let known = prospects(&[
            (Change::PrefetchFactor(4), 700),
            (Change::InOrder(false), 500),
        ]);
        assert_eq!(
            remedies(&of, &known),
            [
                "in_order=False: forecast 0.50 s instead of 1.00 s. Best: preprocess or cache these samples.",
                "in_order=False: forecast 0.50 s instead of 1.00 s, in a different order in every run. Group samples of similar cost into a batch to avoid outliers."
            ]
        );
    }
}
