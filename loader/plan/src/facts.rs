//! How a run introduces itself.

use loadscope_trace::{Origin, RunInfo, RunOptions, Stage, without_password};

use crate::cpu::processors;
use crate::dataset::{DatasetSpec, Entry};

/// What is known before the first batch.
pub struct Facts<'a> {
    /// What was asked for.
    pub options: &'a RunOptions,
    /// The dataset by name.
    pub spec: &'a DatasetSpec,
    /// What is known of it.
    pub dataset: &'a Entry,
    /// `len(loader)`, if it has one.
    pub batches: Option<usize>,
}

impl Facts<'_> {
    /// The introduction of a run that started at `started_unix_ns`, ns since 1970; `pinning`: how batches are pinned.
    pub fn info(&self, started_unix_ns: i64, pinning: Option<String>) -> RunInfo {
        let mut measured = Stage::ALL.to_vec();
        measured.retain(|s| *s != Stage::Pinning || pinning.is_some());
        RunInfo {
            options: RunOptions {
                // What is recorded is read by others.
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

    /// The dataset in words.
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
