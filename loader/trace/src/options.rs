//! What a run was asked to do. The options panel of the window, the command line and a TOML file share [`RunOptions`].

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::{Nanos, Stage};

mod collate;
mod overrides;
mod parts;
mod python;

pub use collate::{Collate, NoCollate};
pub use overrides::{Overrides, StartMethod};
pub use parts::{parts, quote, without_password};

/// The arguments of `DataLoader` under PyTorch's names, and the training loop around it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// `digits`, `folder:PATH`, `voc:DIR` and so on, `synthetic:key=value,…` or `stream:key=value,…`; of PyTorch programs its class.
    pub dataset: String,
    /// Side of the square to which the pictures of a folder are resized, pixels.
    pub image_size: u32,
    /// Time and faults added to the samples on purpose, `cost_ms=10,tail=0.01:40`; empty: none.
    pub extra_cost: String,
    /// Samples per batch; `None` (in files `"none"`): no batches, samples are yielded as they are.
    #[serde(with = "batch_size")]
    pub batch_size: Option<usize>,
    /// A new random order in every epoch.
    pub shuffle: bool,
    /// Another order: `sequential`, `random`, `subset:FILE`, `weighted:FILE`, `distributed`, `equi:FILE`; empty: as `shuffle`
    /// says.
    pub sampler: String,
    /// Random samplers may draw an index again.
    pub replacement: bool,
    /// Indices that random samplers draw an epoch; `None`: as many as there are samples.
    pub num_samples: Option<u64>,
    /// Number of ranks, PyTorch's `num_replicas`, for samplers that share the samples among ranks.
    pub world_size: u32,
    /// Which of the ranks this is, from 0.
    pub rank: u32,
    /// Distributed samplers drop the tail instead of padding.
    pub sampler_drop_last: bool,
    /// Distributed samplers get the epoch, so that each has its own order; leaving that out is a common mistake.
    pub set_epoch: bool,
    /// Seed of `generator`; `None`: a fresh seed for every run, unless there is a `global_seed`.
    pub seed: Option<u64>,
    /// Seed of the default generator (`torch.manual_seed`); the loader then has no `generator` of its own unless `seed` is given.
    pub global_seed: Option<u64>,
    /// Worker threads; 0: the trainer's thread fetches by itself.
    pub num_workers: usize,
    /// Batches in flight per worker; `None`: 2.
    pub prefetch_factor: Option<usize>,
    /// Drop a last batch that is not full.
    pub drop_last: bool,
    /// How samples become a batch.
    #[serde(skip_serializing_if = "Collate::is_fitting")]
    pub collate: Collate,
    /// Hand batches out in the order of the sampler.
    pub in_order: bool,
    /// Copy batches to page-locked memory.
    pub pin_memory: PinMemory,
    /// Keep the workers alive between epochs.
    pub persistent_workers: bool,
    /// The longest wait for a worker, seconds; 0: no limit.
    pub timeout: f64,
    /// How Python starts worker processes (`fork`, `spawn`, `forkserver`); empty: its default. Threads have no such thing, so it
    /// only shows in the line of Python.
    pub multiprocessing_context: String,
    /// Passes over the dataset.
    pub epochs: u32,
    /// How long the simulated training step takes, ms.
    pub step_ms: f64,
    /// What to do when a sample fails.
    pub on_error: OnError,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            dataset: "digits".to_owned(),
            image_size: 224,
            extra_cost: String::new(),
            batch_size: Some(32),
            shuffle: false,
            sampler: String::new(),
            replacement: false,
            num_samples: None,
            world_size: 1,
            rank: 0,
            sampler_drop_last: false,
            set_epoch: true,
            seed: None,
            global_seed: None,
            num_workers: 0,
            prefetch_factor: None,
            drop_last: false,
            collate: Collate::Fitting,
            in_order: true,
            pin_memory: PinMemory::Off,
            persistent_workers: false,
            timeout: 0.0,
            multiprocessing_context: String::new(),
            epochs: 1,
            step_ms: 0.0,
            on_error: OnError::Stop,
        }
    }
}

impl RunOptions {
    /// True if the dataset is iterable-style, as its name says: each worker has its own part of it.
    pub fn is_stream(&self) -> bool {
        parts::is_stream(&self.dataset)
    }

    /// True if `shuffle` or a named sampler draws the order of the samples.
    pub fn is_shuffled(&self) -> bool {
        self.shuffle || !matches!(self.sampler.as_str(), "" | "sequential")
    }

    /// True if batches are yielded in the order of the sampler. Without workers they always are: `in_order` has no effect then.
    pub fn keeps_order(&self) -> bool {
        self.in_order || self.num_workers == 0
    }

    /// The value of `prefetch_factor` that is in force: PyTorch's default is 2, and without workers there is none.
    pub fn prefetch(&self) -> usize {
        if self.num_workers == 0 {
            0
        } else {
            self.prefetch_factor.unwrap_or(2)
        }
    }

    /// The most batches that may be in flight or held: `prefetch_factor × num_workers`.
    pub fn window(&self) -> usize {
        self.prefetch().saturating_mul(self.num_workers)
    }
}

/// `batch_size` in files: a number, or `"none"`.
mod batch_size {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(size: &Option<usize>, s: S) -> Result<S::Ok, S::Error> {
        match size {
            Some(size) => s.serialize_u64(*size as u64),
            None => s.serialize_str("none"),
        }
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Size {
        Number(usize),
        Word(String),
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Option<usize>, D::Error> {
        match Option::<Size>::deserialize(d) {
            Ok(None) => Ok(None),
            Ok(Some(Size::Number(size))) => Ok(Some(size)),
            Ok(Some(Size::Word(word))) if word.eq_ignore_ascii_case("none") => Ok(None),
            _ => Err(D::Error::custom(
                "batch_size is a number of samples, or \"none\" for a loader without batches",
            )),
        }
    }
}

/// `pin_memory`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinMemory {
    /// No pinning.
    #[default]
    Off,
    /// CUDA's page-locked memory; without a GPU a warning and no pinning, as in PyTorch.
    On,
    /// Pooled buffers locked with `mlock`: real page-locked memory without a GPU. Not something PyTorch has.
    Mlock,
}

impl PinMemory {
    /// As Python writes it; `mlock`, which PyTorch does not have, by its name.
    pub fn python(self) -> &'static str {
        match self {
            Self::Off => "False",
            Self::On => "True",
            Self::Mlock => "mlock",
        }
    }
}

/// What to do when a sample fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnError {
    /// End the run, as a training loop without `try` does.
    #[default]
    Stop,
    /// Note it and go on with the next batch.
    Continue,
    /// Leave the sample out of its batch, and say at the end how many were left out.
    Skip,
    /// Leave the sample out of its batch, and say of each why.
    Log,
}

/// The dataset of a PyTorch program whose class is unknown, in [`RunInfo::dataset`].
pub const UNNAMED_DATASET: &str = "A dataset";

/// How a run introduces itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunInfo {
    /// What it was asked to do.
    pub options: RunOptions,
    /// Who tells.
    pub origin: Origin,
    /// The class of the loader, where it is one derived from `DataLoader`; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The class of the program's own batch sampler; empty without one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub batch_sampler: String,
    /// Other arguments that the program gave, as they stand in a call: `collate_fn=pad`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The line of the program that makes the loader; `None` if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_at: Option<MadeAt>,
    /// Role in the program (`train`, `val`, `test`, `predict`), from a framework. Otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// The dataset in words: `1,797 handwritten digits`.
    pub dataset: String,
    /// Number of samples; `None` if it is not known.
    pub dataset_len: Option<u64>,
    /// `len(loader)`; `None` if it is not known.
    pub batches_per_epoch: Option<u64>,
    /// Names of the labels.
    pub classes: Vec<String>,
    /// Rank within the training job.
    pub rank: u32,
    /// Number of ranks.
    pub world_size: u32,
    /// Processor cores that the program may use.
    pub cores: u32,
    /// Stages that the source measures; the others are "not measured", which is not zero.
    pub measured: Vec<Stage>,
    /// Whether batches really go to page-locked memory, and how.
    pub pinning: Option<String>,
    /// Wall-clock time of the clock anchor, ns since 1970.
    pub started_unix_ns: i64,
    /// The host it ran on; empty if that is not known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// The recording it was taken from, where a session is made of several; otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recording: String,
    /// How its clock was compared with that of the session; `None` if it is the same clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
}

impl RunInfo {
    /// True if the order of the samples is drawn at random in each epoch, or by a sampler of the program.
    pub fn is_random(&self) -> bool {
        self.options.is_shuffled() || !self.batch_sampler.is_empty()
    }

    /// Class of the dataset of a PyTorch program: `ImageFolder`. `None` if unknown.
    pub fn dataset_class(&self) -> Option<&str> {
        let Origin::Pytorch(_) = self.origin else {
            return None;
        };
        // `Photos (320 samples) from train.py`, in older recordings `Photos of 320 samples in train.py`.
        let ends = [" (", " from ", " of ", " in "];
        let end = ends.iter().filter_map(|end| self.dataset.find(end)).min();
        let name = self.dataset.get(..end.unwrap_or(self.dataset.len()))?;
        (!name.is_empty() && name != UNNAMED_DATASET).then_some(name)
    }

    /// Moves it to another clock, which shows `by` more.
    pub(crate) fn shift(&mut self, by: Nanos) {
        if self.started_unix_ns != 0 {
            self.started_unix_ns = self.started_unix_ns.saturating_sub(by.0);
        }
    }

    /// As it can be written: JSON has no NaN and no infinities.
    pub(crate) fn finite(&self) -> Self {
        let mut info = self.clone();
        if !info.options.step_ms.is_finite() {
            info.options.step_ms = 0.0;
        }
        info
    }
}

/// A line of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeAt {
    /// The file, with its whole path.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// Both in short: `train.py:42`.
    pub name: String,
}

/// Who tells what happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The embedded engine ran it.
    #[default]
    Engine,
    /// The scheduler with a virtual clock.
    Simulation,
    /// A PyTorch program of this version.
    Pytorch(String),
    /// Converted from what another tool wrote.
    Import(String),
}

impl Origin {
    /// True if `DataLoader` has the argument `in_order`: from PyTorch 2.6 on, or if the version is unknown.
    pub fn has_in_order(&self) -> bool {
        let Self::Pytorch(version) = self else {
            return true;
        };
        let mut numbers = version
            .split('.')
            .map_while(|part| part.parse::<u32>().ok());
        match (numbers.next(), numbers.next()) {
            (Some(major), Some(minor)) => (major, minor) >= (2, 6),
            _ => true,
        }
    }

    /// As it stands in files, whatever language is spoken.
    pub fn key(&self) -> String {
        match self {
            Self::Engine => "embedded engine".to_owned(),
            Self::Simulation => "simulation".to_owned(),
            Self::Pytorch(version) => format!("PyTorch {version}"),
            Self::Import(from) => format!("imported from {from}"),
        }
    }

    /// In a few words.
    pub fn label(&self) -> String {
        match self {
            Self::Engine => say!("embedded loader").to_owned(),
            Self::Simulation => say!("simulation").to_owned(),
            Self::Pytorch(version) => say!("PyTorch {version}"),
            Self::Import(from) => say!("imported from {from}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_sizes_in_files() {
        let read = |text: &str| serde_json::from_str::<RunOptions>(text).map(|o| o.batch_size);
        assert_eq!(read("{}").ok(), Some(Some(32)));
        assert_eq!(read(r#"{"batch_size":5}"#).ok(), Some(Some(5)));
        assert_eq!(read(r#"{"batch_size":"none"}"#).ok(), Some(None));
        assert!(read(r#"{"batch_size":"many"}"#).is_err());
        let none = RunOptions {
            batch_size: None,
            ..RunOptions::default()
        };
        let text = serde_json::to_string(&none).unwrap();
        assert_eq!(serde_json::from_str::<RunOptions>(&text).unwrap(), none);
    }
}
