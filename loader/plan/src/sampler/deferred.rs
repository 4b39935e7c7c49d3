//! Batches of an epoch that are all drawn at once.

use super::BatchIter;
use super::distributed::Rank;
use crate::error::LoaderError;
use crate::rng::Generator;

/// Returns `items` in random order.
pub(super) fn shuffled<T: Clone>(
    items: &[T],
    generator: &mut Generator,
) -> Result<Vec<T>, LoaderError> {
    let order = generator.randperm(items.len())?;
    Ok(order
        .iter()
        .filter_map(|at| items.get(at).cloned())
        .collect())
}

/// Returns the share of a rank. All batches are drawn when the first one is requested.
pub(super) fn deferred_batches(
    rank: Rank,
    draw: impl FnOnce() -> Result<Vec<Vec<usize>>, LoaderError> + Send + 'static,
) -> BatchIter {
    let mut draw = Some(draw);
    let mut batches = Vec::new().into_iter();
    Box::new(std::iter::from_fn(move || {
        if let Some(draw) = draw.take() {
            match draw() {
                Ok(drawn) => batches = drawn.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
        let batch: Vec<usize> = batches.next()?;
        let mine = batch.into_iter().skip(rank.rank).step_by(rank.num_replicas);
        Some(Ok(mine.collect()))
    }))
}
