//! Random splits of a dataset.

use std::sync::Arc;

use super::{Dataset, Subset, wrap};
use crate::error::LoaderError;
use crate::rng::Generator;

/// Length of a subset of [`random_split`]: a Python `int` or a `float`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SplitLength {
    /// Number of samples.
    Count(i64),
    /// Fraction of all samples, 0..=1.
    Fraction(f64),
}

impl SplitLength {
    fn number(self) -> f64 {
        match self {
            Self::Count(count) => count as f64,
            Self::Fraction(fraction) => fraction,
        }
    }
}

impl From<i64> for SplitLength {
    fn from(count: i64) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for SplitLength {
    fn from(fraction: f64) -> Self {
        Self::Fraction(fraction)
    }
}

/// Result of [`random_split`].
pub struct Split<D: ?Sized> {
    /// Subsets, in the order of the lengths.
    pub subsets: Vec<Subset<D>>,
    /// PyTorch's warnings (`UserWarning`) about subsets without samples.
    pub warnings: Vec<String>,
}

/// PyTorch's `random_split`: splits a dataset at random with one `randperm` of `generator`.
///
/// Lengths that add up to 1 are fractions, even if they are ints: `[1]` is all samples. Samples left over from rounding
/// down are distributed to the subsets in turn. Negative lengths are accepted. As in Python, subsets then overlap.
///
/// # Errors
/// ValueError if the lengths do not add up to the length of the dataset or a fraction is not in 0..=1. TypeError for
/// numbers of samples that are not whole. Nothing is drawn in case of an error.
pub fn random_split<D: Dataset + ?Sized>(
    dataset: Arc<D>,
    lengths: &[SplitLength],
    generator: &mut Generator,
) -> Result<Split<D>, LoaderError> {
    let n = dataset.len();
    let mut warnings = Vec::new();
    let total = sum(lengths);
    let lengths = if is_close_to_one(total.number()) && total.number() <= 1.0 {
        let counts = counts_of(lengths, n)?;
        for (i, _) in counts.iter().enumerate().filter(|(_, count)| **count == 0) {
            warnings.push(format!(
                "Length of split at index {i} is 0. This might result in an empty dataset."
            ));
        }
        counts
    } else {
        whole(lengths, total, n)?
    };
    if lengths.iter().map(|&l| i128::from(l)).sum::<i128>() != n as i128 {
        return Err(wrong_sum());
    }
    let order = generator.randperm(n)?;
    let mut end = 0i64;
    let cut = lengths.iter().map(|&length| {
        end = end.saturating_add(length);
        let range = python_slice(end.saturating_sub(length), end, n);
        let indices = range.filter_map(|i| order.get(i)).map(|i| i as i64);
        Subset::new(Arc::clone(&dataset), indices.collect::<Vec<_>>())
    });
    Ok(Split {
        subsets: cut.collect(),
        warnings,
    })
}

fn wrong_sum() -> LoaderError {
    LoaderError::value_error("Sum of input lengths does not equal the length of the input dataset!")
}

/// Python's `sum` since CPython 3.12: exact for ints, and with compensated (Neumaier) summation for floats.
///
/// Parts like `[1/13, 6/13, 3/13, 3/13]` add up to 1 only with the compensation. Older interpreters refuse them.
fn sum(lengths: &[SplitLength]) -> SplitLength {
    let (mut total, mut lost, mut compensates) = (SplitLength::Count(0), 0.0, false);
    for &length in lengths {
        total = match (total, length) {
            (SplitLength::Count(a), SplitLength::Count(b)) => match a.checked_add(b) {
                Some(exact) => SplitLength::Count(exact),
                None => SplitLength::Fraction(a as f64 + b as f64),
            },
            (SplitLength::Fraction(sum), SplitLength::Fraction(x)) if compensates => {
                let more = sum + x;
                lost += match sum.abs() >= x.abs() {
                    true => (sum - more) + x,
                    false => (x - more) + sum,
                };
                SplitLength::Fraction(more)
            }
            // The first float is added to the preceding ints without compensation.
            (sum, length) => SplitLength::Fraction(sum.number() + length.number()),
        };
        compensates |= matches!(length, SplitLength::Fraction(_));
    }
    match total {
        SplitLength::Fraction(sum) if lost.is_finite() => SplitLength::Fraction(sum + lost),
        _ => total,
    }
}

/// Returns `math.isclose(x, 1)`.
fn is_close_to_one(x: f64) -> bool {
    x.is_finite() && (x - 1.0).abs() <= 1e-9 * x.abs().max(1.0)
}

/// Converts fractions to numbers of samples.
fn counts_of(fractions: &[SplitLength], n: usize) -> Result<Vec<i64>, LoaderError> {
    let mut counts = Vec::with_capacity(fractions.len());
    for (i, fraction) in fractions.iter().enumerate() {
        let fraction = fraction.number();
        if !(0.0..=1.0).contains(&fraction) {
            return Err(LoaderError::value_error(format!(
                "Fraction at index {i} is not between 0 and 1"
            )));
        }
        counts.push((n as f64 * fraction).floor() as i64);
    }
    let left = n as i128 - counts.iter().map(|&c| i128::from(c)).sum::<i128>();
    let parts = counts.len() as i128;
    if left > 0 && parts > 0 {
        for (i, count) in counts.iter_mut().enumerate() {
            let more = left / parts + i128::from((i as i128) < left % parts);
            *count = count.saturating_add(more as i64);
        }
    }
    Ok(counts)
}

/// Returns the lengths as whole numbers.
fn whole(lengths: &[SplitLength], total: SplitLength, n: usize) -> Result<Vec<i64>, LoaderError> {
    let counts: Option<Vec<i64>> = lengths
        .iter()
        .map(|length| match length {
            SplitLength::Count(count) => Some(*count),
            SplitLength::Fraction(_) => None,
        })
        .collect();
    match counts {
        Some(counts) => Ok(counts),
        // PyTorch compares the sum first. Then `randperm` refuses a float.
        None if total.number() == n as f64 => Err(LoaderError::type_error(
            "randperm() received an invalid combination of arguments - got (float, generator=torch._C.Generator)",
        )),
        None => Err(wrong_sum()),
    }
}

/// Returns the positions of `list[start:stop]` in a list of `len` elements.
fn python_slice(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let position = |index: i64| match usize::try_from(index) {
        Ok(index) => index.min(len),
        Err(_) => wrap(index, len).unwrap_or(0),
    };
    position(start)..position(stop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::ListDataset;
    use proptest::prelude::*;

    fn list(n: usize) -> Arc<ListDataset<usize>> {
        Arc::new((0..n).collect())
    }

    fn split(n: usize, lengths: &[SplitLength]) -> Result<Split<ListDataset<usize>>, LoaderError> {
        random_split(list(n), lengths, &mut Generator::new(0))
    }

    fn indices(n: usize, lengths: &[SplitLength]) -> Vec<Vec<i64>> {
        let split = split(n, lengths).unwrap();
        split.subsets.iter().map(|s| s.indices().to_vec()).collect()
    }

    proptest! {
        #[test]
        fn split_parts_contain_every_sample_once(sizes in prop::collection::vec(0i64..20, 1..6)) {
            let n = sizes.iter().sum::<i64>() as usize;
            let lengths: Vec<SplitLength> = sizes.iter().map(|&s| s.into()).collect();
            let parts = indices(n, &lengths);
            if n != 1 {
                prop_assert!(parts.iter().map(|p| p.len() as i64).eq(sizes));
            }
            let mut all = parts.concat();
            all.sort_unstable();
            prop_assert!(all.into_iter().eq(0..n as i64));
        }

        #[test]
        fn any_split_lengths_do_not_panic(
            n in 0usize..20,
            lengths in prop::collection::vec(prop_oneof![
                any::<i64>().prop_map(SplitLength::Count), (-5i64..25).prop_map(SplitLength::Count),
                any::<f64>().prop_map(SplitLength::Fraction), (0.0..1.0).prop_map(SplitLength::Fraction)], 0..4),
        ) {
            let _ = split(n, &lengths).map(|s| s.subsets.len());
        }
    }

    #[test]
    fn unusual_split_lengths_match_pytorch() {
        use SplitLength::{Count, Fraction};
        let all = vec![4, 1, 7, 5, 3, 9, 0, 8, 6, 2];
        assert_eq!(indices(10, &[Count(1)]), std::slice::from_ref(&all));
        assert_eq!(
            indices(10, &[Fraction(0.9999999999)]),
            std::slice::from_ref(&all)
        );
        assert_eq!(indices(10, &[Count(11), Count(-1)]), [all, vec![]]);
        assert_eq!(
            indices(3, &[Count(-1), Count(-1), Count(5)]),
            [vec![2, 0], vec![], vec![0, 1]]
        );
        // Plain addition gives slightly more than 1. Expected values are from PyTorch 2.13 with Python 3.12. Python 3.11 refuses it.
        let thirteenths = [1.0, 6.0, 3.0, 3.0].map(|n| Fraction(n / 13.0));
        let parts = [
            vec![3],
            vec![4, 0, 2, 11, 8, 12],
            vec![5, 10, 6],
            vec![9, 1, 7],
        ];
        assert_eq!(indices(13, &thirteenths), parts);
        let warned = split(1, &[Count(1), Count(0)]).unwrap().warnings;
        assert!(warned[0].starts_with("Length of split at index 1 is 0"));
        assert!(split(0, &[Count(0)]).unwrap().warnings.is_empty());
        let kind = |n, lengths: &[SplitLength]| {
            let error = split(n, lengths).err().unwrap();
            error.exception_kind().as_str().to_owned()
        };
        assert_eq!(kind(10, &[Fraction(3.0), Fraction(7.0)]), "TypeError");
        assert_eq!(kind(10, &[Fraction(f64::NAN)]), "ValueError");
        assert_eq!(kind(10, &[Fraction(1.0 + f64::EPSILON)]), "ValueError");
        assert_eq!(kind(1, &[Count(2), Count(-1)]), "ValueError");
    }
}
