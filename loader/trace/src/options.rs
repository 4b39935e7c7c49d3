//! Options of a run. The options panel of the window, the command line and TOML files share [`RunOptions`].

use loadscope_words::say;
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::{Nanos, Stage};

mod argument;
mod choices;
mod collate;
mod overridden;
mod overrides;
mod parts;
mod python;
mod value;

pub use argument::Argument;
pub use choices::{OnError, PinMemory};
pub use collate::{Collate, ParseCollateError};
pub use overrides::{Override, Overrides, StartMethod};
pub use parts::{parts, quote, without_password};
pub use value::ArgValue;

/// Arguments of `DataLoader` with PyTorch's names, and options of the training loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunOptions {
    /// `digits`, `folder:PATH`, `voc:DIR` and so on, `synthetic:key=value,…` or `stream:key=value,…`. For PyTorch programs, the class of
    /// the dataset.
    pub dataset: String,
    /// Width and height to which the images of a folder are resized, pixels.
    pub image_size: u32,
    /// Artificial delays and faults of samples, such as `cost_ms=10,tail=0.01:40`. Empty for none.
    pub extra_cost: String,
    /// Samples per batch. `None` (`"none"` in files) yields single samples without batches.
    #[serde(with = "batch_size")]
    pub batch_size: Option<usize>,
    /// New random order in every epoch.
    pub shuffle: bool,
    /// Sampler: `sequential`, `random`, `subset:FILE`, `weighted:FILE`, `distributed`, `equi:FILE`. If empty, `shuffle` decides.
    pub sampler: String,
    /// Random samplers draw with replacement.
    pub replacement: bool,
    /// Number of indices that random samplers draw per epoch. `None` for the length of the dataset.
    pub num_samples: Option<u64>,
    /// Number of ranks for distributed samplers, PyTorch's `num_replicas`.
    pub world_size: u32,
    /// Rank, from 0.
    pub rank: u32,
    /// Distributed samplers drop the tail instead of padding.
    pub sampler_drop_last: bool,
    /// Distributed samplers get the epoch through `set_epoch`, so that each epoch has a different order. Programs often forget this call.
    pub set_epoch: bool,
    /// Seed of `generator`. `None` for a new seed per run, unless there is a `global_seed`.
    pub seed: Option<u64>,
    /// Seed of the default generator (`torch.manual_seed`). The loader has its own `generator` only if `seed` is given.
    pub global_seed: Option<u64>,
    /// Number of workers. With 0, the main process fetches the batches.
    pub num_workers: usize,
    /// Batches in flight per worker. `None` for the default, 2.
    pub prefetch_factor: Option<usize>,
    /// Drop an incomplete last batch.
    pub drop_last: bool,
    /// Collate function.
    #[serde(skip_serializing_if = "Collate::is_fitting")]
    pub collate: Collate,
    /// Yield batches in the order of the sampler.
    pub in_order: bool,
    /// Copy batches to page-locked memory.
    pub pin_memory: PinMemory,
    /// Keep the workers alive between epochs.
    pub persistent_workers: bool,
    /// Timeout for a batch from the workers, seconds. 0 for none.
    pub timeout: f64,
    /// Start method of Python's worker processes (`fork`, `spawn`, `forkserver`). Empty for Python's default. The embedded loader uses
    /// threads, so this only appears in the Python call.
    pub multiprocessing_context: String,
    /// Number of epochs.
    pub epochs: u32,
    /// Duration of the simulated training step, ms.
    pub step_ms: f64,
    /// Reaction to a failed sample.
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
    /// Returns true if the dataset is iterable-style, according to its name. Each worker has its own part.
    pub fn is_stream(&self) -> bool {
        parts::is_stream(&self.dataset)
    }

    /// Returns true if ranks share the iterable-style dataset without a sampler. They do not share a synthetic one.
    pub fn is_shared_stream(&self) -> bool {
        self.is_stream() && !parts::has_kind(&self.dataset, &["stream"])
    }

    /// Returns true if the dataset is synthetic, so its own text has the costs of its samples.
    pub fn is_synthetic(&self) -> bool {
        parts::has_kind(&self.dataset, &["synthetic", "stream"])
    }

    /// Returns true if `shuffle` or a named sampler determines the order of the samples.
    pub fn is_shuffled(&self) -> bool {
        self.shuffle || !matches!(self.sampler.as_str(), "" | "sequential")
    }

    /// Returns true if batches are yielded in the order of the sampler. Without workers this is always true, because `in_order` has no
    /// effect.
    pub fn keeps_order(&self) -> bool {
        self.in_order || self.num_workers == 0
    }

    /// Returns the effective `prefetch_factor`: PyTorch's default is 2, and without workers it is 0.
    pub fn prefetch(&self) -> usize {
        if self.num_workers == 0 {
            0
        } else {
            self.prefetch_factor.unwrap_or(2)
        }
    }

    /// Returns the maximum number of batches in flight or held: `prefetch_factor × num_workers`.
    pub fn window(&self) -> usize {
        self.prefetch().saturating_mul(self.num_workers)
    }
}

/// Serialization of `batch_size`: a number, or `"none"`.
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

/// Value of [`RunInfo::dataset`] for a PyTorch dataset of unknown class.
pub const UNNAMED_DATASET: &str = "A dataset";

/// Description of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunInfo {
    /// Arguments of `DataLoader`, and options of the training loop.
    pub options: RunOptions,
    /// Source of the events.
    pub origin: Origin,
    /// Class of the loader if derived from `DataLoader`, otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// Class of the program's own batch sampler, otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub batch_sampler: String,
    /// Other arguments of the program in Python notation, such as `collate_fn=pad`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Program line that makes the loader. `None` if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_at: Option<SourceLine>,
    /// Role in the program (`train`, `val`, `test`, `predict`), from a framework. Otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// Dataset in words, such as `1,797 handwritten digits`.
    pub dataset: String,
    /// Number of samples. `None` if unknown.
    pub dataset_len: Option<u64>,
    /// `len(loader)`. `None` if unknown.
    pub batches_per_epoch: Option<u64>,
    /// Names of the labels.
    pub classes: Vec<String>,
    /// Rank within the training job.
    pub rank: u32,
    /// Number of ranks.
    pub world_size: u32,
    /// CPU cores that the program may use.
    pub cores: u32,
    /// Time that Python takes to write and read a short JSON list, ns: the speed of its interpreter. 0 if unknown.
    #[serde(skip_serializing_if = "is_zero")]
    pub json_ns: u32,
    /// Start method of worker processes. `None` if unknown or without processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_method: Option<StartMethod>,
    /// CPU time of the main process for importing PyTorch, ns. A worker needs it again, unless it is forked from a process that has imported
    /// PyTorch. 0 if unknown, or if workers never need it.
    #[serde(skip_serializing_if = "is_zero")]
    pub import_ns: u64,
    /// Stages that the source measures. The time of any other stage is unknown, not zero.
    pub measured: Vec<Stage>,
    /// Method of locking batches in memory. `None` without pinning.
    pub pinning: Option<String>,
    /// Wall-clock time at the start of the run's clock, ns since 1970.
    pub started_unix_ns: i64,
    /// Host name. Empty if unknown.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
    /// Original recording, if a session combines several. Otherwise empty.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub recording: String,
    /// Alignment with the clock of the session. `None` for the same clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
}

fn is_zero<T: Default + PartialEq>(time: &T) -> bool {
    *time == T::default()
}

impl RunInfo {
    /// Returns true if the order of the samples is random in each epoch, or determined by a batch sampler of the program.
    pub fn is_random(&self) -> bool {
        self.options.is_shuffled() || !self.batch_sampler.is_empty()
    }

    /// Returns the class of a PyTorch program's dataset, such as `ImageFolder`. Returns `None` if unknown.
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

    /// Adds `by` to the times of the run's clock.
    pub(crate) fn shift(&mut self, by: Nanos) {
        if self.started_unix_ns != 0 {
            self.started_unix_ns = self.started_unix_ns.saturating_sub(by.0);
        }
    }

    /// Replaces NaN and infinities, which JSON does not have.
    pub(crate) fn finite(&self) -> Self {
        let mut info = self.clone();
        if !info.options.step_ms.is_finite() {
            info.options.step_ms = 0.0;
        }
        info
    }
}

/// Line of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceLine {
    /// Absolute path of the file.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
    /// Short name, such as `train.py:42`.
    pub name: String,
}

/// Source of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// Embedded engine.
    #[default]
    Engine,
    /// Scheduler with a virtual clock.
    Simulation,
    /// PyTorch of this version.
    Pytorch(String),
    /// Conversion from the format of another tool.
    Import(String),
}

impl Origin {
    /// Returns true if `DataLoader` has the argument `in_order`, since PyTorch 2.6. Also true if the version is unknown.
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

    /// Returns the untranslated name for files.
    pub fn key(&self) -> String {
        match self {
            Self::Engine => "embedded engine".to_owned(),
            Self::Simulation => "simulation".to_owned(),
            Self::Pytorch(version) => format!("PyTorch {version}"),
            Self::Import(from) => format!("imported from {from}"),
        }
    }

    /// Returns a short name in the user's language.
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
    fn batch_size_in_json_is_a_number_or_none() {
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
