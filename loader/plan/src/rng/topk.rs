//! Largest of many scores, in the order of `torch.topk`.

mod stl;

use std::cmp::Reverse;

use super::generator::reserve;
use crate::error::LoaderError;

/// Returns a key that sorts like PyTorch: NaN is the largest. Scores must not be negative.
fn key(score: f64) -> u64 {
    if score.is_nan() {
        u64::MAX
    } else {
        score.to_bits()
    }
}

/// Returns the position of the largest score. Ties go to the first one.
pub(super) fn argmax(scores: impl Iterator<Item = f64>) -> Option<usize> {
    let scores = scores
        .enumerate()
        .map(|(i, score)| (key(score), Reverse(i)));
    scores.max().map(|(_, Reverse(i))| i)
}

/// Returns the positions of the `k` largest of `count` scores in descending order, `1 < k <= count`.
///
/// Equal scores are in the order in which PyTorch's sorting algorithms leave them. Ties mostly occur when categories of
/// weight 0 are drawn because the others do not suffice.
pub(super) fn top_k<T: Copy + Ord>(
    scores: impl Iterator<Item = f64>,
    count: usize,
    k: usize,
    number: impl Fn(usize) -> T,
) -> Result<Vec<T>, LoaderError> {
    let mut queue: Vec<(u64, T)> = reserve(count)?;
    queue.extend(scores.enumerate().map(|(i, score)| (key(score), number(i))));
    let mut sorted = reserve(count)?;
    sorted.extend_from_slice(&queue);
    // Without ties there is only one order, which a faster algorithm also finds. Comparing only the keys is faster still.
    if k < count {
        sorted.select_nth_unstable_by_key(k - 1, |item| Reverse(item.0));
        sorted.truncate(k);
    }
    sorted.sort_unstable_by_key(|item| Reverse(item.0));
    let has_ties = sorted.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let least = sorted.last().map(|item| item.0);
    let ties_with_rest = || queue.iter().filter(|item| Some(item.0) == least).count() > 1;
    if !has_ties && !ties_with_rest() {
        return Ok(sorted.into_iter().map(|item| item.1).collect());
    }
    drop(sorted);
    if k.saturating_mul(64) <= queue.len() {
        stl::partial_sort(&mut queue, k);
    } else {
        stl::nth_element(&mut queue, k - 1);
        stl::sort(&mut queue[..k - 1]);
    }
    queue.truncate(k);
    Ok(queue.into_iter().map(|item| item.1).collect())
}

/// Like [`top_k`] for any number of scores, with memory for at most `3 k` of them. Equal scores are in the order of their positions.
pub(super) fn top_k_of_many<T: Copy + Ord>(
    scores: impl Iterator<Item = f64>,
    count: usize,
    k: usize,
    number: impl Fn(usize) -> T,
) -> Result<Vec<T>, LoaderError> {
    let room = k.saturating_mul(3).min(count);
    let mut best: Vec<(u64, T)> = reserve(room)?;
    let mut bound = 0;
    for (i, score) in scores.enumerate() {
        let key = key(score);
        if best.len() >= k && key < bound {
            continue;
        }
        if best.len() >= room {
            select(&mut best, k);
            bound = best.iter().map(|item| item.0).min().unwrap_or_default();
        }
        best.push((key, number(i)));
    }
    select(&mut best, k);
    best.sort_unstable_by_key(|item| (Reverse(item.0), item.1));
    Ok(best.into_iter().map(|item| item.1).collect())
}

/// Keeps the `k` largest items.
fn select<T: Copy + Ord>(items: &mut Vec<(u64, T)>, k: usize) {
    if (1..items.len()).contains(&k) {
        items.select_nth_unstable_by_key(k - 1, |item| (Reverse(item.0), item.1));
    }
    items.truncate(k);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn both_top_k_algorithms_return_equal_scores(scores in prop::collection::vec(0u8..200, 2..400), k in 2usize..400) {
            let k = k.min(scores.len());
            let floats = || scores.iter().map(|&s| f64::from(s));
            let few = top_k(floats(), scores.len(), k, |i| i).unwrap();
            let many = top_k_of_many(floats(), scores.len(), k, |i| i).unwrap();
            let of = |items: &[usize]| items.iter().map(|&i| scores[i]).collect::<Vec<_>>();
            prop_assert_eq!(of(&few), of(&many));
            let mut all = scores.clone();
            all.sort_unstable_by_key(|&s| Reverse(s));
            prop_assert_eq!(of(&few), &all[..k]);
            prop_assert_eq!(argmax(floats()), many.first().copied());
        }
    }
}
