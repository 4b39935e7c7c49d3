//! Table of the arguments: each has its name, its fields of [`RunOptions`], and its use by all parts of Loadscope.
//!
//! A new argument needs a field of `RunOptions`, a row in this table, an option of the command line and a row of the options panel. The
//! compiler or a test names what is missing.

use loadscope_words::{Text, text};

use super::overrides::Override;
use super::value::ArgValue;
use super::{PinMemory, RunOptions};

/// Use of an argument. The methods of [`Argument`] read it.
#[derive(Clone, Copy)]
struct Spec {
    /// Value as entered.
    value: fn(&RunOptions) -> ArgValue,
    /// Value that takes effect.
    effective: fn(&RunOptions) -> ArgValue,
    /// False if other options leave the argument without effect.
    applies: fn(&RunOptions) -> bool,
    needs_workers: bool,
    is_hidden_without_effect: bool,
    is_reset_without_effect: bool,
    /// Value in the call, `None` if omitted. `None` if code around the call depends on the argument, or Python lacks it.
    call: Option<fn(&RunOptions) -> Option<ArgValue>>,
    /// Access to the override, with an example.
    overrides: Option<(Override, Text)>,
}

impl Spec {
    const fn new(value: fn(&RunOptions) -> ArgValue) -> Self {
        Self {
            value,
            effective: value,
            applies: |_| true,
            needs_workers: false,
            is_hidden_without_effect: false,
            is_reset_without_effect: false,
            call: None,
            overrides: None,
        }
    }

    const fn effective(mut self, effective: fn(&RunOptions) -> ArgValue) -> Self {
        self.effective = effective;
        self
    }

    const fn applies_if(mut self, applies: fn(&RunOptions) -> bool) -> Self {
        self.applies = applies;
        self
    }

    const fn with_workers(mut self) -> Self {
        self.needs_workers = true;
        self.applies_if(|o| o.num_workers > 0)
    }

    /// Hides the row of the argument without effect.
    const fn shown_if(mut self, applies: fn(&RunOptions) -> bool) -> Self {
        self.is_hidden_without_effect = true;
        self.applies_if(applies)
    }

    /// Resets the argument without effect to its default.
    const fn reset(mut self) -> Self {
        self.is_reset_without_effect = true;
        self
    }

    const fn call(mut self, call: fn(&RunOptions) -> Option<ArgValue>) -> Self {
        self.call = Some(call);
        self
    }

    const fn overridable(mut self, access: Override, example: Text) -> Self {
        self.overrides = Some((access, example));
        self
    }
}

macro_rules! arguments {
    ($($(#[$doc:meta])* $argument:ident $name:literal [$($field:ident)+] $spec:expr;)+) => {
        /// Argument of `DataLoader`, or option of the training loop, in the order of the options panel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Argument {
            $($(#[$doc])* $argument,)+
        }

        impl Argument {
            /// All arguments.
            pub const ALL: &[Self] = &[$(Self::$argument),+];

            /// Returns the name: PyTorch's name if PyTorch has the argument.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$argument => $name,)+
                }
            }

            /// Returns the names of its fields in [`RunOptions`].
            pub fn fields(self) -> &'static [&'static str] {
                match self {
                    $(Self::$argument => &[$(stringify!($field)),+],)+
                }
            }

            /// Returns true if the argument is equal in `a` and `b`.
            pub fn is_same(self, a: &RunOptions, b: &RunOptions) -> bool {
                match self {
                    $(Self::$argument => $(a.$field == b.$field)&&+,)+
                }
            }

            /// Copies the argument.
            pub fn copy(self, from: &RunOptions, to: &mut RunOptions) {
                match self {
                    $(Self::$argument => { $(to.$field.clone_from(&from.$field);)+ })+
                }
            }

            fn spec(self) -> Spec {
                match self {
                    $(Self::$argument => $spec,)+
                }
            }
        }
    };
}

macro_rules! access {
    ($kind:ident $field:ident) => {
        Override::$kind(|o| o.$field, |o, value| o.$field = Some(value))
    };
}

arguments! {
    /// Dataset and its own options.
    Dataset "dataset" [dataset] Spec::new(|o| o.dataset.as_str().into());
    /// Size that images are resized to.
    ImageSize "image_size" [image_size] Spec::new(|o| o.image_size.into()).shown_if(has_pictures);
    /// Added costs and faults. Synthetic datasets have their own.
    ExtraCost "extra_cost" [extra_cost]
        Spec::new(|o| o.extra_cost.as_str().into()).shown_if(|o| !o.is_synthetic()).reset();
    /// Number of samples per batch.
    BatchSize "batch_size" [batch_size] Spec::new(|o| o.batch_size.into());
    /// Drops a last batch that is not full.
    DropLast "drop_last" [drop_last]
        Spec::new(|o| o.drop_last.into()).applies_if(|o| o.batch_size.is_some()).reset()
            .call(|o| o.drop_last.then_some(true.into()));
    /// Random order.
    Shuffle "shuffle" [shuffle]
        Spec::new(|o| o.shuffle.into()).shown_if(|o| !o.is_stream() && o.sampler.is_empty()).reset();
    /// Sampler in place of `shuffle`.
    Sampler "sampler" [sampler] Spec::new(|o| o.sampler.as_str().into()).shown_if(|o| !o.is_stream()).reset();
    /// Drawing with replacement.
    Replacement "replacement" [replacement] Spec::new(|o| o.replacement.into()).shown_if(draws).reset();
    /// Number of drawn samples.
    NumSamples "num_samples" [num_samples] Spec::new(|o| o.num_samples.into()).shown_if(draws).reset();
    /// Number of ranks.
    NumReplicas "num_replicas" [world_size] Spec::new(|o| o.world_size.into()).shown_if(has_ranks).reset();
    /// Rank of this process.
    Rank "rank" [rank] Spec::new(|o| o.rank.into()).shown_if(has_ranks).reset();
    /// Drops the samples left over by an even split, without padding.
    SamplerDropLast "sampler_drop_last" [sampler_drop_last]
        Spec::new(|o| o.sampler_drop_last.into()).shown_if(|o| has_sampler(o, &["weighted", "distributed"])).reset();
    /// Calls `set_epoch` of the sampler.
    SetEpoch "set_epoch" [set_epoch] Spec::new(|o| o.set_epoch.into()).shown_if(has_ranks);
    /// Seeds of the sampler and of the default generator.
    Generator "generator" [seed global_seed] Spec::new(|o| o.seed.into());
    /// Number of workers.
    NumWorkers "num_workers" [num_workers]
        Spec::new(|o| o.num_workers.into())
            .call(|o| (o.num_workers > 0).then_some(o.num_workers.into()))
            .overridable(access!(Count num_workers), Text::same("num_workers=4"));
    /// Batches in flight per worker.
    PrefetchFactor "prefetch_factor" [prefetch_factor]
        Spec::new(|o| o.prefetch_factor.into()).effective(|o| o.prefetch().into()).with_workers().reset()
            .call(|o| o.prefetch_factor.map(Into::into))
            .overridable(access!(Count prefetch_factor), Text::same("prefetch_factor=2"));
    /// Workers that persist between epochs.
    PersistentWorkers "persistent_workers" [persistent_workers]
        Spec::new(|o| o.persistent_workers.into()).with_workers().reset()
            .call(|o| o.persistent_workers.then_some(true.into()))
            .overridable(access!(Flag persistent_workers), Text::same("persistent_workers=true"));
    /// Timeout of a batch.
    Timeout "timeout" [timeout]
        Spec::new(|o| o.timeout.into()).with_workers().reset().call(|o| (o.timeout > 0.0).then_some(o.timeout.into()));
    /// Start method of processes in Python.
    Context "multiprocessing_context" [multiprocessing_context]
        Spec::new(|o| o.multiprocessing_context.as_str().into()).with_workers().reset()
            .call(|o| Some(o.multiprocessing_context.as_str()).filter(|method| !method.is_empty()).map(Into::into))
            .overridable(
                access!(Method multiprocessing_context),
                text!("multiprocessing_context=forkserver (or fork, spawn)"),
            );
    /// Yields batches in the order of the sampler.
    InOrder "in_order" [in_order]
        Spec::new(|o| o.in_order.into()).with_workers()
            .call(|o| (!o.in_order).then_some(false.into()))
            .overridable(access!(Flag in_order), Text::same("in_order=false"));
    /// Function that creates a batch from samples.
    CollateFn "collate_fn" [collate]
        Spec::new(|o| Some(o.collate.to_string()).filter(|text| !text.is_empty()).as_deref().into())
            .call(|o| o.collate.resolve(&o.dataset).python().map(|(_, name)| ArgValue::Name(name)));
    /// Page-locked memory.
    PinMemory "pin_memory" [pin_memory]
        Spec::new(|o| o.pin_memory.python().into()).effective(|o| (o.pin_memory != PinMemory::Off).into())
            .call(|o| (o.pin_memory != PinMemory::Off).then_some(true.into()))
            .overridable(access!(Flag pin_memory), Text::same("pin_memory=true"));
    /// Number of passes over the dataset.
    Epochs "epochs" [epochs] Spec::new(|o| o.epochs.into());
    /// Duration of a training step.
    Step "step" [step_ms] Spec::new(|o| o.step_ms.into());
    /// Reaction to a failing sample.
    OnError "on_error" [on_error] Spec::new(|o| o.on_error.name().into());
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

fn has_pictures(o: &RunOptions) -> bool {
    let word = o.dataset.split_once(':').map(|(word, _)| word);
    word.is_some_and(|word| PICTURES.contains(&word))
}

/// Returns true if one of these samplers determines the order.
fn has_sampler(o: &RunOptions, names: &[&str]) -> bool {
    let name = o.sampler.split(':').next().unwrap_or_default();
    !o.is_stream() && names.contains(&name)
}

fn draws(o: &RunOptions) -> bool {
    has_sampler(o, &["random", "weighted"])
}

/// Returns true if ranks share the samples. They share streams of data, but not synthetic streams.
fn has_ranks(o: &RunOptions) -> bool {
    o.is_shared_stream() || has_sampler(o, &["weighted", "distributed", "equi", "group", "bucket"])
}

impl Argument {
    /// Arguments of the Python call in their order, without those that need code around the call.
    pub const CALL: [Self; 9] = [
        Self::NumWorkers,
        Self::PrefetchFactor,
        Self::CollateFn,
        Self::PinMemory,
        Self::DropLast,
        Self::Timeout,
        Self::PersistentWorkers,
        Self::InOrder,
        Self::Context,
    ];

    /// Arguments of a program that Loadscope can override, in the order of messages.
    pub const OVERRIDABLE: [Self; 6] = [
        Self::NumWorkers,
        Self::PrefetchFactor,
        Self::PersistentWorkers,
        Self::PinMemory,
        Self::InOrder,
        Self::Context,
    ];

    /// Arguments in the order of PyTorch's documentation.
    pub const DOCUMENTED: [Self; 14] = [
        Self::BatchSize,
        Self::Shuffle,
        Self::Sampler,
        Self::Replacement,
        Self::NumSamples,
        Self::NumWorkers,
        Self::PrefetchFactor,
        Self::CollateFn,
        Self::PinMemory,
        Self::DropLast,
        Self::Timeout,
        Self::Context,
        Self::PersistentWorkers,
        Self::InOrder,
    ];

    /// Arguments with a column in the exported table of loaders, in its order.
    pub const EXPORTED: [Self; 7] = [
        Self::BatchSize,
        Self::NumWorkers,
        Self::PrefetchFactor,
        Self::PinMemory,
        Self::PersistentWorkers,
        Self::InOrder,
        Self::DropLast,
    ];

    /// Returns the name of its first field in [`RunOptions`].
    pub fn option(self) -> &'static str {
        self.fields().first().copied().unwrap_or(self.name())
    }

    /// Returns the argument with this name, or with a field of this name.
    pub fn of_option(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter().copied();
        all.find(|one| one.name() == name || one.fields().contains(&name))
    }

    /// Returns the arguments that differ.
    pub fn changed(from: &RunOptions, to: &RunOptions) -> Vec<Self> {
        let all = Self::ALL.iter().copied();
        all.filter(|one| !one.is_same(from, to)).collect()
    }

    /// Returns the value as entered.
    pub fn value(self, options: &RunOptions) -> ArgValue {
        (self.spec().value)(options)
    }

    /// Returns the value that takes effect: with PyTorch's default, and as PyTorch has it.
    pub fn effective(self, options: &RunOptions) -> ArgValue {
        (self.spec().effective)(options)
    }

    /// Returns the value in the Python call. Returns `None` if the call omits the argument, which then has its default.
    pub fn in_call(self, options: &RunOptions) -> Option<ArgValue> {
        self.spec().call.and_then(|call| call(options))
    }

    /// Returns true if the argument has no effect without workers.
    pub fn needs_workers(self) -> bool {
        self.spec().needs_workers
    }

    /// Returns true if the options panel has a row for the argument. Some arguments without effect have none.
    pub fn has_row(self, options: &RunOptions) -> bool {
        let spec = self.spec();
        !spec.is_hidden_without_effect || (spec.applies)(options)
    }

    /// Sets arguments that other options leave without effect to their defaults, among those that `is_part` selects.
    pub fn reset_unused(options: &mut RunOptions, is_part: fn(Self) -> bool) {
        let usual = RunOptions::default();
        for one in Self::ALL.iter().filter(|one| is_part(**one)) {
            let spec = one.spec();
            if spec.is_reset_without_effect && !(spec.applies)(options) {
                one.copy(&usual, options);
            }
        }
    }

    /// Returns the access to the override. Returns `None` if the argument cannot be overridden.
    pub fn overrides(self) -> Option<Override> {
        self.spec().overrides.map(|(access, _)| access)
    }

    /// Returns an example of an override, such as `num_workers=4`.
    pub fn override_example(self) -> Option<Text> {
        self.spec().overrides.map(|(_, example)| example)
    }
}

#[cfg(test)]
mod tests;
