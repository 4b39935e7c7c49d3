//! Findings about an order, each with a number and a remedy in PyTorch's terms.

use super::balance::Reference;
pub use super::finding::Finding;
use super::finding::{FindingDraft, list, note, problem};
use super::order::Digest;
use super::order_analysis::OrderAnalysis;
pub use super::order_analysis::{OrderFacts, WorkerGenerators, WorkerSeed};
use super::shuffle::Shuffle;
use crate::format::{count, percent, plural};
use loadscope_diagnose::FindingId;
use loadscope_words::say;

mod sharing;

/// Returns all findings, problems first.
pub fn findings(answers: &OrderAnalysis, about: &OrderFacts) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(named(FindingId::SamePermutation, same_order(about)));
    all.extend(named(FindingId::CollidingSeeds, sharing::same_seeds(about)));
    all.extend(named(
        FindingId::CollidingSeeds,
        sharing::same_generators(about),
    ));
    all.extend(named(FindingId::MissingIndices, missing(answers, about)));
    all.extend(named(FindingId::Duplicates, repeated(answers, about)));
    all.extend(named(FindingId::IndicesOutside, outside(answers)));
    all.extend(named(FindingId::PoorShuffle, order(answers, about)));
    all.extend(named(FindingId::SortedClasses, mixture(answers, about)));
    all.extend(named(FindingId::ClassBalance, balance(answers)));
    all.extend(named(FindingId::Padding, sharing::ranks(answers, about)));
    all.extend(named(FindingId::Duplicates, sharing::streams(answers)));
    all.extend(named(FindingId::Duplicates, sharing::too_many(about)));
    all.sort_by_key(|f| !f.is_problem);
    all
}

fn named(
    id: FindingId,
    found: impl IntoIterator<Item = FindingDraft>,
) -> impl Iterator<Item = Finding> {
    found.into_iter().map(move |found| found.named(id))
}

/// Finds equal permutations in two epochs.
fn same_order(about: &OrderFacts) -> Option<FindingDraft> {
    let whole = |d: &&Digest| d.len > 2 && !d.is_ascending;
    let digests: Vec<&Digest> = about.digests.iter().filter(whole).collect();
    let (first, twins) = digests.iter().find_map(|first| {
        let twins: Vec<u32> = digests
            .iter()
            .filter(|d| d.is_same_order(first))
            .map(|d| d.epoch)
            .collect();
        (twins.len() > 1).then_some((first, twins))
    })?;
    let says = say!(
        "Epochs {} have the same order of {}",
        list(&twins),
        plural(first.len, say!(n: "index"), say!(n: "indices"))
    );
    let remedy = if about.is_distributed() {
        say!("Call sampler.set_epoch(epoch) before each epoch")
    } else {
        say!(
            "Seed the generator once before the first epoch, or omit it. The program seeds it again in every epoch."
        )
    };
    Some(problem(says, remedy))
}

fn missing(answers: &OrderAnalysis, about: &OrderFacts) -> Option<FindingDraft> {
    let c = &answers.coverage;
    // Samples of a stream have no indices.
    if answers.positions == 0 || c.missed() == 0 || !about.is_complete {
        return None;
    }
    let share = c.missed() as f64 / c.bound as f64;
    let (missed, bound) = (count(c.missed()), count(c.bound));
    let o = &about.options;
    if o.replacement && matches!(about.sampler(), "random" | "weighted") {
        // With several ranks, this rank receives a part of the draws.
        let whose = match o.world_size {
            0 | 1 => say!("in this epoch").to_owned(),
            several => say!("for rank {} of {several} in this epoch", o.rank),
        };
        let why = match o.world_size {
            0 | 1 => say!("because the sampler draws with replacement"),
            _ => {
                say!(
                    "because the sampler draws with replacement and splits the indices among ranks"
                )
            }
        };
        let says = say!(
            "{missed} of {bound} indices ({}) are not drawn {whose}, {why}",
            percent(share)
        );
        let remedy = match about.sampler() {
            // Without replacement, each index would occur once and the weights would have no effect.
            "weighted" => say!("This is expected: samples with a small weight are drawn rarely"),
            _ => say!("To draw every index once before any repeats, use replacement=False"),
        };
        return Some(note(says, remedy));
    }
    if !about.is_complete_pass() {
        return None;
    }
    let size = o.batch_size.unwrap_or(1).max(1) as u64;
    if o.drop_last && c.missed() < size && c.missed() == c.bound % size {
        let says = say!(
            "drop_last=True drops {missed} of {bound} samples ({}) in this epoch",
            percent(share)
        );
        let remedy = if about.options.is_shuffled() {
            say!(
                "Use drop_last=False to get the last, incomplete batch. With shuffle=True, each epoch drops other samples."
            )
        } else {
            say!(
                "Use drop_last=False to get the last, incomplete batch. Without shuffle=True, every epoch drops the same samples."
            )
        };
        return Some(match about.options.is_shuffled() {
            true => note(says, remedy),
            false => problem(says, remedy),
        });
    }
    Some(problem(
        say!(
            "{missed} of {bound} indices ({}) never come",
            percent(share)
        ),
        say!("If the epoch was not stopped early, check __iter__ and num_samples of the sampler"),
    ))
}

fn repeated(answers: &OrderAnalysis, about: &OrderFacts) -> Option<FindingDraft> {
    let c = &answers.coverage;
    let asked = about.options.replacement
        || about.is_distributed()
        || !matches!(about.sampler(), "" | "sequential" | "random")
        || about.options.num_samples.is_some()
        || answers.sharing.is_some();
    if asked || c.more_than_once() == 0 {
        return None;
    }
    if let Some(passes) = passes(answers) {
        return Some(note(
            say!(
                "This epoch goes through all {} samples {passes} times, one pass after the other",
                count(c.bound)
            ),
            say!(
                "Ignore this if the loader repeats its sampler to keep its workers. Each pass is then one epoch of the program."
            ),
        ));
    }
    let (index, times) = *c.repeated.first()?;
    Some(FindingDraft {
        position: answers.first_repeat,
        ..problem(
            say!(
                "{} more than once (index {}: {} times)",
                match c.more_than_once() {
                    1 => say!("1 index comes").to_owned(),
                    n => say!("{} indices come", count(n)),
                },
                count(index),
                count(times)
            ),
            say!("Pass replacement=False, or remove duplicates from the sampler's list"),
        )
    })
}

/// Returns the number of passes over the whole dataset, including an incomplete last one. Returns `None` if the order is not a sequence of
/// passes.
fn passes(answers: &OrderAnalysis) -> Option<u64> {
    let c = &answers.coverage;
    let bound = usize::try_from(c.bound).ok().filter(|bound| *bound > 0)?;
    let most = c.total.div_ceil(c.bound);
    if most < 2 || c.outside > 0 || c.missed() > 0 {
        return None;
    }
    // Last pass in which each index occurred.
    let mut last = vec![0u64; bound];
    for (pass, indices) in (1..).zip(answers.order.indices.chunks(bound)) {
        for index in indices {
            let seen = last.get_mut(usize::try_from(*index).ok()?)?;
            if std::mem::replace(seen, pass) == pass {
                return None;
            }
        }
    }
    Some(most)
}

fn outside(answers: &OrderAnalysis) -> Option<FindingDraft> {
    let c = &answers.coverage;
    (c.outside > 0).then(|| {
        problem(
            say!(
                "{} outside the {} samples of the dataset",
                plural(c.outside, say!(n: "index is"), say!(n: "indices are")),
                count(c.bound)
            ),
            say!("Create the sampler from len(dataset): it was created for another dataset"),
        )
    })
}

fn order(answers: &OrderAnalysis, about: &OrderFacts) -> Option<FindingDraft> {
    let s = answers.shuffle.as_ref()?;
    const POOR: f64 = 0.8;
    if answers.positions < Shuffle::FEWEST || s.quality() >= POOR || !about.is_random() {
        return None;
    }
    let says = say!(
        "Neighbors are {:.0} indices apart on average, compared with {:.0} in a random order: shuffle quality {}",
        s.mean_gap,
        s.random_gap,
        percent(s.quality())
    );
    Some(problem(
        says,
        say!(
            "Use shuffle=True or a larger shuffle buffer: a small buffer or shuffled blocks mix only neighbors"
        ),
    ))
}

/// Finds batches with few classes, caused by a dataset sorted by class.
fn mixture(answers: &OrderAnalysis, about: &OrderFacts) -> Option<FindingDraft> {
    let (seen, expected) = answers.balance.as_ref()?.mixture?;
    if seen > 0.7 * expected || answers.positions < 50 {
        return None;
    }
    let says = say!(
        "A batch has {seen:.1} classes on average, compared with {expected:.1} in a random order"
    );
    let remedy = if about.options.is_shuffled() {
        say!("Check the sampler: its order follows the classes")
    } else {
        say!("Use shuffle=True: the dataset is sorted by class, and the loader keeps its order")
    };
    Some(problem(says, remedy))
}

fn balance(answers: &OrderAnalysis) -> Option<FindingDraft> {
    const UNLIKELY: f64 = 0.001;
    let balance = answers.balance.as_ref()?;
    let test = balance.test.filter(|t| t.p < UNLIKELY)?;
    let class = balance.farthest()?;
    let asked = match balance.against {
        Reference::Weights => say!("the weights ask for"),
        _ => say!("its share of the dataset is"),
    };
    let name = if balance.is_by_weight {
        say!("Samples of {}", class.name)
    } else {
        say!("Class {}", class.name)
    };
    Some(problem(
        say!(
            "{name} was drawn {} times, but {asked} {:.0} (χ² = {:.1}, p {})",
            count(class.drawn),
            class.expected.unwrap_or_default(),
            test.statistic,
            p_value(test.p)
        ),
        match balance.against {
            Reference::Weights => {
                say!(
                    "Check that the weights belong to this dataset: one per sample, in the dataset's order"
                )
            }
            _ => {
                say!(
                    "Check the indices of the sampler: it prefers some classes, unless only part of the epoch was recorded"
                )
            }
        },
    ))
}

/// Returns `< 0.001` or `= 0.42`.
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => format!("= {p:.3}"),
    }
}
