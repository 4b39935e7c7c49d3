//! Concatenation of datasets, also by `+`.

use std::ops::Add;
use std::sync::Arc;

use super::{AnyDataset, Dataset, SampleClock, SampleError, SampleStream};
use crate::dataset::IterableDataset;
use crate::error::{ExceptionKind, LoaderError};

/// PyTorch's `ConcatDataset`: the samples of the first member, then those of the second, and so on.
pub struct ConcatDataset<S> {
    members: Vec<Arc<dyn Dataset<Sample = S>>>,
    cumulative_sizes: Vec<usize>,
    notes: Vec<String>,
}

impl<S: Send + 'static> ConcatDataset<S> {
    /// Concatenates datasets in this order. Their types may differ, but not the types of their samples.
    ///
    /// # Errors
    /// AssertionError if there are none or one is iterable-style.
    pub fn new<D: Into<AnyDataset<S>>>(
        datasets: impl IntoIterator<Item = D>,
    ) -> Result<Self, LoaderError> {
        let members = datasets
            .into_iter()
            .map(|dataset| match dataset.into() {
                AnyDataset::Map(dataset) => Ok(dataset),
                AnyDataset::Iterable(_) => {
                    Err(assertion("ConcatDataset does not support IterableDataset"))
                }
            })
            .collect::<Result<Vec<_>, _>>()?;
        if members.is_empty() {
            return Err(assertion("datasets should not be an empty iterable"));
        }
        let sizes = members.iter().scan(0usize, |end, member| {
            *end = end.saturating_add(member.len());
            Some(*end)
        });
        Ok(Self {
            cumulative_sizes: sizes.collect(),
            notes: members.iter().flat_map(|m| m.notes()).cloned().collect(),
            members,
        })
    }

    /// Returns the number of samples up to the end of each member.
    pub fn cumulative_sizes(&self) -> &[usize] {
        &self.cumulative_sizes
    }

    /// Returns the member that contains sample `index`, and the index in this member. Empty members are never found.
    fn find(&self, index: usize) -> Option<(&Arc<dyn Dataset<Sample = S>>, usize)> {
        let at = self.cumulative_sizes.partition_point(|&end| end <= index);
        let begin = match at.checked_sub(1) {
            Some(before) => *self.cumulative_sizes.get(before)?,
            None => 0,
        };
        Some((self.members.get(at)?, index - begin))
    }
}

impl<S: Send + 'static> Dataset for ConcatDataset<S> {
    type Sample = S;

    fn len(&self) -> usize {
        self.cumulative_sizes.last().copied().unwrap_or(0)
    }

    fn get(&self, index: usize, clock: &mut SampleClock) -> Result<S, SampleError> {
        match self.find(index) {
            Some((member, index)) => member.get(index, clock),
            None => Err(SampleError::new("IndexError", "list index out of range")),
        }
    }

    /// Returns a sample. PyTorch raises a ValueError below `-len`, not an IndexError.
    fn get_at(&self, index: i64, clock: &mut SampleClock) -> Result<S, SampleError> {
        match super::wrap(index, self.len()) {
            Some(index) => self.get(index, clock),
            None => Err(SampleError::new(
                "ValueError",
                "absolute value of index should not exceed dataset length",
            )),
        }
    }

    /// Returns the class names of the first member that has any.
    fn classes(&self) -> &[String] {
        let mut classes = self.members.iter().map(|m| m.classes());
        classes.find(|c| !c.is_empty()).unwrap_or_default()
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// PyTorch's `ChainDataset`: one stream after another.
pub struct ChainDataset<S> {
    members: Arc<[AnyDataset<S>]>,
}

const ONLY_ITERABLE: &str = "ChainDataset only supports IterableDataset";

impl<S: Send + 'static> ChainDataset<S> {
    /// Chains datasets in this order. As in PyTorch, a map-style member is an error only when the stream reaches it.
    pub fn new<D: Into<AnyDataset<S>>>(datasets: impl IntoIterator<Item = D>) -> Self {
        Self {
            members: datasets.into_iter().map(Into::into).collect(),
        }
    }

    /// Returns `len(dataset)`, the sum of the members' lengths in samples.
    ///
    /// # Errors
    /// AssertionError for a map-style member, TypeError for one without a length.
    pub fn total_len(&self) -> Result<usize, LoaderError> {
        let mut total = 0usize;
        for member in self.members.iter() {
            let AnyDataset::Iterable(member) = member else {
                return Err(assertion(ONLY_ITERABLE));
            };
            let len = member.len().ok_or_else(|| {
                let name = member.type_name();
                LoaderError::type_error(format!("object of type '{name}' has no len()"))
            })?;
            total = total.saturating_add(len);
        }
        Ok(total)
    }
}

impl<S: Send + 'static> IterableDataset for ChainDataset<S> {
    type Sample = S;

    fn iter(&self) -> Result<Box<dyn SampleStream<S>>, SampleError> {
        Ok(Box::new(Chain {
            members: Arc::clone(&self.members),
            next: 0,
            stream: None,
        }))
    }

    /// Returns `None` where [`total_len`](Self::total_len) fails.
    fn len(&self) -> Option<usize> {
        self.total_len().ok()
    }

    fn type_name(&self) -> &str {
        "ChainDataset"
    }
}

struct Chain<S> {
    members: Arc<[AnyDataset<S>]>,
    /// Index of the next member to open.
    next: usize,
    stream: Option<Box<dyn SampleStream<S>>>,
}

impl<S: Send + 'static> SampleStream<S> for Chain<S> {
    fn next(&mut self, clock: &mut SampleClock) -> Option<Result<S, SampleError>> {
        loop {
            if let Some(stream) = &mut self.stream {
                match stream.next(clock) {
                    Some(Ok(sample)) => return Some(Ok(sample)),
                    Some(Err(error)) => return Some(Err(self.end(error))),
                    None => self.stream = None,
                }
            }
            let opened = match self.members.get(self.next)? {
                AnyDataset::Iterable(member) => member.iter(),
                AnyDataset::Map(_) => Err(SampleError::new("AssertionError", ONLY_ITERABLE)),
            };
            self.next += 1;
            match opened {
                Ok(stream) => self.stream = Some(stream),
                Err(error) => return Some(Err(self.end(error))),
            }
        }
    }
}

impl<S> Chain<S> {
    /// Ends the stream after an error, like a Python generator.
    fn end(&mut self, error: SampleError) -> SampleError {
        self.stream = None;
        self.next = self.members.len();
        error
    }
}

fn assertion(message: &str) -> LoaderError {
    LoaderError::python(ExceptionKind::ASSERTION_ERROR, message)
}

/// `a + b`: a [`ConcatDataset`] if `a` is map-style, a [`ChainDataset`] if it is iterable.
///
/// As in PyTorch, `map + iterable` fails at once, and `iterable + map` when the chain reaches the map-style member.
impl<S: Send + 'static> Add for AnyDataset<S> {
    type Output = Result<Self, LoaderError>;

    fn add(self, other: Self) -> Self::Output {
        Ok(match self {
            Self::Map(_) => Self::map(ConcatDataset::new([self, other])?),
            Self::Iterable(_) => Self::iterable(ChainDataset::new([self, other])),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::ListDataset;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_concat_dataset_equals_the_joined_list(lists in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..5), 1..6)) {
            let joined: Vec<u8> = lists.concat();
            let data = ConcatDataset::new(lists.into_iter().map(|list| AnyDataset::map(ListDataset::from(list)))).unwrap();
            let mut clock = SampleClock::off();
            prop_assert_eq!(data.len(), joined.len());
            for (i, &sample) in joined.iter().enumerate() {
                prop_assert_eq!(data.get(i, &mut clock), Ok(sample));
                prop_assert_eq!(data.get_at(i as i64 - joined.len() as i64, &mut clock), Ok(sample));
            }
            for bad in [joined.len(), usize::MAX] {
                prop_assert_eq!(data.get(bad, &mut clock).unwrap_err().kind, "IndexError");
            }
            for bad in [-1 - joined.len() as i64, i64::MIN] {
                prop_assert_eq!(data.get_at(bad, &mut clock).unwrap_err().kind, "ValueError");
            }
        }
    }

    #[test]
    fn plus_returns_the_kind_of_its_left_operand() {
        let map = || AnyDataset::map(ListDataset::from(vec![1u8, 2]));
        let stream = || AnyDataset::iterable(ChainDataset::<u8>::new([] as [AnyDataset<u8>; 0]));
        assert_eq!((map() + map()).unwrap().len(), Some(4));
        assert!((map() + stream()).is_err());
        let Ok(AnyDataset::Iterable(chain)) = stream() + map() else {
            panic!("iterable + anything is a chain");
        };
        let mut chain = chain.iter().unwrap();
        let mut clock = SampleClock::off();
        let error = chain.next(&mut clock).unwrap().unwrap_err();
        assert_eq!(
            (error.kind.as_str(), error.message.as_str()),
            ("AssertionError", ONLY_ITERABLE)
        );
        assert!(chain.next(&mut clock).is_none());
    }
}
