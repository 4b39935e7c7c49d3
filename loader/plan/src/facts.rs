//! Describes a run before its first batch.

use loadscope_trace::{Origin, RunInfo, RunOptions, Stage, without_password};

use crate::cpu::processors;
use crate::dataset::{DatasetSpec, Entry};

/// Facts that are known before the first batch.
pub struct Facts<'a> {
    /// Options of the run.
    pub options: &'a RunOptions,
    /// Dataset that the options name.
    pub spec: &'a DatasetSpec,
    /// Known properties of the dataset.
    pub dataset: &'a Entry,
    /// `len(loader)`. `None`: unknown.
    pub batches: Option<usize>,
}

impl Facts<'_> {
    /// Returns the description of a run. `started_unix_ns` is its start, ns since 1970. `pinning` is the method of pinning, if any.
    pub fn info(&self, started_unix_ns: i64, pinning: Option<String>) -> RunInfo {
        let mut measured = Stage::ALL.to_vec();
        measured.retain(|s| *s != Stage::Pinning || pinning.is_some());
        RunInfo {
            options: RunOptions {
                // A recording may be shared, so it contains no password.
                dataset: without_password(&self.options.dataset),
                ..self.options.clone()
            },
            origin: Origin::Engine,
            dataset: self.describe(),
            dataset_len: self.dataset.len.map(|len| len as u64),
            batches_per_epoch: self.batches.map(|len| len as u64),
            classes: self.dataset.classes.clone(),
            rank: self.options.rank,
            world_size: self.options.world_size,
            cores: processors() as u32,
            measured,
            pinning,
            started_unix_ns,
            ..RunInfo::default()
        }
    }

    /// Returns the dataset as a short text.
    fn describe(&self) -> String {
        let len = self.dataset.len.unwrap_or(0);
        let text = match self.spec {
            DatasetSpec::Digits => format!("{len} handwritten digits"),
            DatasetSpec::Folder { path } => {
                let classes = self.dataset.classes.len();
                let classes = if classes == 1 {
                    "1 class".to_owned()
                } else {
                    format!("{classes} classes")
                };
                let images = if len == 1 { "image" } else { "images" };
                format!("{len} {images} of {classes} in {}", path.display())
            }
            DatasetSpec::Tokens(_) => format!("{len} windows of tokens"),
            DatasetSpec::Data(data) => data.describe(self.dataset.len),
            DatasetSpec::Synthetic(_) => format!("{len} synthetic samples"),
            DatasetSpec::Stream(_) => match self.dataset.len {
                Some(len) => format!("{len} synthetic samples, iterable-style"),
                None => "synthetic samples, iterable-style".to_owned(),
            },
        };
        let extra = &self.options.extra_cost;
        if extra.is_empty() {
            text
        } else {
            format!("{text}, slowed down ({extra})")
        }
    }
}
