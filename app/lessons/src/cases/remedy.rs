//! Remedies that a learner can choose.

use loadscope_plan::forecast::Setting;
use loadscope_trace::{OnError, PinMemory, RunOptions};

use loadscope_words::Language;

/// A change that may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Remedy {
    /// `num_workers=N`
    Workers(usize),
    /// `prefetch_factor=N`
    Prefetch(usize),
    /// `in_order=False`
    AnyOrder,
    /// `persistent_workers=True`
    KeepWorkers,
    /// `pin_memory=True`
    Pin,
    /// The workers split the stream with `get_worker_info()`.
    ShareStream,
    /// `sampler.set_epoch(epoch)`
    SetEpoch,
    /// The loop catches errors and continues.
    CatchErrors,
    /// No change.
    Nothing,
}

impl Remedy {
    /// Returns the translated name. PyTorch's names are the same in every language.
    pub fn label(self, language: Language) -> String {
        let of = |en: &str, zh: &str| match language {
            Language::En => en.to_owned(),
            Language::Zh => zh.to_owned(),
        };
        match self {
            Self::Workers(count) => format!("num_workers={count}"),
            Self::Prefetch(factor) => format!("prefetch_factor={factor}"),
            Self::AnyOrder => "in_order=False".to_owned(),
            Self::KeepWorkers => "persistent_workers=True".to_owned(),
            Self::Pin => "pin_memory=True".to_owned(),
            Self::ShareStream => of(
                "Split the stream with get_worker_info()",
                "用 get_worker_info() 分担数据流",
            ),
            Self::SetEpoch => of(
                "Call sampler.set_epoch(epoch) before each epoch",
                "在每一轮之前调用 sampler.set_epoch(epoch)",
            ),
            Self::CatchErrors => of(
                "Catch the error in the loop and go on",
                "在循环中捕获错误并继续",
            ),
            Self::Nothing => of("Leave everything as it is", "保持不变"),
        }
    }

    /// Changes the options of a run. Returns false if the remedy is not applicable.
    pub(super) fn apply(self, options: &mut RunOptions) -> bool {
        let before = options.clone();
        match self {
            Self::Workers(count) => options.num_workers = count,
            Self::Prefetch(factor) if options.num_workers > 0 => {
                options.prefetch_factor = Some(factor)
            }
            Self::AnyOrder if options.num_workers > 1 => options.in_order = false,
            Self::KeepWorkers if options.num_workers > 0 => options.persistent_workers = true,
            Self::Pin => options.pin_memory = PinMemory::On,
            Self::ShareStream if options.is_stream() && !options.dataset.contains("shard") => {
                options.dataset.push_str(",shard=true");
            }
            Self::SetEpoch if options.sampler == "distributed" => options.set_epoch = true,
            Self::CatchErrors => options.on_error = OnError::Continue,
            Self::Nothing => return true,
            Self::Prefetch(_)
            | Self::AnyOrder
            | Self::KeepWorkers
            | Self::ShareStream
            | Self::SetEpoch => {
                return false;
            }
        }
        *options != before
    }

    /// Changes the setting of a forecast. Returns false if the remedy cannot be forecast.
    pub(super) fn set(self, setting: &mut Setting) -> bool {
        let before = setting.clone();
        match self {
            Self::Workers(count) => setting.num_workers = count,
            Self::Prefetch(factor) if setting.num_workers > 0 => setting.prefetch_factor = factor,
            Self::AnyOrder if setting.num_workers > 1 => setting.in_order = false,
            Self::KeepWorkers if setting.num_workers > 0 => setting.persistent_workers = true,
            Self::Pin => setting.pin_memory = true,
            Self::Nothing => return true,
            Self::Prefetch(_)
            | Self::AnyOrder
            | Self::KeepWorkers
            | Self::ShareStream
            | Self::SetEpoch
            | Self::CatchErrors => return false,
        }
        *setting != before
    }
}
