//! Text form of a synthetic stream: the costs of its samples, and its split among workers.

use std::fmt;
use std::str::FromStr;

use super::{CostModel, cost};
use crate::error::LoaderError;
use crate::keyvalue::{Key, KeySet, KeyValue, KeyValueError, ValueError, flag};
use loadscope_words::{say, text};

/// Keys in addition to those of a [`CostModel`].
const KEYS: [Key; 2] = [
    Key::once(
        "shard",
        text!(
            "shard=true (each worker yields its part) or shard=false (each worker yields everything)"
        ),
    ),
    Key::once(
        "shards",
        text!("shards=3/8/5 (worker 0 yields 3 samples, worker 1 8, worker 2 5) instead of len"),
    ),
];

/// Samples of a stream that each worker yields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// Every worker yields all samples. PyTorch does this if a dataset does not check which worker it is in.
    #[default]
    Everything,
    /// Worker k of W yields samples k, k + W, k + 2 W, …
    Strided,
    /// Worker k yields samples 100 k, 100 k + 1, …, as many as the k-th number. Further workers yield nothing.
    Shards(Vec<usize>),
}

/// Synthetic stream. Its text `len=24,cost_ms=5,shard=true` has the options of a [`CostModel`] and the split among workers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StreamModel {
    /// Costs of the samples. With shards, `len` is the largest sample number plus one.
    pub cost: CostModel,
    /// Split among workers.
    pub sharing: Sharing,
}

impl StreamModel {
    /// Returns the sample numbers of worker `id` of `workers`. With `None`, there are no workers.
    pub fn samples(
        &self,
        worker: Option<(usize, usize)>,
    ) -> Box<dyn Iterator<Item = usize> + Send> {
        let len = self.cost.len;
        match (&self.sharing, worker) {
            (Sharing::Everything, _) | (Sharing::Strided, None) => Box::new(0..len),
            (Sharing::Strided, Some((id, workers))) => Box::new((id..len).step_by(workers.max(1))),
            (Sharing::Shards(sizes), Some((id, _))) => {
                let size = sizes.get(id).copied().unwrap_or(0);
                Box::new((0..size).map(move |i| id.saturating_mul(100).saturating_add(i)))
            }
            // Without workers the main process yields all shards in sequence.
            (Sharing::Shards(sizes), None) => {
                let shards = sizes.clone().into_iter().enumerate();
                Box::new(shards.flat_map(|(id, size)| (0..size).map(move |i| 100 * id + i)))
            }
        }
    }
}

impl StreamModel {
    /// Returns the number of samples of all workers together, if each yields its part.
    pub fn len(&self) -> usize {
        match &self.sharing {
            Sharing::Everything | Sharing::Strided => self.cost.len,
            Sharing::Shards(sizes) => sizes.iter().sum(),
        }
    }

    /// Returns true if the stream contains no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of samples of worker `id` of `workers`. With `None`, there are no workers.
    pub fn count(&self, worker: Option<(usize, usize)>) -> usize {
        let len = self.cost.len;
        match (&self.sharing, worker) {
            (Sharing::Everything, _) | (Sharing::Strided, None) => len,
            (Sharing::Strided, Some((id, workers))) => {
                len.saturating_sub(id).div_ceil(workers.max(1))
            }
            (Sharing::Shards(sizes), Some((id, _))) => sizes.get(id).copied().unwrap_or(0),
            (Sharing::Shards(sizes), None) => sizes.iter().sum(),
        }
    }
}

impl FromStr for StreamModel {
    type Err = LoaderError;

    fn from_str(text: &str) -> Result<Self, LoaderError> {
        let key_set = KeySet::new(cost::KEYS.into_iter().chain(KEYS));
        let model = key_set.read(text).and_then(|all| Self::of(&all));
        model.map_err(|mistake| {
            let sentence = key_set.sentence(&mistake);
            LoaderError::Spec(say!("stream:{text}: {sentence}"))
        })
    }
}

impl StreamModel {
    fn of(all: &[KeyValue<'_>]) -> Result<Self, KeyValueError> {
        let conflict = |what: &str| Err(KeyValueError::Conflict(what.to_owned()));
        let (mut sharing, mut costs) = (None, Vec::new());
        for given in all {
            let read = match given.key {
                "shard" => flag(given.value).map(|shared| match shared {
                    true => Sharing::Strided,
                    false => Sharing::Everything,
                }),
                "shards" => shards(given.value).map(Sharing::Shards),
                _ => {
                    costs.push(*given);
                    continue;
                }
            };
            let read = read.map_err(|wrong| given.error(wrong))?;
            if sharing.replace(read).is_some() {
                return conflict(say!("shard and shards cannot be combined"));
            }
        }
        let sharing = sharing.unwrap_or_default();
        let mut base = CostModel::default();
        if let Sharing::Shards(sizes) = &sharing {
            if costs.iter().any(|given| given.key == "len") {
                return conflict(say!("shards sets len. Remove len."));
            }
            let ends = sizes.iter().enumerate().filter(|(_, size)| **size > 0);
            base.len = ends.map(|(id, size)| 100 * id + size).max().unwrap_or(0);
        }
        let cost = base.with(&costs)?;
        Ok(Self { cost, sharing })
    }
}

/// Parses `3/8/5`.
fn shards(text: &str) -> Result<Vec<usize>, ValueError> {
    /// Maximum number of shards. Sample numbers must not overflow.
    const MAX_SHARDS: usize = 1000;
    let sizes = text.split('/').map(|size| size.trim().parse());
    match sizes.collect::<Result<Vec<usize>, _>>() {
        Ok(sizes)
            if sizes.len() <= MAX_SHARDS && sizes.iter().all(|&size| size <= cost::MAX_LEN / 2) =>
        {
            Ok(sizes)
        }
        _ => Err(ValueError::Other(say!(
            "expected up to {MAX_SHARDS} whole numbers separated by /"
        ))),
    }
}

/// Writes the text that parses to the same model.
impl fmt::Display for StreamModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.cost.to_string();
        match &self.sharing {
            Sharing::Everything => write!(f, "{cost},shard=false"),
            Sharing::Strided => write!(f, "{cost},shard=true"),
            Sharing::Shards(sizes) => {
                let sizes: Vec<String> = sizes.iter().map(usize::to_string).collect();
                // The text of the costs begins with the length, which the shards determine.
                let (_, cost) = cost.split_once(',').unwrap_or_default();
                write!(f, "{cost},shards={}", sizes.join("/"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str, worker: Option<(usize, usize)>) -> Vec<usize> {
        text.parse::<StreamModel>()
            .unwrap()
            .samples(worker)
            .collect()
    }

    #[test]
    fn workers_share_the_stream_as_configured() {
        for workers in 1..5 {
            let mut all: Vec<usize> = (0..workers)
                .flat_map(|id| numbers("len=10,shard=true", Some((id, workers))))
                .collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..10));
        }
        assert_eq!(numbers("len=3", Some((1, 2))), [0, 1, 2]);
        assert_eq!(numbers("shards=1/0/2", Some((2, 3))), [200, 201]);
        assert_eq!(numbers("shards=1/0/2", Some((3, 4))), [0; 0]);
        assert_eq!(numbers("shards=1/0/2", None), [0, 200, 201]);
    }

    #[test]
    fn sample_counts_match_the_yielded_samples() {
        for text in [
            "len=10",
            "len=0",
            "len=10,shard=true",
            "len=2,shard=true",
            "shards=1/0/2",
        ] {
            let model: StreamModel = text.parse().unwrap();
            let workers = (1..6).flat_map(|n| (0..n).map(move |id| Some((id, n))));
            for worker in workers.chain([None]) {
                let made = model.samples(worker).count();
                assert_eq!(model.count(worker), made, "{text} {worker:?}");
            }
        }
    }

    #[test]
    fn valid_texts_round_trip_and_invalid_ones_are_refused() {
        for text in [
            "len=3",
            "len=9,shard=true,fail=2",
            "cost_ms=3,shards=3/8/5,slow=107:30",
        ] {
            let model: StreamModel = text.parse().unwrap();
            assert_eq!(model.to_string().parse::<StreamModel>().unwrap(), model);
        }
        for (text, says) in [
            ("shard=perhaps", "neither true nor false"),
            ("shards=3/x", "whole numbers separated by /"),
            ("shards=3,len=4", "Remove len"),
            ("shard=true,shards=3", "cannot be combined"),
            ("speed=3", "stream:speed=3: unknown key 'speed'"),
            (
                "shared=true",
                "unknown key 'shared'. Did you mean shard? Valid: ",
            ),
            ("shards=3,fail=3", "the last sample is 2"),
        ] {
            let error = text.parse::<StreamModel>().unwrap_err().to_string();
            assert!(
                error.contains(says)
                    && (error.contains("shard=true (each worker") || error.contains("Example: ")),
                "{error}"
            );
        }
    }
}
