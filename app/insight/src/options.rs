//! Options of a run: differences from another run, invalid options, and an equivalent Python program.

use loadscope_trace::RunOptions;

mod problems;
mod python;

pub use problems::{Problem, problems};
pub use python::program;

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $name:literal [$($part:ident)+];)+) => {
        /// A row of the options panel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field {
            $($(#[$doc])* $field,)+
        }

        impl Field {
            /// All rows.
            pub const ALL: &[Self] = &[$(Self::$field),+];

            /// Returns the name of the row: PyTorch's name if PyTorch has the option.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)+
                }
            }

            /// Returns the name of its first option in `RunOptions`.
            pub fn option(self) -> &'static str {
                match self {
                    $(Self::$field => [$(stringify!($part)),+][0],)+
                }
            }

            /// Returns the row of an option by its name in `RunOptions` or by the row's name.
            pub fn of_option(name: &str) -> Option<Self> {
                $(
                    if name == $name $(|| name == stringify!($part))+ {
                        return Some(Self::$field);
                    }
                )+
                None
            }

            /// Returns true if the row's options are equal in `a` and `b`.
            pub fn is_same(self, a: &RunOptions, b: &RunOptions) -> bool {
                match self {
                    $(Self::$field => $(a.$part == b.$part)&&+,)+
                }
            }

            /// Copies the row's options.
            pub fn copy(self, from: &RunOptions, to: &mut RunOptions) {
                match self {
                    $(Self::$field => { $(to.$part.clone_from(&from.$part);)+ })+
                }
            }
        }
    };
}

fields! {
    /// Dataset and its own options.
    Dataset "dataset" [dataset];
    /// Size that images are resized to.
    ImageSize "image_size" [image_size];
    /// Added costs and faults.
    ExtraCost "extra_cost" [extra_cost];
    /// Number of samples per batch.
    BatchSize "batch_size" [batch_size];
    /// Drops a last batch that is not full.
    DropLast "drop_last" [drop_last];
    /// Random order.
    Shuffle "shuffle" [shuffle];
    /// Sampler in place of `shuffle`.
    Sampler "sampler" [sampler];
    /// Drawing with replacement.
    Replacement "replacement" [replacement];
    /// Number of drawn samples.
    NumSamples "num_samples" [num_samples];
    /// Number of ranks.
    NumReplicas "num_replicas" [world_size];
    /// Rank of this process.
    Rank "rank" [rank];
    /// Drops the samples left over by an even split, without padding.
    SamplerDropLast "sampler_drop_last" [sampler_drop_last];
    /// Calls `set_epoch` of the sampler.
    SetEpoch "set_epoch" [set_epoch];
    /// Seeds of the sampler and of the default generator.
    Generator "generator" [seed global_seed];
    /// Number of workers.
    NumWorkers "num_workers" [num_workers];
    /// Batches in flight per worker.
    PrefetchFactor "prefetch_factor" [prefetch_factor];
    /// Workers that persist between epochs.
    PersistentWorkers "persistent_workers" [persistent_workers];
    /// Timeout of a batch.
    Timeout "timeout" [timeout];
    /// Start method of processes in Python.
    Context "multiprocessing_context" [multiprocessing_context];
    /// Yields batches in the order of the sampler.
    InOrder "in_order" [in_order];
    /// Function that creates a batch from samples.
    CollateFn "collate_fn" [collate];
    /// Page-locked memory.
    PinMemory "pin_memory" [pin_memory];
    /// Number of passes over the dataset.
    Epochs "epochs" [epochs];
    /// Duration of a training step.
    Step "step" [step_ms];
    /// Reaction to a failing sample.
    OnError "on_error" [on_error];
}

/// Types of datasets that can contain images.
const PICTURES: [&str; 11] = [
    "folder",
    "voc",
    "coco",
    "sql",
    "csv",
    "parquet",
    "arrow",
    "jsonl",
    "webdataset",
    "tar",
    "lmdb",
];

/// Returns the name of the sampler without its file or column.
fn sampler(options: &RunOptions) -> &str {
    let name = options.sampler.split_once(':');
    name.map_or(options.sampler.as_str(), |(name, _)| name)
}

impl Field {
    /// Returns true if the options panel has a row for the option. Options without effect have none.
    pub fn has_row(self, options: &RunOptions) -> bool {
        let is_stream = options.is_stream();
        let sampler = sampler(options);
        // Ranks share streams of data, but not synthetic streams.
        let has_ranks = match is_stream {
            true => options.is_shared_stream(),
            false => ["weighted", "distributed", "equi", "group", "bucket"].contains(&sampler),
        };
        match self {
            Self::Shuffle => !is_stream && options.sampler.is_empty(),
            Self::Sampler => !is_stream,
            Self::Replacement | Self::NumSamples => {
                !is_stream && ["random", "weighted"].contains(&sampler)
            }
            Self::NumReplicas | Self::Rank | Self::SetEpoch => has_ranks,
            Self::SamplerDropLast => !is_stream && ["weighted", "distributed"].contains(&sampler),
            Self::ImageSize => {
                let word = options.dataset.split_once(':').map(|(word, _)| word);
                word.is_some_and(|word| PICTURES.contains(&word))
            }
            // Synthetic datasets have their own costs.
            Self::ExtraCost => !options.is_synthetic(),
            Self::Dataset
            | Self::BatchSize
            | Self::DropLast
            | Self::Generator
            | Self::NumWorkers
            | Self::PrefetchFactor
            | Self::PersistentWorkers
            | Self::Timeout
            | Self::Context
            | Self::InOrder
            | Self::CollateFn
            | Self::PinMemory
            | Self::Epochs
            | Self::Step
            | Self::OnError => true,
        }
    }
}

/// Returns the rows that differ.
pub fn changed(from: &RunOptions, to: &RunOptions) -> Vec<Field> {
    let all = Field::ALL.iter().copied();
    all.filter(|field| !field.is_same(from, to)).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Collate, OnError, PinMemory};

    use super::*;

    #[test]
    fn a_row_is_found_by_its_option_names() {
        assert_eq!(Field::of_option("global_seed"), Some(Field::Generator));
        assert_eq!(Field::of_option("generator"), Some(Field::Generator));
        assert_eq!(Field::of_option("num_wrokers"), None);
        for field in Field::ALL {
            assert_eq!(Field::of_option(field.option()), Some(*field));
        }
    }

    #[test]
    fn options_without_effect_have_no_row() {
        let of = |dataset: &str, sampler: &str| RunOptions {
            dataset: dataset.to_owned(),
            sampler: sampler.to_owned(),
            ..RunOptions::default()
        };
        let map = of("synthetic:len=8", "");
        assert!(Field::Shuffle.has_row(&map) && !Field::SetEpoch.has_row(&map));
        for text in ["stream:len=8", " stream:len=8"] {
            let stream = of(text, "");
            assert!(!Field::Shuffle.has_row(&stream) && !Field::Sampler.has_row(&stream));
            assert!(!Field::Rank.has_row(&stream) && !Field::ExtraCost.has_row(&stream));
        }
        let shared = of("webdataset:a.tar", "");
        assert!(Field::Rank.has_row(&shared) && Field::ExtraCost.has_row(&shared));
        let random = of("synthetic:len=8", "random");
        assert!(!Field::Shuffle.has_row(&random) && Field::Replacement.has_row(&random));
        let ranks = of("synthetic:len=8", "distributed");
        assert!(Field::SetEpoch.has_row(&ranks) && Field::SamplerDropLast.has_row(&ranks));
        let equi = of("synthetic:len=8", "equi:labels");
        assert!(Field::SetEpoch.has_row(&equi) && !Field::SamplerDropLast.has_row(&equi));
        let folder = of("folder:/data", "");
        assert!(Field::ImageSize.has_row(&folder) && Field::ExtraCost.has_row(&folder));
        assert!(!Field::ImageSize.has_row(&map) && !Field::ExtraCost.has_row(&map));
    }

    /// A new option must be part of a row, otherwise its changes are not detected.
    #[test]
    fn every_option_belongs_to_a_field() {
        let plain = RunOptions::default();
        let other = RunOptions {
            dataset: "synthetic".to_owned(),
            image_size: 1,
            extra_cost: "cost_ms=1".to_owned(),
            batch_size: None,
            shuffle: true,
            sampler: "random".to_owned(),
            replacement: true,
            num_samples: Some(1),
            world_size: 3,
            rank: 2,
            sampler_drop_last: true,
            set_epoch: false,
            seed: Some(1),
            global_seed: Some(2),
            num_workers: 1,
            prefetch_factor: Some(1),
            drop_last: true,
            collate: Collate::List,
            in_order: false,
            pin_memory: PinMemory::On,
            persistent_workers: true,
            timeout: 1.0,
            multiprocessing_context: "spawn".to_owned(),
            epochs: 2,
            step_ms: 1.0,
            on_error: OnError::Skip,
        };
        assert_eq!(changed(&plain, &other), Field::ALL);
        let mut copy = plain.clone();
        for field in Field::ALL {
            field.copy(&other, &mut copy);
        }
        assert_eq!(copy, other);
        assert_eq!(changed(&copy, &other), []);
    }
}
