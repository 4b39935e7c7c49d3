//! Shards of POSIX tar archives, split over workers and ranks, and shuffled.
//!
//! A sample is a `dict` of `__key__`, `__url__` (the archive) and the files of the sample. The webdataset package also has
//! `__local_path__`, which equals `__url__` for local files.

mod braces;
mod shards;
mod shuffle;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use loadscope_plan::rng::PythonRandom;
use loadscope_words::say;

use crate::cell::Cell;
use crate::error::{FormatError, Place};
use crate::stages::Stages;
use crate::stream::{Share, Stream, StreamSource};
use crate::tar::{Sample, decode, early_split};

pub use crate::tar::Decoding;
pub use braces::{BraceError, expand};
use shards::Shards;
use shuffle::Shuffle;
pub use shuffle::Shuffling;

/// Options of a dataset, with the names of `webdataset.WebDataset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Archives as a pattern with braces (`shard-{000..127}.tar`). `::` separates several patterns.
    pub urls: String,
    /// Shuffle of the shards of each worker.
    pub shardshuffle: Option<Shuffling>,
    /// Shuffle of the samples.
    pub shuffle: Option<Shuffling>,
    /// Seed of both shuffles: `random.Random(seed)`, or `seed + epoch` with [`detshuffle`](Self::detshuffle). `None` is the seed of the
    /// epoch, which all workers share.
    pub seed: Option<u64>,
    /// True for another order in each epoch, even with a seed.
    pub detshuffle: bool,
    /// True if a worker without samples is an error.
    pub empty_check: bool,
    /// Decoding of the files.
    pub decoding: Decoding,
    /// Files of a sample in the order of the tuple, as in `to_tuple`. If empty, a sample is a `dict` of all files.
    pub fields: Vec<String>,
}

impl Options {
    /// Creates options for all shards in order, with decoding.
    pub fn new(urls: impl Into<String>) -> Self {
        Self {
            urls: urls.into(),
            shardshuffle: None,
            shuffle: None,
            seed: None,
            detshuffle: false,
            empty_check: true,
            decoding: Decoding::ByName,
            fields: Vec::new(),
        }
    }
}

/// A dataset of shards, like `webdataset.WebDataset(urls, …, nodesplitter=split_by_node).shuffle(…).decode("torchrgb8")`.
///
/// Each rank has every `world_size`-th shard, and each of its workers has every `workers`-th of those. With fewer shards than workers,
/// some workers have no samples.
#[derive(Debug)]
pub struct WebDataset {
    options: Options,
    shards: Vec<String>,
    notes: Vec<String>,
    /// Next epoch of each worker and rank.
    epochs: Mutex<HashMap<(usize, usize), u64>>,
}

impl WebDataset {
    /// Lists the shards, and checks the file order of the first.
    ///
    /// # Errors
    /// If the pattern is invalid, matches too many shards, or contains a missing one.
    pub fn open(options: Options) -> Result<Self, FormatError> {
        let shards = shards::list(&options.urls)?;
        let mut notes = Vec::new();
        if shards.len() == 1 {
            notes.push(
                "There is one shard, so that one worker has all samples. More workers need as many shards".to_owned(),
            );
        }
        if let Some(first) = shards.first()
            && let Some(key) = early_split(Path::new(first))
        {
            notes.push(format!(
                "{first}: the files of the sample '{key}' are apart from each other, so they are several incomplete samples, as for the \
                 package webdataset. Write the archive with tar --sort=name."
            ));
        }
        Ok(Self {
            options,
            shards,
            notes,
            epochs: Mutex::default(),
        })
    }

    /// Returns the archives in order.
    pub fn shards(&self) -> &[String] {
        &self.shards
    }

    /// Returns the random number generator of both shuffles.
    fn random(&self, share: &Share) -> PythonRandom {
        let epoch = {
            let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
            let next = epochs.entry((share.rank, share.worker)).or_default();
            *next += 1;
            *next - 1
        };
        let seed = i128::from(self.options.seed.unwrap_or(share.seed));
        let epoch = if self.options.detshuffle {
            i128::from(epoch)
        } else {
            0
        };
        PythonRandom::new(seed + epoch)
    }
}

impl StreamSource for WebDataset {
    fn open(&self, share: &Share) -> Result<Box<dyn Stream>, FormatError> {
        let random = self.random(share);
        let ranked = self
            .shards
            .iter()
            .skip(share.rank)
            .step_by(share.world_size.max(1));
        let mine = ranked
            .skip(share.worker)
            .step_by(share.workers.max(1))
            .cloned();
        let mine: Vec<String> = match self.options.shardshuffle {
            Some(shuffling) => shuffle::whole(mine, shuffling, random.clone()),
            None => mine.collect(),
        };
        Ok(Box::new(Part {
            share: *share,
            count: self.shards.len(),
            options: self.options.clone(),
            shards: Shards::new(mine),
            shuffle: self
                .options
                .shuffle
                .map(|shuffling| Shuffle::new(shuffling, random)),
            is_empty: true,
        }))
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// Samples of one worker.
struct Part {
    share: Share,
    /// Number of shards of all workers.
    count: usize,
    options: Options,
    shards: Shards,
    shuffle: Option<Shuffle<Sample>>,
    is_empty: bool,
}

impl Part {
    fn sample(&mut self, stages: &mut dyn Stages) -> Option<Result<Sample, FormatError>> {
        match &mut self.shuffle {
            Some(shuffle) => {
                let shards = &mut self.shards;
                shuffle.next(|| shards.next(stages))
            }
            None => self.shards.next(stages),
        }
    }

    fn empty(&self) -> FormatError {
        let Share {
            worker,
            workers,
            rank,
            world_size,
            ..
        } = self.share;
        let most = (self.count / world_size.max(1)).max(1);
        fault!(InvalidOption, Place::named(&self.options.urls),
            say!("worker {worker} of {workers} of rank {rank} has no samples: there are {} shards for {world_size} ranks", self.count);
            say!("Choose at most {most} workers, or cut the samples into more shards"))
    }
}

impl Stream for Part {
    fn next(&mut self, stages: &mut dyn Stages) -> Option<Result<Cell, FormatError>> {
        let Some(sample) = self.sample(stages) else {
            let is_error = std::mem::replace(&mut self.is_empty, false) && self.options.empty_check;
            return is_error.then(|| Err(self.empty()));
        };
        self.is_empty = false;
        stages.enter("decode");
        Some(sample.and_then(|sample| decode(sample, self.options.decoding, &self.options.fields)))
    }
}
