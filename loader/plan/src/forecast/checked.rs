//! Checks of a setting against the data of a recording.

use loadscope_trace::Origin;
use loadscope_words::say;

use super::recorded::REST;
use super::{ForecastError, Recorded, Setting};
use crate::limits;

impl Recorded {
    /// Returns the setting of the recording.
    pub fn setting(&self) -> Setting {
        Setting {
            pin_memory: self.pinned,
            ..Setting::of(&self.options)
        }
    }

    /// Returns true if `setting` splits the work among another number of workers than the recording. No workers count as one.
    pub(super) fn changes_workers(&self, setting: &Setting) -> bool {
        setting.num_workers.max(1) != self.options.num_workers.max(1)
    }

    /// Returns true if the split of a stream among workers is assumed. PyTorch's documentation asks programs to split an iterable-style
    /// dataset among their workers, and the forecast notes this assumption. For the engine's own streams the split is known.
    pub(super) fn may_divide(&self) -> bool {
        matches!(self.origin, Origin::Pytorch(_))
    }

    /// Returns the setting with values that can be simulated.
    pub(super) fn checked(&self, setting: &Setting) -> Result<Setting, ForecastError> {
        let mut setting = setting.clone();
        let refuse = |text: &str| Err(ForecastError(text.to_owned()));
        if setting.num_workers > limits::WORKERS {
            return Err(ForecastError(limits::too_much(
                "num_workers",
                limits::grouped(limits::WORKERS as u64),
                setting.num_workers,
                say!("Choose fewer workers."),
            )));
        }
        if setting.num_workers > 0 && setting.prefetch_factor == 0 {
            return refuse("prefetch_factor must be greater than 0");
        }
        // The prefetch factor counts batches, and an epoch has no more batches than samples.
        setting.prefetch_factor = setting.prefetch_factor.clamp(1, self.samples.len().max(1));
        if setting.batch_size == Some(0) {
            return refuse("batch_size should be a positive integer value, but got batch_size=0");
        }
        if setting.cores == Some(0) {
            return refuse(say!("cores must be at least 1"));
        }
        if setting.num_workers == 0 {
            // PyTorch refuses persistent_workers without workers. Here it has no effect.
            setting.persistent_workers = false;
        }
        if setting.pin_memory && !self.pinned {
            return refuse(say!(
                "the recording has no pinning times. Record a run with pin_memory=True."
            ));
        }
        if self.streams && !self.may_divide() && self.changes_workers(&setting) {
            return refuse(say!(
                "the recording does not show how another number of workers would split this iterable-style dataset. Record a run with that many workers."
            ));
        }
        if self.is_repeated && self.changes_workers(&setting) {
            return refuse(say!(
                "every worker yields the whole stream, so another number of workers changes the number of batches"
            ));
        }
        let is_unknown = |stage: &str| stage != REST && self.stage(stage).is_none();
        if let Some((stage, _)) = setting.faster.iter().find(|(s, _)| is_unknown(s)) {
            let names = self.named_parts();
            let known = match names.is_empty() {
                true => say!("Its only stage is rest, the whole sample. Name other stages with loadscope.stage(\"decode\").").to_owned(),
                false => say!("Its stages are {}.", [&names[..], &[REST]].concat().join(", ")),
            };
            return Err(ForecastError(say!(
                "the recording has no stage {stage}. {known}"
            )));
        }
        Ok(setting)
    }
}
