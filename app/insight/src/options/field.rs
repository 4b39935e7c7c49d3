//! The options of a run as a person sees them: one a row of the options panel.

use loadscope_trace::RunOptions;

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident $name:literal [$($part:ident)+];)+) => {
        /// An option, as one row of the options panel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The options that differ.
pub fn changed(from: &RunOptions, to: &RunOptions) -> Vec<Field> {
    let all = Field::ALL.iter().copied();
    all.filter(|field| !field.is_same(from, to)).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{Collate, OnError, PinMemory};

    use super::*;

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
