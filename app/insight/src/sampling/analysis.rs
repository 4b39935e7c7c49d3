//! Analysis of one order.

use std::collections::HashMap;
use std::sync::Arc;

use loadscope_trace::RunOptions;
use loadscope_words::say;

use super::balance::{Balance, BalanceQuery, Labels};
use super::coverage::{Counts, Coverage};
use super::findings::{OrderFacts, WorkerGenerators, WorkerSeed, findings};
use super::order::{Digest, Order};
pub use super::order_analysis::OrderAnalysis;
use super::overlay::Overlay;
use super::predict::{self, EpochOrder, SampleMetadata};
use super::ranks::{Builder, Ranks};
use super::shuffle::Shuffle;
use crate::Datasets;
use crate::background::{Cancelled, Progress};
use crate::sampling::order::Sharing;

/// An order to analyze, with all known facts.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Options of the loader.
    pub options: RunOptions,
    /// Number of the epoch.
    pub epoch: u32,
    /// The recorded order. `None` means that the engine predicts it.
    pub recorded: Option<Arc<Order>>,
    /// Number of samples of the dataset, if known.
    pub len: Option<u64>,
    /// True if the epoch can receive no more indices.
    pub is_complete: bool,
    /// Digests of the run's epochs.
    pub digests: Vec<Digest>,
    /// Latest epochs of the run, for the overlay.
    pub epochs: Overlay,
    /// Seeds of the run's workers.
    pub seeds: Vec<WorkerSeed>,
    /// Other random generators of the run's workers.
    pub generators: Vec<WorkerGenerators>,
    /// Numbers of yielded samples and of workers that yielded them, for an iterable dataset.
    pub yielded: Option<(u64, usize)>,
    /// Classes of samples, from the contents of batches.
    pub labels: HashMap<u64, u32>,
    /// Names of classes.
    pub names: Vec<String>,
    /// True if `options.dataset` names a dataset that the engine knows.
    pub is_known: bool,
    /// True if the embedded loader yields the order, so the seeds of all ranks can be computed.
    pub is_of_engine: bool,
    /// Catalog of datasets.
    pub datasets: Datasets,
}

/// Reason why there is no answer.
pub type Refusal = String;

/// Analyzes an order. Ten million indices take about a second.
///
/// # Errors
/// If the result is no longer needed. The inner error is the engine's error message.
pub fn answer(
    question: &Question,
    progress: &Progress,
) -> Result<Result<OrderAnalysis, Refusal>, Cancelled> {
    let mut about = OrderFacts {
        options: question.options.clone(),
        is_complete: question.is_complete,
        digests: question.digests.clone(),
        seeds: question.seeds.clone(),
        generators: question.generators.clone(),
        yielded: question.yielded,
        len: question.len,
    };
    if question.recorded.is_none() && !question.is_known {
        let refusal = say!(
            "No order can be predicted: the dataset size is not recorded, or the dataset is iterable-style"
        );
        return Ok(Err(refusal.to_owned()));
    }
    let mut agrees = None;
    let mut epochs = question.epochs.clone();
    let order = match &question.recorded {
        Some(order) => Arc::clone(order),
        None => match predicted(question, (&mut about, &mut epochs), progress)? {
            Ok((order, same)) => {
                agrees = same;
                Arc::new(order)
            }
            Err(refusal) => return Ok(Err(refusal)),
        },
    };
    let len = match question.len {
        None if question.is_known => predict::len(&question.options, question.datasets),
        len => len,
    };
    let counts = Counts::of(&order.indices, len, progress)?;
    let coverage = counts.coverage();
    let shuffle = Shuffle::of(&order.indices, &counts, progress)?;
    let known = match question.is_known {
        // The window has already shown errors of the dataset when it loaded the dataset.
        true => predict::known(&question.options, question.datasets).unwrap_or_default(),
        false => SampleMetadata::default(),
    };
    progress.report(0.8)?;
    let labels = labels(question, &known).map(Arc::new);
    let balance = balance(question, &order, (&known, labels.as_deref()), progress)?;
    let (ranks, by_rank) = match ranks(question, coverage.bound, progress)? {
        Ok(Some((ranks, by_rank))) => (Some(ranks), by_rank),
        Ok(None) => (None, Overlay::default()),
        Err(refusal) => return Ok(Err(refusal)),
    };
    let is_stream = question.options.is_stream();
    let mut answers = OrderAnalysis {
        positions: order.indices.len(),
        sharing: (is_stream && question.is_known).then(|| Sharing::of(&order)),
        first_repeat: first_repeat(&order, &coverage),
        order,
        coverage,
        shuffle,
        balance,
        labels,
        ranks,
        by_rank,
        epochs,
        rank: question.options.rank,
        findings: Vec::new(),
        is_unseeded: question.recorded.is_none() && is_unseeded(&question.options),
        agrees,
    };
    answers.findings = findings(&answers, &about);
    progress.report(1.0)?;
    Ok(Ok(answers))
}

/// Order of a future epoch, and whether the engine's predictions match the recorded epochs.
type Predicted = (Order, Option<bool>);

fn predicted(
    question: &Question,
    (about, epochs): (&mut OrderFacts, &mut Overlay),
    progress: &Progress,
) -> Result<Result<Predicted, Refusal>, Cancelled> {
    let mut order = Order::default();
    let mut wanted = Ok(());
    let mut agrees = None;
    let seeds = &mut about.seeds;
    let digests = &mut about.digests;
    let mut each = |epoch: EpochOrder| {
        wanted = progress.report(0.0);
        let number = epoch.epoch;
        let workers = epoch.seeds.iter().enumerate();
        let new: Vec<WorkerSeed> = workers
            .map(|(worker, seed)| WorkerSeed {
                epoch: number,
                worker: worker as u16,
                seed: *seed,
            })
            .collect();
        let predicted = into_order(epoch);
        match digests.iter().find(|d| d.epoch == number) {
            // An epoch that was stopped early is not compared.
            Some(came) if came.len == predicted.indices.len() as u64 => {
                let same = came.is_same_order(&Digest::of(&predicted));
                agrees = Some(agrees.unwrap_or(true) && same);
            }
            Some(_) => {}
            None => {
                digests.push(Digest::of(&predicted));
                epochs.take(number, &predicted.indices);
                // Persistent workers start only once.
                if !question.options.persistent_workers || number == 0 {
                    seeds.extend(new);
                }
            }
        }
        if number == question.epoch {
            order = predicted;
        }
        wanted.is_ok()
    };
    let told = predict::epochs(
        &question.options,
        question.epoch,
        question.datasets,
        &mut each,
    );
    wanted?;
    Ok(told.map(|()| (order, agrees)).map_err(|e| e.to_string()))
}

fn into_order(epoch: EpochOrder) -> Order {
    let worker = |w: i64| u16::try_from(w).ok();
    Order {
        epoch: epoch.epoch,
        indices: epoch.indices,
        ends: epoch.ends,
        rows: Vec::new(),
        workers: epoch.workers.into_iter().map(worker).collect(),
    }
}

fn labels(question: &Question, known: &SampleMetadata) -> Option<Labels> {
    match &known.labels {
        Some(labels) => Some(Labels::All(labels.clone())),
        None if question.labels.is_empty() => None,
        None => Some(Labels::Some(question.labels.clone())),
    }
}

fn balance(
    question: &Question,
    order: &Order,
    (known, labels): (&SampleMetadata, Option<&Labels>),
    progress: &Progress,
) -> Result<Option<Balance>, Cancelled> {
    let names = if known.classes.is_empty() {
        &question.names
    } else {
        &known.classes
    };
    let asked = BalanceQuery {
        labels,
        names,
        weights: known.weights.as_deref(),
        replacement: question.options.replacement,
    };
    Balance::of(order, asked, progress)
}

fn ranks(
    question: &Question,
    bound: u64,
    progress: &Progress,
) -> Result<Result<Option<(Ranks, Overlay)>, Refusal>, Cancelled> {
    let o = &question.options;
    if o.world_size < 2 || !question.is_known {
        return Ok(Ok(None));
    }
    let Some(mut builder) = Builder::new(bound) else {
        return Ok(Ok(None));
    };
    let mut wanted = Ok(());
    let mut by_rank = Overlay::default();
    let mut each = |rank: u32, order: EpochOrder| {
        wanted = progress.report(0.8 + 0.2 * f64::from(rank) / f64::from(o.world_size));
        // The seeds of a Python program's other ranks are unknown.
        let seeds: &[u64] = if question.is_of_engine {
            &order.seeds
        } else {
            &[]
        };
        builder.add(rank, &order.indices, seeds);
        // The first ranks are shown, independent of the number of ranks.
        by_rank.take_first(rank, &order.indices);
        wanted.is_ok()
    };
    let told = predict::ranks(o, question.epoch, question.datasets, &mut each);
    wanted?;
    let draws = (o.sampler.starts_with("weighted")).then_some(o.num_samples.unwrap_or(bound));
    Ok(told
        .map(|()| Some((builder.finish(draws), by_rank)))
        .map_err(|e| e.to_string()))
}

fn first_repeat(order: &Order, coverage: &Coverage) -> Option<usize> {
    let (index, _) = coverage.repeated.first()?;
    let mut places = order
        .indices
        .iter()
        .enumerate()
        .filter(|(_, i)| *i == index);
    places.nth(1).map(|(position, _)| position)
}

/// Returns true if no seed determines the order.
pub fn is_unseeded(o: &RunOptions) -> bool {
    let draws = o.shuffle
        || ["random", "subset", "weighted"]
            .iter()
            .any(|kind| o.sampler.starts_with(kind));
    let seeds_itself = o.world_size > 1;
    draws && !seeds_itself && o.seed.is_none() && o.global_seed.is_none()
}

#[cfg(test)]
mod tests;
