//! What is wrong with an order, or worth knowing: a sentence with a number, and a remedy in PyTorch's words.

use loadscope_trace::RunOptions;

use super::analysis::Answers;
use super::balance::Against;
use super::order::Digest;
use crate::format::{count, percent, plural};

mod sharing;

/// A sentence with a number, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name for scripts.
    pub id: &'static str,
    /// What was found.
    pub says: String,
    /// What to do about it.
    pub remedy: String,
    /// True if it makes training worse than it should be; false if it is merely worth knowing.
    pub is_problem: bool,
    /// Where to look: a position in the order.
    pub position: Option<usize>,
}

/// A worker and the seed that it started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSeed {
    /// The epoch under way when it started.
    pub epoch: u32,
    /// Its id.
    pub worker: u16,
    /// `get_worker_info().seed`
    pub seed: u64,
}

/// What is known besides the order itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// What the loader was asked to do.
    pub options: RunOptions,
    /// True once no index of this epoch can come any more.
    pub is_complete: bool,
    /// The orders of all epochs.
    pub digests: Vec<Digest>,
    /// The seeds of all workers.
    pub seeds: Vec<WorkerSeed>,
    /// What an iterable dataset has yielded: samples, and workers that yielded them.
    pub yielded: Option<(u64, usize)>,
    /// How many samples it says it has.
    pub len: Option<u64>,
}

impl Circumstances {
    fn sampler(&self) -> &str {
        let (kind, _) = self
            .options
            .sampler
            .split_once(':')
            .unwrap_or((&self.options.sampler, ""));
        kind
    }

    fn is_shuffled(&self) -> bool {
        self.options.shuffle || !matches!(self.sampler(), "" | "sequential")
    }

    /// The order is meant to be uniformly random; what a sampler of the program's own means, only the program knows.
    fn is_random(&self) -> bool {
        let kind = self.sampler();
        let plain = matches!(kind, "" | "random") && (self.options.shuffle || kind == "random");
        plain
            || matches!(
                kind,
                "subset"
                    | "weighted"
                    | "distributed"
                    | "SubsetRandomSampler"
                    | "WeightedRandomSampler"
                    | "stream"
            )
            || self.options.dataset.starts_with("stream")
    }

    /// Every index should come exactly once in an epoch.
    fn is_complete_pass(&self) -> bool {
        let o = &self.options;
        self.is_complete
            && matches!(self.sampler(), "" | "sequential" | "random")
            && !o.replacement
            && o.num_samples.is_none()
    }

    fn is_distributed(&self) -> bool {
        matches!(self.sampler(), "distributed" | "equi") || self.options.world_size > 1
    }
}

/// Everything that is worth saying, problems first.
pub fn findings(answers: &Answers, about: &Circumstances) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(named("same_permutation", same_order(about)));
    all.extend(named("colliding_seeds", sharing::same_seeds(about)));
    all.extend(named("missing_indices", missing(answers, about)));
    all.extend(named("duplicates", repeated(answers, about)));
    all.extend(named("indices_outside", outside(answers)));
    all.extend(named("poor_shuffle", order(answers, about)));
    all.extend(named("sorted_classes", mixture(answers, about)));
    all.extend(named("class_balance", balance(answers)));
    all.extend(named("padding", sharing::ranks(answers, about)));
    all.extend(named("duplicates", sharing::streams(answers)));
    all.extend(named("duplicates", sharing::too_many(about)));
    all.sort_by_key(|f| !f.is_problem);
    all
}

fn named(
    id: &'static str,
    found: impl IntoIterator<Item = Finding>,
) -> impl Iterator<Item = Finding> {
    found
        .into_iter()
        .map(move |finding| Finding { id, ..finding })
}

fn problem(says: String, remedy: &str) -> Finding {
    Finding {
        id: "",
        says,
        remedy: remedy.to_owned(),
        is_problem: true,
        position: None,
    }
}

fn note(says: String, remedy: &str) -> Finding {
    Finding {
        is_problem: false,
        ..problem(says, remedy)
    }
}

/// The same permutation in two epochs.
fn same_order(about: &Circumstances) -> Option<Finding> {
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
    let says = format!(
        "Epochs {} have the same order of {}",
        list(&twins),
        plural(first.len, "index", "indices")
    );
    let remedy = if about.is_distributed() {
        "The sampler does not know the epoch: call sampler.set_epoch(epoch) before each one"
    } else {
        "Its generator starts anew in every epoch: seed it once, before the first one, or leave generator out"
    };
    Some(problem(says, remedy))
}

fn list(numbers: &[u32]) -> String {
    const MOST: usize = 4;
    let words: Vec<String> = numbers.iter().take(MOST).map(u32::to_string).collect();
    match (numbers.len(), words.split_last()) {
        (n, _) if n > MOST => format!("{} and {} more", words.join(", "), n - MOST),
        (_, Some((last, before))) if !before.is_empty() => {
            format!("{} and {last}", before.join(", "))
        }
        _ => words.join(""),
    }
}

fn missing(answers: &Answers, about: &Circumstances) -> Option<Finding> {
    let c = &answers.coverage;
    // Samples of a stream have no indices that could be missing.
    if answers.positions == 0 || c.missed() == 0 || !about.is_complete {
        return None;
    }
    let share = c.missed() as f64 / c.bound as f64;
    let (missed, bound) = (count(c.missed()), count(c.bound));
    let o = &about.options;
    if o.replacement && matches!(about.sampler(), "random" | "weighted") {
        let says = format!(
            "{missed} of {bound} indices ({}) do not come in this epoch, because the sampler draws with replacement",
            percent(share)
        );
        return Some(note(
            says,
            "replacement=False visits every index once before any comes again",
        ));
    }
    if !about.is_complete_pass() {
        return None;
    }
    let size = o.batch_size.unwrap_or(1).max(1) as u64;
    if o.drop_last && c.missed() < size && c.missed() == c.bound % size {
        let says = format!(
            "drop_last=True leaves {missed} of {bound} samples ({}) out of this epoch",
            percent(share)
        );
        let remedy = if about.is_shuffled() {
            "With shuffle=True others are left out in the next epoch; drop_last=False gives a last batch that is not full"
        } else {
            "Without shuffle=True these are the same in every epoch and never come; drop_last=False gives a last batch \
             that is not full"
        };
        return Some(match about.is_shuffled() {
            true => note(says, remedy),
            false => problem(says, remedy),
        });
    }
    Some(problem(
        format!(
            "{missed} of {bound} indices ({}) never come",
            percent(share)
        ),
        "The epoch was stopped early, or the sampler leaves them out: check its __iter__ and its num_samples",
    ))
}

fn repeated(answers: &Answers, about: &Circumstances) -> Option<Finding> {
    let c = &answers.coverage;
    let asked = about.options.replacement
        || about.is_distributed()
        || !matches!(about.sampler(), "" | "sequential" | "random")
        || about.options.num_samples.is_some()
        || answers.sharing.is_some();
    if asked || c.more_than_once() == 0 {
        return None;
    }
    let (index, times) = *c.repeated.first()?;
    Some(Finding {
        position: answers.first_repeat,
        ..problem(
            format!(
                "{} more than once, index {} {} times",
                match c.more_than_once() {
                    1 => "1 index comes".to_owned(),
                    n => format!("{} indices come", count(n)),
                },
                count(index),
                count(times)
            ),
            "The sampler draws with replacement or its list holds indices twice: pass replacement=False, or remove the \
             duplicates",
        )
    })
}

fn outside(answers: &Answers) -> Option<Finding> {
    let c = &answers.coverage;
    (c.outside > 0).then(|| {
        problem(
            format!(
                "{} beyond the {} samples of the dataset",
                plural(c.outside, "index lies", "indices lie"),
                count(c.bound)
            ),
            "The sampler was made for another dataset: make it from len(dataset)",
        )
    })
}

fn order(answers: &Answers, about: &Circumstances) -> Option<Finding> {
    let s = answers.shuffle.as_ref()?;
    // A short order is not judged: chance could have made it.
    const FEW: usize = 100;
    const POOR: f64 = 0.8;
    if answers.positions < FEW || s.quality() >= POOR || !about.is_random() {
        return None;
    }
    let says = format!(
        "Neighbours are {:.0} indices apart on average, where a uniformly random order has {:.0}: shuffle quality {}",
        s.mean_gap,
        s.random_gap,
        percent(s.quality())
    );
    Some(problem(
        says,
        "A small shuffle buffer or shuffled blocks mix only neighbours: shuffle=True, or a larger buffer, mixes all of them",
    ))
}

/// Batches of few classes, because the dataset is sorted by class.
fn mixture(answers: &Answers, about: &Circumstances) -> Option<Finding> {
    let (seen, expected) = answers.balance.as_ref()?.mixture?;
    if seen > 0.7 * expected || answers.positions < 50 {
        return None;
    }
    let says = format!(
        "A batch holds {seen:.1} classes on average, where a random order has {expected:.1}"
    );
    let remedy = if about.is_shuffled() {
        "The order follows the classes: check the sampler"
    } else {
        "The dataset is sorted by class and the loader keeps its order: shuffle=True mixes the classes"
    };
    Some(problem(says, remedy))
}

fn balance(answers: &Answers) -> Option<Finding> {
    const UNLIKELY: f64 = 0.001;
    let balance = answers.balance.as_ref()?;
    let test = balance.test.filter(|t| t.p < UNLIKELY)?;
    let class = balance.farthest()?;
    let asked = match balance.against {
        Against::Weights => "the weights ask for",
        _ => "its share of the dataset is",
    };
    let name = if balance.is_by_weight {
        format!("Samples of {}", class.name)
    } else {
        format!("Class {}", class.name)
    };
    Some(problem(
        format!(
            "{name} came {} times where {asked} {:.0} (χ² = {:.1}, p {})",
            count(class.came),
            class.expected.unwrap_or_default(),
            test.statistic,
            p_value(test.p)
        ),
        match balance.against {
            Against::Weights => {
                "Weights are one a sample, in the order of the dataset: check that they belong to this dataset"
            }
            _ => {
                "The sampler prefers some classes: check its indices, or the part of the epoch that was seen"
            }
        },
    ))
}

/// `< 0.001`, `= 0.42`
pub fn p_value(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p => format!("= {p:.3}"),
    }
}
