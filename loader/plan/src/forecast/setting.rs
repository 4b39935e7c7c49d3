//! What is to be different.

use loadscope_trace::Nanos;

use super::{Recorded, Refusal};
use crate::limits;

/// How the same samples are to be loaded, under PyTorch's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// 0: the trainer fetches by itself.
    pub num_workers: usize,
    /// Batches in flight per worker; without workers it has no effect.
    pub prefetch_factor: usize,
    /// Samples a batch; `None`: samples are handed out as they are.
    pub batch_size: Option<usize>,
    /// Hand batches out in the order of the sampler.
    pub in_order: bool,
    /// Keep the workers alive between epochs.
    pub persistent_workers: bool,
    /// Pin batches.
    pub pin_memory: bool,
    /// What every training step takes; `None`: what was recorded.
    pub step: Option<Nanos>,
    /// Cores that the loader has; `None`: those of the machine of the recording.
    pub cores: Option<usize>,
    /// Share of the samples that come from a cache and cost nothing, 0 to 1.
    pub cache: f64,
    /// Named stages of the samples that take only 1/n of their time.
    pub faster: Vec<(String, f64)>,
    /// Share of a training step that computes on a core; the rest needs none (a GPU, say).
    pub trainer_cpu: f64,
}

impl Setting {
    /// The keys of [`Setting::set`].
    pub const KEYS: &str = "num_workers, prefetch_factor, batch_size, in_order, persistent_workers, pin_memory, step_ms, \
                            cores, cache (share of the samples, 0.8), faster (stage:factor, decode:2), \
                            trainer_cpu (share of a step, 0.5)";

    /// Changes what `text` says: `key=value`, a key of [`Setting::KEYS`].
    ///
    /// # Errors
    /// If it is not understood.
    pub fn set(&mut self, text: &str) -> Result<(), Refusal> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(Refusal(format!(
                "'{text}' is not of the form key=value. Keys are {}",
                Self::KEYS
            )));
        };
        let (key, value) = (key.trim(), value.trim());
        let wrong = |what: &str| Refusal(format!("{key}={value}: {what}"));
        let whole = || {
            value
                .parse::<usize>()
                .map_err(|_| wrong("a whole number is expected"))
        };
        let flag = || match value.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(wrong("true or false is expected")),
        };
        let share = || {
            let share = match value.strip_suffix('%') {
                Some(percent) => percent.trim().parse::<f64>().map(|p| p / 100.0),
                None => value.parse::<f64>(),
            };
            let share = share.ok().filter(|s| (0.0..=1.0).contains(s));
            share.ok_or_else(|| wrong("a share from 0 to 1 is expected"))
        };
        match key {
            "num_workers" => self.num_workers = whole()?,
            "prefetch_factor" => self.prefetch_factor = whole()?,
            "batch_size" if value.eq_ignore_ascii_case("none") => self.batch_size = None,
            "batch_size" => self.batch_size = Some(whole()?),
            "in_order" => self.in_order = flag()?,
            "persistent_workers" => self.persistent_workers = flag()?,
            "pin_memory" => self.pin_memory = flag()?,
            "step_ms" => {
                let ms = value.parse().ok().filter(|ms| (0.0..=3.6e6).contains(ms));
                let ms: f64 =
                    ms.ok_or_else(|| wrong("milliseconds from 0 to 3,600,000 are expected"))?;
                self.step = Some(Nanos::from_secs_f64(ms / 1e3));
            }
            "cores" => self.cores = Some(whole()?),
            "cache" => self.cache = share()?,
            "trainer_cpu" => self.trainer_cpu = share()?,
            "faster" => {
                let parsed = value.rsplit_once(':').and_then(|(stage, factor)| {
                    let factor = factor.trim_end_matches(['x', '×']).parse::<f64>().ok()?;
                    (factor.is_finite() && factor > 0.0).then(|| (stage.to_owned(), factor))
                });
                let wanted = "a named stage and a factor are expected, as in faster=decode:2";
                self.faster.push(parsed.ok_or_else(|| wrong(wanted))?);
            }
            _ => {
                return Err(Refusal(format!(
                    "there is no {key}. Keys are {}",
                    Self::KEYS
                )));
            }
        }
        Ok(())
    }

    /// True if workers end with each epoch, and start anew for the next.
    pub(super) fn ends_workers(&self) -> bool {
        self.num_workers > 0 && !self.persistent_workers
    }

    /// What differs from `other`, as `key=value`, in the words of PyTorch where it has some.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let truth = |yes: bool| if yes { "True" } else { "False" };
        let mut out = Vec::new();
        let mut say = |differs: bool, text: String| {
            if differs {
                out.push(text);
            }
        };
        say(
            self.num_workers != other.num_workers,
            format!("num_workers={}", self.num_workers),
        );
        say(
            self.num_workers > 0 && self.prefetch_factor != other.prefetch_factor,
            format!("prefetch_factor={}", self.prefetch_factor),
        );
        let size = self.batch_size.map_or("None".to_owned(), |n| n.to_string());
        say(
            self.batch_size != other.batch_size,
            format!("batch_size={size}"),
        );
        say(
            self.in_order != other.in_order,
            format!("in_order={}", truth(self.in_order)),
        );
        say(
            self.persistent_workers != other.persistent_workers,
            format!("persistent_workers={}", truth(self.persistent_workers)),
        );
        say(
            self.pin_memory != other.pin_memory,
            format!("pin_memory={}", truth(self.pin_memory)),
        );
        if let Some(step) = self.step.filter(|_| self.step != other.step) {
            say(true, format!("a step of {step}"));
        }
        if let Some(cores) = self.cores.filter(|_| self.cores != other.cores) {
            say(true, format!("{cores} cores"));
        }
        say(
            self.cache != other.cache,
            format!(
                "{:.0}\u{2009}% of the samples from a cache",
                self.cache * 100.0
            ),
        );
        for (stage, factor) in &self.faster {
            say(true, format!("{stage} {factor}× as fast"));
        }
        out
    }
}

impl Recorded {
    /// How it was recorded.
    pub fn setting(&self) -> Setting {
        let o = &self.options;
        Setting {
            num_workers: o.num_workers,
            prefetch_factor: o.prefetch_factor.unwrap_or(2).max(1),
            batch_size: o.batch_size,
            in_order: o.in_order,
            persistent_workers: o.persistent_workers,
            pin_memory: self.pinned,
            step: None,
            cores: None,
            cache: 0.0,
            faster: Vec::new(),
            trainer_cpu: 0.0,
        }
    }

    /// The setting as it can be simulated.
    pub(super) fn checked(&self, setting: &Setting) -> Result<Setting, Refusal> {
        let mut setting = setting.clone();
        let refuse = |text: &str| Err(Refusal(text.to_owned()));
        if setting.num_workers > limits::WORKERS {
            return Err(Refusal(limits::too_much(
                "num_workers",
                limits::grouped(limits::WORKERS as u64),
                setting.num_workers,
                "ask for fewer workers",
            )));
        }
        if setting.num_workers > 0 && setting.prefetch_factor == 0 {
            return refuse("prefetch_factor must be greater than 0");
        }
        // It counts batches, of which there are no more than samples.
        setting.prefetch_factor = setting.prefetch_factor.clamp(1, self.samples.len().max(1));
        if setting.batch_size == Some(0) {
            return refuse("batch_size should be a positive integer value, but got batch_size=0");
        }
        if setting.cores == Some(0) {
            return refuse("there is at least one core");
        }
        if setting.num_workers == 0 {
            // PyTorch refuses it together with no workers; here it merely has no effect.
            setting.persistent_workers = false;
        }
        if setting.pin_memory && !self.pinned {
            return refuse(
                "the recording does not tell what pinning takes, because it was made without. Record a run with \
                 pin_memory=True",
            );
        }
        if self.streams && setting.num_workers.max(1) != self.options.num_workers.max(1) {
            return refuse(
                "the samples come from a stream, and how another number of workers would share it is not recorded. \
                 Record a run with that many workers",
            );
        }
        if let Some((stage, _)) = (setting.faster.iter()).find(|(s, _)| self.stage(s).is_none()) {
            let known = match self.stages.is_empty() {
                true => "The data set names no stages".to_owned(),
                false => format!("Its stages are {}", self.stage_names().join(", ")),
            };
            return Err(Refusal(format!(
                "the recording knows no stage {stage}. {known}"
            )));
        }
        Ok(setting)
    }
}
