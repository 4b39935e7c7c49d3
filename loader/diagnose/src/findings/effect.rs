//! Effects of a remedy on training: sample order, random numbers and dataset state.

use std::collections::{BTreeMap, BTreeSet};

use loadscope_words::say;
use serde::Serialize;

use super::remedy::Loader;
use super::{Change, Finding, FindingId, ForecastSet, Survey};
use loadscope_trace::{Fact, Run};

/// An effect of a changed setting on the samples that training receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Workers keep their copy of the dataset between epochs, without later changes in the main process.
    KeptDataset,
    /// Each worker has its own copy of the dataset. Changes in a worker stay in that worker.
    CopiedDataset,
    /// Batches arrive in a different order in every run.
    Order,
    /// Workers draw other random numbers, so random augmentations change.
    RandomNumbers,
    /// The sample order of a shuffled loader changes from the second epoch on. With `persistent_workers=True`, PyTorch draws the worker
    /// seed from the loader's generator once, not once per epoch.
    ShuffledOrder,
}

impl Effect {
    /// Returns the effect as one sentence, without a final period.
    pub fn sentence(self, run: &Run) -> String {
        match self {
            Self::KeptDataset => match changed_attributes(run).as_slice() {
                [] => say!("Workers keep their copy of the dataset: later changes in the main process, such as set_epoch(), do not reach them").to_owned(),
                names => say!(
                    "Workers keep their copy of the dataset: this program changes its {} between epochs, which no longer reaches them",
                    names.join(say!(", "))
                ),
            },
            Self::CopiedDataset => say!("Each worker has its own copy of the dataset: changes in __getitem__ stay in the worker").to_owned(),
            Self::Order => say!("With in_order=False, batches arrive in a different order in every run").to_owned(),
            Self::RandomNumbers => say!("Random augmentations change, because workers draw other random numbers").to_owned(),
            Self::ShuffledOrder => say!("The sample order changes from the second epoch on").to_owned(),
        }
    }
}

impl Change {
    /// Returns the effects of this change on training with `workers` workers. The sample order changes only if it `is_random`.
    pub fn effects(self, workers: usize, is_random: bool) -> BTreeSet<Effect> {
        let of_workers = |n: usize| {
            let copies = (workers == 0 && n > 0).then_some(Effect::CopiedDataset);
            let draws = (workers != n).then_some(Effect::RandomNumbers);
            copies.into_iter().chain(draws)
        };
        let mut effects: BTreeSet<Effect> = match self {
            Self::NumWorkers(n) | Self::Window(n, _) => of_workers(n).collect(),
            Self::Kept(n) => of_workers(n)
                .chain([Effect::KeptDataset, Effect::ShuffledOrder])
                .collect(),
            Self::PersistentWorkers(true) => [
                Effect::KeptDataset,
                Effect::RandomNumbers,
                Effect::ShuffledOrder,
            ]
            .into(),
            Self::InOrder(false) => [Effect::Order].into(),
            Self::PersistentWorkers(false) => [Effect::RandomNumbers, Effect::ShuffledOrder].into(),
            Self::InOrder(true) | Self::PrefetchFactor(_) | Self::PinMemory(_) => BTreeSet::new(),
        };
        if !is_random {
            effects.remove(&Effect::ShuffledOrder);
        }
        effects
    }
}

/// Returns the effects of the settings in each remedy, by finding. Findings without an effect are not included.
pub(super) fn effects(
    loader: Loader,
    findings: &[Finding],
    prospects: Option<&ForecastSet>,
) -> BTreeMap<FindingId, BTreeSet<Effect>> {
    let effects_of = |finding: &Finding| {
        let offered = offered(loader, finding, prospects);
        let effects = offered
            .into_iter()
            .flat_map(|c| c.effects(loader.workers, loader.is_random));
        (finding.id, effects.collect::<BTreeSet<_>>())
    };
    let all = findings.iter().map(effects_of);
    all.filter(|(_, effects)| !effects.is_empty()).collect()
}

/// Returns the settings that the remedy of a finding advises. Remedies contain PyTorch's argument names in every language.
fn offered(loader: Loader, finding: &Finding, prospects: Option<&ForecastSet>) -> Vec<Change> {
    let in_order = Change::InOrder(false);
    let prospects = prospects.filter(|p| p.fits());
    let better = prospects.map(ForecastSet::better).unwrap_or_default();
    // A remedy that begins with a forecast advises its change.
    let is_in_remedy =
        |f: &&super::Forecast| prospects.is_some_and(|p| finding.remedy.starts_with(&p.remedy(f)));
    if let Some(forecast) = better
        .iter()
        .filter(is_in_remedy)
        .max_by_key(|f| f.change.to_string().len())
    {
        let also = Some(in_order).filter(|_| {
            finding.id == FindingId::HeadOfLine
                && forecast.change != in_order
                && finding.remedy.contains("in_order=False")
        });
        return also.into_iter().chain([forecast.change]).collect();
    }
    // The remedy advises in_order=False if the forecast is faster, or if no forecast exists.
    let is_faster = prospects.and_then(|p| {
        let mut changes = p.changes.iter();
        let found = changes.find(|f| f.change == in_order)?;
        Some(found.took < p.now())
    });
    let is_in_order_advised = match is_faster {
        Some(_) => better.iter().any(|f| f.change == in_order),
        None => loader.in_order,
    };
    match finding.id {
        FindingId::EpochRefill if finding.remedy.contains("persistent_workers=True") => {
            vec![Change::PersistentWorkers(true)]
        }
        FindingId::HeavyTail | FindingId::HeadOfLine
            if is_in_order_advised && finding.remedy.contains("in_order=False") =>
        {
            vec![in_order]
        }
        // This remedy advises in_order=False unless a forecast shows no gain.
        FindingId::SlowWorker
            if loader.in_order
                && is_faster != Some(false)
                && finding.remedy.contains("in_order=False") =>
        {
            vec![in_order]
        }
        FindingId::SlowSample if finding.remedy.contains("in_order=False") => vec![in_order],
        FindingId::NoWorkers
        | FindingId::StarvedWorkers
        | FindingId::Sawtooth
        | FindingId::Oversubscribed
        | FindingId::SlowerThanNone => parse_num_workers(&finding.remedy)
            .map(Change::NumWorkers)
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the number after `num_workers=`. Returns `None` if the text contains no such number.
fn parse_num_workers(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("num_workers=")?;
    let digits = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

/// Returns the dataset attributes that the main process changes between epochs, sorted.
fn changed_attributes(run: &Run) -> Vec<&str> {
    let facts = run.facts().iter().filter_map(|(_, fact)| match fact {
        Fact::DatasetChanged { attributes } => Some(attributes.iter().map(String::as_str)),
        _ => None,
    });
    let all: BTreeSet<&str> = facts.flatten().collect();
    all.into_iter().collect()
}

/// Finds changes of the dataset in the main process that persistent workers do not receive.
pub(super) fn stale(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let options = &run.info.options;
    let names = changed_attributes(run);
    if !options.persistent_workers || options.num_workers == 0 || names.is_empty() {
        return None;
    }
    let is_epoch = names
        .iter()
        .any(|name| name.to_ascii_lowercase().contains("epoch"));
    Some(Finding {
        id: FindingId::StaleDataset,
        text: say!(
            "The program changes {} of the dataset between epochs, but persistent workers keep the copy of the first epoch",
            names.join(say!(", "))
        ),
        severity: match is_epoch {
            true => super::Severity::Warning,
            false => super::Severity::Note,
        },
        evidence: super::Evidence::Run,
        remedy: say!("Use persistent_workers=False, or keep the value in shared memory: torch.tensor(0).share_memory_()").to_owned(),
        cost: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_has_its_effects() {
        let of = |change: Change, workers| {
            change
                .effects(workers, true)
                .into_iter()
                .collect::<Vec<_>>()
        };
        let (copied, random) = (Effect::CopiedDataset, Effect::RandomNumbers);
        assert_eq!(of(Change::NumWorkers(4), 0), [copied, random]);
        assert_eq!(of(Change::NumWorkers(4), 2), [random]);
        assert_eq!(of(Change::Window(2, 4), 2), []);
        let kept = [Effect::KeptDataset, random, Effect::ShuffledOrder];
        assert_eq!(of(Change::Kept(4), 2), kept);
        assert_eq!(of(Change::PersistentWorkers(true), 2), kept);
        assert_eq!(of(Change::PersistentWorkers(false), 2), kept[1..]);
        assert_eq!(of(Change::InOrder(false), 2), [Effect::Order]);
        assert_eq!(of(Change::PrefetchFactor(4), 2), []);
        assert_eq!(parse_num_workers("num_workers=12: forecast"), Some(12));
        assert_eq!(parse_num_workers("Use num_workers=0, or larger"), Some(0));
        assert_eq!(parse_num_workers("simplify"), None);
    }
}
