//! Comparison of the classes in an order with their expected frequencies, by a χ² test.

use std::collections::HashMap;

use super::chi2::{ChiSquare, test};
use super::order::Order;
use crate::background::{Cancelled, Progress};
use loadscope_words::say;

/// Classes of samples.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// The dataset provides the class of every sample.
    All(Vec<u32>),
    /// Only loaded samples have a known class.
    Some(HashMap<u64, u32>),
}

impl Labels {
    /// Returns the class of the sample `index`.
    pub fn get(&self, index: u64) -> Option<u32> {
        match self {
            Self::All(labels) => labels.get(usize::try_from(index).ok()?).copied(),
            Self::Some(labels) => labels.get(&index).copied(),
        }
    }
}

/// Source of the expected frequencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// Weights of a sampler with replacement.
    Weights,
    /// Frequencies in the dataset.
    Dataset,
    /// No source is known.
    Nothing,
}

/// Class of samples, with its observed and its expected count.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name, or the weight of its samples.
    pub name: String,
    /// Number of occurrences.
    pub drawn: u64,
    /// Expected number of occurrences, if known.
    pub expected: Option<f64>,
}

/// Frequencies of classes compared with the expected ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Classes in order of their labels.
    pub classes: Vec<Class>,
    /// Number of samples without a known class.
    pub unknown: u64,
    /// Source of the expected frequencies.
    pub against: Reference,
    /// True if the classes are groups of equal weight, because no labels are known.
    pub is_by_weight: bool,
    /// Result of the χ² test, if one is possible.
    pub test: Option<ChiSquare>,
    /// Mean number of classes per batch, and its expectation for independent draws.
    pub mixture: Option<(f64, f64)>,
}

/// Information about classes.
#[derive(Clone, Copy, Debug, Default)]
pub struct BalanceQuery<'a> {
    /// Classes of samples.
    pub labels: Option<&'a Labels>,
    /// Names of classes.
    pub names: &'a [String],
    /// Weights of samples.
    pub weights: Option<&'a [f64]>,
    /// True if the sampler draws with replacement.
    pub replacement: bool,
}

/// Maximum number of classes. More are not meaningful classes.
const MAX_CLASSES: usize = 4096;

impl Balance {
    /// Compares the classes in `order` with their expectations. Returns `None` if neither labels nor weights are known.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn of(
        order: &Order,
        asked: BalanceQuery<'_>,
        progress: &Progress,
    ) -> Result<Option<Self>, Cancelled> {
        let by_weight = match (asked.labels, asked.weights) {
            (None, Some(weights)) => groups_of_weight(weights),
            _ => None,
        };
        let Some(labels) = asked
            .labels
            .or(by_weight.as_ref().map(|(labels, _)| labels))
        else {
            return Ok(None);
        };
        let mut drawn: Vec<u64> = Vec::new();
        let mut unknown = 0;
        for (k, piece) in order.indices.chunks(Progress::PIECE).enumerate() {
            progress
                .report(0.8 + 0.15 * (k * Progress::PIECE) as f64 / order.indices.len() as f64)?;
            for &index in piece {
                match labels.get(index).filter(|c| (*c as usize) < MAX_CLASSES) {
                    Some(class) => *slot(&mut drawn, class) += 1,
                    None => unknown += 1,
                }
            }
        }
        let known: u64 = drawn.iter().sum();
        if known == 0 {
            return Ok(None);
        }
        let (against, shares) = shares(labels, asked);
        let count = drawn
            .len()
            .max(shares.len())
            .max(asked.names.len().min(MAX_CLASSES));
        drawn.resize(count, 0);
        let expected = |class: usize| match against {
            Reference::Nothing => None,
            _ => Some(shares.get(class).copied().unwrap_or(0.0) * known as f64),
        };
        let names = by_weight.as_ref().map_or(asked.names, |(_, names)| names);
        let classes: Vec<Class> = drawn
            .iter()
            .enumerate()
            .map(|(class, drawn)| Class {
                name: names
                    .get(class)
                    .cloned()
                    .unwrap_or_else(|| class.to_string()),
                drawn: *drawn,
                expected: expected(class),
            })
            .collect();
        let pairs = classes
            .iter()
            .filter_map(|c| Some((c.drawn as f64, c.expected?)));
        Ok(Some(Self {
            test: test(pairs),
            mixture: (unknown * 10 <= known && asked.labels.is_some())
                .then(|| mixture(order, labels, &drawn))
                .flatten(),
            classes,
            unknown,
            against,
            is_by_weight: by_weight.is_some(),
        }))
    }

    /// Returns the class with the largest deviation from its expectation, in units of the square root of the expectation.
    pub fn farthest(&self) -> Option<&Class> {
        let off = |c: &Class| {
            let expected = c.expected.unwrap_or(c.drawn as f64);
            (c.drawn as f64 - expected).abs() / expected.max(f64::MIN_POSITIVE).sqrt()
        };
        self.classes.iter().max_by(|a, b| off(a).total_cmp(&off(b)))
    }
}

fn slot(counts: &mut Vec<u64>, class: u32) -> &mut u64 {
    let class = class as usize;
    if class >= counts.len() {
        counts.resize(class + 1, 0);
    }
    &mut counts[class]
}

/// Returns the expected share of each class.
fn shares(labels: &Labels, asked: BalanceQuery<'_>) -> (Reference, Vec<f64>) {
    let mut sums: Vec<f64> = Vec::new();
    let mut add = |class: u32, weight: f64| {
        let class = class as usize;
        if class < MAX_CLASSES {
            sums.resize(sums.len().max(class + 1), 0.0);
            sums[class] += weight;
        }
    };
    let against = match (asked.weights, labels) {
        (Some(weights), _) if asked.replacement => {
            for (index, weight) in weights.iter().enumerate() {
                match labels.get(index as u64) {
                    Some(class) => add(class, *weight),
                    // Shares are unknown if some samples have no class.
                    None => return (Reference::Nothing, Vec::new()),
                }
            }
            Reference::Weights
        }
        (None, Labels::All(all)) => {
            all.iter().for_each(|class| add(*class, 1.0));
            Reference::Dataset
        }
        _ => Reference::Nothing,
    };
    let sum: f64 = sums.iter().sum();
    if !(sum > 0.0 && sum.is_finite()) {
        return (Reference::Nothing, Vec::new());
    }
    (against, sums.into_iter().map(|s| s / sum).collect())
}

/// Groups samples by weight, if there are at most `MAX_WEIGHTS` weights.
fn groups_of_weight(weights: &[f64]) -> Option<(Labels, Vec<String>)> {
    const MAX_WEIGHTS: usize = 24;
    let mut different: Vec<f64> = Vec::new();
    for weight in weights {
        if !different.contains(weight) {
            different.push(*weight);
        }
        if different.len() > MAX_WEIGHTS {
            return None;
        }
    }
    different.sort_by(f64::total_cmp);
    let group = |w: &f64| different.iter().position(|d| d == w).unwrap_or(0) as u32;
    let labels = Labels::All(weights.iter().map(group).collect());
    let names = different.iter().map(|w| say!("weight {w}")).collect();
    Some((labels, names))
}

/// Returns the mean number of classes per batch, and its expectation for independent draws.
fn mixture(order: &Order, labels: &Labels, drawn: &[u64]) -> Option<(f64, f64)> {
    let all: u64 = drawn.iter().sum();
    let mut last_batch = vec![usize::MAX; drawn.len()];
    let (mut batches, mut classes, mut expected) = (0u64, 0u64, 0.0);
    // All batches but the last have one size, so the expectation is cached by size.
    let mut by_size: HashMap<usize, f64> = HashMap::new();
    for (k, batch) in order.batches().enumerate().filter(|(_, b)| b.len() > 1) {
        batches += 1;
        for class in batch.iter().filter_map(|i| labels.get(*i)) {
            if let Some(last) = last_batch.get_mut(class as usize)
                && *last != k
            {
                *last = k;
                classes += 1;
            }
        }
        expected += *by_size.entry(batch.len()).or_insert_with(|| {
            let comes = |n: &u64| 1.0 - (1.0 - *n as f64 / all as f64).powf(batch.len() as f64);
            drawn.iter().map(comes).sum()
        });
    }
    (batches > 0).then(|| (classes as f64 / batches as f64, expected / batches as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(batches: &[&[u64]]) -> Order {
        let mut order = Order::default();
        batches.iter().for_each(|b| order.push(b, None, None));
        order
    }

    fn judge(order: &Order, asked: BalanceQuery<'_>) -> Option<Balance> {
        Balance::of(order, asked, &Progress::default()).unwrap()
    }

    #[test]
    fn classes_are_compared_with_the_weights() {
        // Class 0 has three samples of weight 1, class 1 has one of weight 3, so both are equally likely.
        let labels = Labels::All(vec![0, 0, 0, 1]);
        let asked = BalanceQuery {
            labels: Some(&labels),
            weights: Some(&[1.0, 1.0, 1.0, 3.0]),
            replacement: true,
            ..BalanceQuery::default()
        };
        let balance = judge(&order(&[&[0, 1, 2, 0, 1, 3]]), asked).unwrap();
        assert_eq!(balance.against, Reference::Weights);
        let pairs: Vec<_> = balance
            .classes
            .iter()
            .map(|c| (c.drawn, c.expected))
            .collect();
        assert_eq!(pairs, [(5, Some(3.0)), (1, Some(3.0))]);
        let test = balance.test.unwrap();
        assert!((test.statistic - 8.0 / 3.0).abs() < 1e-12 && test.degrees == 1);
        let without = BalanceQuery {
            replacement: false,
            ..asked
        };
        let balance = judge(&order(&[&[0, 3]]), without).unwrap();
        assert_eq!((balance.against, balance.test), (Reference::Nothing, None));
    }

    #[test]
    fn a_whole_epoch_matches_the_dataset() {
        let labels = Labels::All(vec![0, 0, 1, 1, 2]);
        let asked = BalanceQuery {
            labels: Some(&labels),
            ..BalanceQuery::default()
        };
        let balance = judge(&order(&[&[0, 1], &[2, 3], &[4]]), asked).unwrap();
        let test = balance.test.unwrap();
        assert_eq!((test.statistic, test.p), (0.0, 1.0));
        let (seen, expected) = balance.mixture.unwrap();
        assert_eq!(seen, 1.0);
        assert!((expected - (2.0 * 0.64 + 0.36)).abs() < 1e-12);
    }

    #[test]
    fn few_weights_form_groups_and_many_do_not() {
        let asked = BalanceQuery {
            weights: Some(&[1.0, 0.5, 1.0]),
            replacement: true,
            ..BalanceQuery::default()
        };
        let balance = judge(&order(&[&[0, 1, 2, 2, 9]]), asked).unwrap();
        assert!(balance.is_by_weight);
        assert_eq!(balance.unknown, 1);
        let names: Vec<_> = balance.classes.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["weight 0.5", "weight 1"]);
        let many: Vec<f64> = (0..100).map(f64::from).collect();
        let asked = BalanceQuery {
            weights: Some(&many),
            replacement: true,
            ..BalanceQuery::default()
        };
        assert_eq!(judge(&order(&[&[0]]), asked), None);
        assert_eq!(judge(&order(&[&[0]]), BalanceQuery::default()), None);
    }
}
