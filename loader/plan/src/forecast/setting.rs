//! Settings of a forecast.

use loadscope_diagnose::Change;
use loadscope_trace::{Nanos, PinMemory, RunOptions};
use loadscope_words::{Text, say, text};

use super::ForecastError;
use crate::keyvalue::{Key, KeySet, KeyValue, ValueError, flag, real, whole};
use crate::limits;

/// Setting under which the same samples are loaded. Fields have PyTorch's names.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Number of worker processes. 0: the main process fetches.
    pub num_workers: usize,
    /// Batches in flight per worker. It has no effect without workers.
    pub prefetch_factor: usize,
    /// Samples per batch. `None`: no batching.
    pub batch_size: Option<usize>,
    /// Yields batches in the order of the sampler.
    pub in_order: bool,
    /// Keeps the workers alive between epochs.
    pub persistent_workers: bool,
    /// Pins batches.
    pub pin_memory: bool,
    /// Time of each training step. `None`: as recorded.
    pub step: Option<Nanos>,
    /// Cores for the loader. `None`: as recorded.
    pub cores: Option<usize>,
    /// Share of the samples that come from a cache at no cost, 0 to 1.
    pub cache: f64,
    /// Speedup factors by stage or line of code. `rest` is the time outside all stages.
    pub faster: Vec<(String, f64)>,
    /// Computing share of a training step. The rest needs no core, as on a GPU. `None`: as recorded.
    pub trainer_cpu: Option<f64>,
}

const KEYS: [Key; 11] = [
    Key::once("num_workers", Text::same("num_workers=4")),
    Key::once("prefetch_factor", Text::same("prefetch_factor=2")),
    Key::once("batch_size", text!("batch_size=32 (or none)")),
    Key::once("in_order", Text::same("in_order=false")),
    Key::once("persistent_workers", Text::same("persistent_workers=true")),
    Key::once("pin_memory", Text::same("pin_memory=true")),
    Key::once("step_ms", Text::same("step_ms=20")),
    Key::once("cores", Text::same("cores=8")),
    Key::once("cache", text!("cache=0.8 (share of samples)")),
    Key::repeated(
        "faster",
        text!("faster=rest:2 (a stage, a hot line such as dataset.py:42, or rest, and a factor)"),
    ),
    Key::once("trainer_cpu", text!("trainer_cpu=0.5 (share of a step)")),
];

impl Setting {
    /// Returns the setting of these options.
    pub fn of(options: &RunOptions) -> Self {
        Self {
            num_workers: options.num_workers,
            prefetch_factor: options.prefetch_factor.unwrap_or(2).max(1),
            batch_size: options.batch_size,
            in_order: options.in_order,
            persistent_workers: options.persistent_workers,
            pin_memory: options.pin_memory != PinMemory::Off,
            step: None,
            cores: None,
            cache: 0.0,
            faster: Vec::new(),
            trainer_cpu: None,
        }
    }

    /// Applies a change of the form `key=value`.
    ///
    /// # Errors
    /// If the text is invalid.
    pub fn set(&mut self, text: &str) -> Result<(), ForecastError> {
        self.set_all([text]).map(drop)
    }

    /// Applies changes of the form `key=value` and returns their keys.
    ///
    /// # Errors
    /// If a text is invalid or contradicts another.
    pub fn set_all<'a>(
        &mut self,
        texts: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<&'static str>, ForecastError> {
        let key_set = KeySet::new(KEYS);
        let read = key_set.read_all(texts).and_then(|all| {
            all.iter()
                .map(|given| match self.change(given) {
                    Ok(()) => Ok(given.key),
                    Err(wrong) => Err(given.error(wrong)),
                })
                .collect()
        });
        read.map_err(|mistake| ForecastError(key_set.sentence(&mistake)))
    }

    fn change(&mut self, given: &KeyValue<'_>) -> Result<(), ValueError> {
        let value = given.value;
        let count = || whole(value, 0..=usize::MAX);
        match given.key {
            "num_workers" => self.num_workers = count()?,
            "prefetch_factor" => self.prefetch_factor = count()?,
            "batch_size" if value.eq_ignore_ascii_case("none") => self.batch_size = None,
            "batch_size" => self.batch_size = Some(count()?),
            "in_order" => self.in_order = flag(value)?,
            "persistent_workers" => self.persistent_workers = flag(value)?,
            "pin_memory" => self.pin_memory = flag(value)?,
            "step_ms" => {
                let ms = real(value, 0.0..=limits::STEP_MS)?;
                self.step = Some(Nanos::from_secs_f64(ms / 1e3));
            }
            "cores" => self.cores = Some(count()?),
            "cache" => self.cache = share(value)?,
            "trainer_cpu" => self.trainer_cpu = Some(share(value)?),
            "faster" => self.faster.push(faster(value)?),
            other => return Err(ValueError::Other(say!("{other} is not part of a setting"))),
        }
        Ok(())
    }

    /// Returns true if workers end with each epoch and start again in the next.
    pub(super) fn ends_workers(&self) -> bool {
        self.num_workers > 0 && !self.persistent_workers
    }

    /// Returns the `DataLoader` arguments that differ from `other`.
    pub fn changes(&self, other: &Self) -> Vec<Change> {
        let all = [
            (
                self.num_workers != other.num_workers,
                Change::NumWorkers(self.num_workers),
            ),
            (
                self.num_workers > 0 && self.prefetch_factor != other.prefetch_factor,
                Change::PrefetchFactor(self.prefetch_factor),
            ),
            (
                self.in_order != other.in_order,
                Change::InOrder(self.in_order),
            ),
            (
                self.persistent_workers != other.persistent_workers,
                Change::PersistentWorkers(self.persistent_workers),
            ),
            (
                self.pin_memory != other.pin_memory,
                Change::PinMemory(self.pin_memory),
            ),
        ];
        let changed = all.into_iter().filter(|(differs, _)| *differs);
        changed.map(|(_, change)| change).collect()
    }

    /// Returns the differences from `other` as `key=value`, with PyTorch's names where they exist.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut out: Vec<String> = self.changes(other).iter().map(Change::to_string).collect();
        let mut say = |differs: bool, text: String| {
            if differs {
                out.push(text);
            }
        };
        let size = self.batch_size.map_or("None".to_owned(), |n| n.to_string());
        say(
            self.batch_size != other.batch_size,
            format!("batch_size={size}"),
        );
        if let Some(step) = self.step.filter(|_| self.step != other.step) {
            say(true, say!("a step of {step}"));
        }
        if let Some(cores) = self.cores.filter(|_| self.cores != other.cores) {
            say(true, say!("{cores} cores"));
        }
        say(
            self.cache != other.cache,
            say!(
                "{:.0}\u{2009}% of samples served from cache",
                self.cache * 100.0
            ),
        );
        if let Some(share) = self
            .trainer_cpu
            .filter(|_| self.trainer_cpu != other.trainer_cpu)
        {
            let share = share * 100.0;
            say(true, say!("{share:.0}\u{2009}% of a step on a CPU core"));
        }
        for (stage, factor) in &self.faster {
            say(true, say!("{stage} {factor}× as fast"));
        }
        out
    }
}

/// Parses `0.8` or `80%`.
fn share(text: &str) -> Result<f64, ValueError> {
    match text.strip_suffix('%') {
        Some(percent) => Ok(real(percent.trim(), 0.0..=100.0)? / 100.0),
        None => real(text, 0.0..=1.0),
    }
}

/// Parses `decode:2`. The name of a stage may contain colons.
fn faster(text: &str) -> Result<(String, f64), ValueError> {
    let parsed = text.rsplit_once(':').and_then(|(stage, factor)| {
        let factor = real(factor.trim_end_matches(['x', '×']), ..).ok()?;
        Some((stage.to_owned(), factor))
    });
    match parsed {
        Some((_, factor)) if factor <= 0.0 => {
            Err(ValueError::other(say!("the factor must be greater than 0")))
        }
        Some(parsed) => Ok(parsed),
        None => Err(ValueError::other(say!(
            "expected a named stage and a factor"
        ))),
    }
}
