//! The options of a run as a person sees them: one a row of the options panel.

use loadscope_trace::RunOptions;

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $name:literal [$($part:ident)+];)+) => {
        /// An option, as one row of the options panel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field {
            $($(#[$doc])* $field,)+
        }

        impl Field {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$field),+];

            /// Its name: PyTorch's, where PyTorch has one.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)+
                }
            }

            /// The first of the options that it stands for, by its name in `RunOptions`.
            pub fn option(self) -> &'static str {
                match self {
                    $(Self::$field => [$(stringify!($part)),+][0],)+
                }
            }

            /// The row of an option, by its name in `RunOptions` or by its own.
            pub fn of_option(name: &str) -> Option<Self> {
                $(
                    if name == $name $(|| name == stringify!($part))+ {
                        return Some(Self::$field);
                    }
                )+
                None
            }

            /// True if it is the same in both.
            pub fn is_same(self, a: &RunOptions, b: &RunOptions) -> bool {
                match self {
                    $(Self::$field => $(a.$part == b.$part)&&+,)+
                }
            }

            /// Takes it over.
            pub fn copy(self, from: &RunOptions, to: &mut RunOptions) {
                match self {
                    $(Self::$field => { $(to.$part.clone_from(&from.$part);)+ })+
                }
            }
        }
    };
}

fields! {
    /// What is loaded.
    Dataset "dataset" [dataset];
    /// The size that pictures get.
    ImageSize "image_size" [image_size];
    /// Time and faults that are added.
    ExtraCost "extra_cost" [extra_cost];
    /// Samples of a batch.
    BatchSize "batch_size" [batch_size];
    /// Without a last batch that is not full.
    DropLast "drop_last" [drop_last];
    /// A random order.
    Shuffle "shuffle" [shuffle];
    /// Another order.
    Sampler "sampler" [sampler];
    /// With replacement.
    Replacement "replacement" [replacement];
    /// How much is drawn.
    NumSamples "num_samples" [num_samples];
    /// How many ranks there are.
    NumReplicas "num_replicas" [world_size];
    /// Which of them this is.
    Rank "rank" [rank];
    /// Without a tail, instead of padding.
    SamplerDropLast "sampler_drop_last" [sampler_drop_last];
    /// The sampler knows the epoch.
    SetEpoch "set_epoch" [set_epoch];
    /// Seeds.
    Generator "generator" [seed global_seed];
    /// How many workers there are.
    NumWorkers "num_workers" [num_workers];
    /// Batches in flight per worker.
    PrefetchFactor "prefetch_factor" [prefetch_factor];
    /// Workers that outlive an epoch.
    PersistentWorkers "persistent_workers" [persistent_workers];
    /// The longest wait.
    Timeout "timeout" [timeout];
    /// How Python starts processes.
    Context "multiprocessing_context" [multiprocessing_context];
    /// In the order of the sampler.
    InOrder "in_order" [in_order];
    /// How samples become a batch.
    CollateFn "collate_fn" [collate];
    /// Page-locked memory.
    PinMemory "pin_memory" [pin_memory];
    /// Passes over the dataset.
    Epochs "epochs" [epochs];
    /// How long a training step takes.
    Step "step" [step_ms];
    /// What a sample that fails does.
    OnError "on_error" [on_error];
}

/// Datasets that may hold pictures, by the word in front of the colon.
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

/// The sampler without its file or column.
fn sampler(options: &RunOptions) -> &str {
    let name = options.sampler.split_once(':');
    name.map_or(options.sampler.as_str(), |(name, _)| name)
}

impl Field {
    /// True if the options panel has a row for it: what other options leave without effect has none.
    pub fn has_row(self, options: &RunOptions) -> bool {
        let is_stream = options.is_stream();
        let sampler = sampler(options);
        // Streams of data are shared among ranks, those that are made up are not.
        let has_ranks = match is_stream {
            true => !options.dataset.starts_with("stream"),
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
            // Those that are made up have costs of their own.
            Self::ExtraCost => {
                let made_up = ["synthetic", "stream"];
                !made_up.iter().any(|word| options.dataset.starts_with(word))
            }
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

/// The options that differ.
pub fn changed(from: &RunOptions, to: &RunOptions) -> Vec<Field> {
    let all = Field::ALL.iter().copied();
    all.filter(|field| !field.is_same(from, to)).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Collate, OnError, PinMemory};

    use super::*;

    #[test]
    fn a_row_is_found_by_the_options_that_it_stands_for() {
        assert_eq!(Field::of_option("global_seed"), Some(Field::Generator));
        assert_eq!(Field::of_option("generator"), Some(Field::Generator));
        assert_eq!(Field::of_option("num_wrokers"), None);
        for field in Field::ALL {
            assert_eq!(Field::of_option(field.option()), Some(*field));
        }
    }

    #[test]
    fn what_has_no_effect_has_no_row() {
        let of = |dataset: &str, sampler: &str| RunOptions {
            dataset: dataset.to_owned(),
            sampler: sampler.to_owned(),
            ..RunOptions::default()
        };
        let map = of("synthetic:len=8", "");
        assert!(Field::Shuffle.has_row(&map) && !Field::SetEpoch.has_row(&map));
        let stream = of("stream:len=8", "");
        assert!(!Field::Shuffle.has_row(&stream) && !Field::Sampler.has_row(&stream));
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

    /// An option that is new has to get its row here, or a change of it would not be seen.
    #[test]
    fn every_option_is_a_field() {
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
