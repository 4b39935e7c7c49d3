//! `torch.utils.data.SubsetRandomSampler`.

use std::sync::Arc;

use super::epoch::{BlockEpoch, Blocks, single_block_epoch};
use super::{Draws, Epoch, IndexIter, RandomSource, Sampler};
use crate::error::LoaderError;
use crate::rng::{Indices, SharedGenerator, lock_generator, randperm_words};

/// Elements of a list in random order, without replacement.
///
/// The elements may have any type. PyTorch's lists may contain negative indices or keys. Only a list of `usize`
/// is a [`Sampler`]. Other lists have [`elements`](Self::elements).
#[derive(Clone, Debug)]
pub struct SubsetRandomSampler<T = usize> {
    indices: Arc<[T]>,
    source: RandomSource,
}

impl<T> SubsetRandomSampler<T> {
    /// Creates a sampler of `indices`. The permutation is drawn directly from the generator, including the default one.
    pub fn new(indices: impl Into<Arc<[T]>>, source: RandomSource) -> Self {
        Self {
            indices: indices.into(),
            source,
        }
    }

    /// Returns `len(sampler)`.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Returns true if the list is empty.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    fn positions(&self) -> BlockEpoch<impl Blocks + use<T>> {
        let (len, source) = (self.indices.len(), self.source.clone());
        single_block_epoch(move || lock_generator(source.direct()).randperm(len))
    }

    fn words(&self) -> Draws {
        self.source.draws(randperm_words(self.indices.len()))
    }
}

impl<T: Clone + Send + Sync + 'static> SubsetRandomSampler<T> {
    /// Returns `iter(sampler)`, the elements of an epoch. It draws at the first pull.
    pub fn elements(&self) -> impl Iterator<Item = Result<T, LoaderError>> + Send + 'static {
        let indices = Arc::clone(&self.indices);
        self.positions().filter_map(move |position| match position {
            Ok(position) => indices.get(position).cloned().map(Ok),
            Err(error) => Some(Err(error)),
        })
    }
}

impl SubsetRandomSampler<usize> {
    fn start(&self) -> BlockEpoch<impl Blocks + use<>> {
        let (indices, source) = (Arc::clone(&self.indices), self.source.clone());
        single_block_epoch(move || {
            let order = lock_generator(source.direct()).randperm(indices.len())?;
            Ok(map(order, &indices))
        })
    }
}

/// Returns the elements at the positions `order`. It reuses the memory of `order` if they fit.
fn map(order: Indices, elements: &[usize]) -> Indices {
    let small = elements.iter().all(|&i| u32::try_from(i).is_ok());
    match order {
        Indices::U32(mut order) if small => {
            for slot in &mut order {
                if let Some(&element) = elements.get(*slot as usize) {
                    *slot = element as u32;
                }
            }
            Indices::U32(order)
        }
        order => Indices::U64(
            order
                .iter()
                .filter_map(|position| elements.get(position).map(|&i| i as u64))
                .collect(),
        ),
    }
}

impl Sampler for SubsetRandomSampler<usize> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    fn iter(&self) -> IndexIter {
        Box::new(self.start())
    }

    fn epoch(&self) -> Box<dyn Epoch> {
        Box::new(self.start())
    }

    fn generators(&self) -> Vec<SharedGenerator> {
        self.source.generators()
    }

    fn draws(&self) -> Option<Draws> {
        Some(self.words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::shared_generator;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_and_names_have_the_same_order(
            seed: u64,
            indices in prop::collection::vec(prop_oneof![0usize..100, any::<usize>()], 0..100),
        ) {
            let source = || RandomSource::Default(shared_generator(seed));
            let names: Vec<String> = indices.as_slice().iter().map(usize::to_string).collect();
            let numbers = SubsetRandomSampler::new(indices, source());
            let names = SubsetRandomSampler::new(names, source());
            let elements: Vec<String> = names.elements().map(Result::unwrap).collect();
            let numbers: Vec<String> = numbers.iter().map(|i| i.unwrap().to_string()).collect();
            prop_assert_eq!(elements, numbers);
        }
    }
}
