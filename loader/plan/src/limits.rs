//! Limits of options. The command line's help states each limit. Errors contain the value, the limit and the remedy. PyTorch's own
//! checks come first.

use std::fmt::Display;

use loadscope_trace::{ArgValue, Argument, RunOptions};
use loadscope_words::say;

use crate::error::LoaderError;
use crate::sampler::PyArg;

mod host;

pub use host::{check_memory, check_thread_address_space, check_threads};

/// Maximum number of samples of a dataset, and of indices of an epoch. A random order takes four bytes per index.
pub const SAMPLES: u64 = 1_000_000_000;
/// Maximum number of epochs.
pub const EPOCHS: u32 = 1_000_000;
/// Maximum number of batches of all epochs of a loaded run. The run keeps the events of each batch in memory.
pub const BATCHES: u64 = 20_000_000;
/// Maximum number of samples per batch.
pub const BATCH_SIZE: usize = 10_000_000;
/// Maximum number of worker threads. Each thread takes about a megabyte before it loads anything. The system may allow fewer.
pub const WORKERS: usize = 1024;
/// Maximum number of batches in flight per worker.
pub const PREFETCH: usize = 10_000;
/// Maximum number of batches in flight of all workers.
pub const WINDOW: usize = 1_000_000;
/// Maximum number of ranks that share the samples.
pub const RANKS: u32 = 1_000_000;
/// Maximum timeout for a worker, seconds: about 31 years.
pub const TIMEOUT: f64 = 1e9;
/// Maximum time of a training step, ms: one hour.
pub const STEP_MS: f64 = 3.6e6;
/// Maximum side of the square to which images are resized, pixels.
pub const IMAGE_SIZE: u32 = 4096;
/// Maximum size of a file of options, bytes.
pub const CONFIG_BYTES: u64 = 1_000_000;
/// Maximum size of a file of indices, weights or labels, bytes.
pub const SAMPLER_BYTES: u64 = 1_000_000_000;
/// Maximum number of values or labels in such a file.
pub const SAMPLER_ENTRIES: usize = 100_000_000;
/// Maximum number of classes in a file of labels. Each class has 3,000 samples per epoch by default.
pub const CLASSES: usize = 100_000;

/// Limit of an argument that is a whole number, and the remedy for a larger value.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Largest valid value.
    pub most: u64,
    /// Remedy.
    pub remedy: &'static str,
}

impl Limit {
    /// Returns the limit of an argument. Returns `None` if it has none, or none that is a whole number.
    pub fn of(argument: Argument) -> Option<Self> {
        let (most, remedy) = match argument {
            Argument::NumWorkers => (WORKERS as u64, say!("Use fewer workers.")),
            Argument::PrefetchFactor => (PREFETCH as u64, say!("Choose a smaller value.")),
            Argument::BatchSize => (BATCH_SIZE as u64, say!("Choose a smaller value.")),
            Argument::NumSamples => (SAMPLES, say!("Draw fewer samples.")),
            Argument::Epochs => (EPOCHS.into(), say!("Choose fewer epochs.")),
            Argument::NumReplicas => (RANKS.into(), say!("Choose fewer ranks.")),
            _ => return None,
        };
        Some(Self { most, remedy })
    }
}

/// Returns the error text for a value above a limit.
pub fn too_much(name: &str, most: impl Display, got: impl Display, remedy: &str) -> String {
    say!("{name} should be at most {most}, but got {name}={got}. {remedy}")
}

/// Checks limits that do not depend on the dataset.
///
/// # Errors
/// If an option exceeds its limit.
pub fn check(o: &RunOptions) -> Result<(), LoaderError> {
    at_most(o, Argument::NumWorkers)?;
    at_most(o, Argument::PrefetchFactor)?;
    if o.window() > WINDOW {
        let (window, most) = (grouped(o.window() as u64), grouped(WINDOW as u64));
        return Err(LoaderError::Spec(say!(
            "{} workers with prefetch_factor={} are {window} batches in flight, but the limit is {most}. Choose a smaller prefetch_factor or fewer workers.",
            o.num_workers,
            o.prefetch()
        )));
    }
    at_most(o, Argument::BatchSize)?;
    at_most(o, Argument::NumSamples)?;
    at_most(o, Argument::Epochs)?;
    if o.world_size == 0 {
        return Err(LoaderError::Spec(
            say!(
                "world_size should be at least 1, but got world_size=0. Omit it for a single rank."
            )
            .to_owned(),
        ));
    }
    at_most(o, Argument::NumReplicas)?;
    real(
        "timeout",
        o.timeout,
        TIMEOUT,
        "1,000,000,000 s",
        say!("Use 0 for no limit."),
    )?;
    real(
        "step_ms",
        o.step_ms,
        STEP_MS,
        say!("3,600,000 (one hour)"),
        say!("Choose a shorter step."),
    )?;
    if !(1..=IMAGE_SIZE).contains(&o.image_size) {
        return Err(LoaderError::value_error(say!(
            "image_size should be between 1 and 4,096 pixels, but got image_size={}",
            o.image_size
        )));
    }
    Ok(())
}

/// Size of an epoch, once the dataset is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Epoch {
    /// Number of batches, including tasks without an answer.
    pub batches: u64,
    /// Number of samples of all batches.
    pub samples: u64,
}

/// Checks the size of all epochs of a run. The run keeps the events of each batch in memory.
///
/// # Errors
/// If the epochs have more batches than a run keeps, or the host has not enough memory.
pub fn check_run(o: &RunOptions, epoch: Epoch) -> Result<(), LoaderError> {
    /// Measured memory of a run per batch and per sample time, bytes.
    const BATCH: u64 = 900;
    const SAMPLE: u64 = 40;
    let remedy = say!("Choose fewer epochs, a larger batch_size or fewer samples.");
    let times = u64::from(o.epochs);
    let batches = epoch.batches.saturating_mul(times);
    let all = say!(
        "{} epochs of {} batches",
        grouped(times),
        grouped(epoch.batches)
    );
    if batches > BATCHES {
        let most = grouped(BATCHES);
        return Err(LoaderError::Spec(say!(
            "a run records at most {most} batches, but {all} are {}. {remedy}",
            grouped(batches)
        )));
    }
    let samples = epoch.samples.saturating_mul(times).saturating_mul(SAMPLE);
    let bytes = batches.saturating_mul(BATCH).saturating_add(samples);
    let what = say!("recording {all} takes");
    check_memory(bytes, what, remedy)
}

/// Checks the memory of the batches in flight. `sample` is the number of bytes per sample.
///
/// # Errors
/// If the host has not enough memory.
pub fn check_in_flight(o: &RunOptions, epoch: Epoch, sample: u64) -> Result<(), LoaderError> {
    /// Overhead per sample in bytes: its index and its tensor.
    const BESIDE: u64 = 200;
    let size = (o.batch_size.unwrap_or(1) as u64).min(epoch.samples);
    // The trainer has one more batch.
    let flying = (o.window() as u64).min(epoch.batches).saturating_add(1);
    let bytes = size.saturating_mul(sample.saturating_add(BESIDE));
    let what = say!(
        "{} batches of {} samples in flight take",
        grouped(flying),
        grouped(size)
    );
    let remedy =
        say!("Choose a smaller batch_size or prefetch_factor, fewer workers or smaller samples.");
    check_memory(bytes.saturating_mul(flying), what, remedy)
}

/// Checks the number of samples of an epoch, once the dataset is known.
///
/// # Errors
/// If `count` is more than [`SAMPLES`].
pub fn check_samples(count: usize) -> Result<(), LoaderError> {
    let count = count as u64;
    if count <= SAMPLES {
        return Ok(());
    }
    Err(LoaderError::Spec(say!(
        "an epoch should have at most {} samples, but this one has {}. Choose a smaller dataset, or fewer samples.",
        grouped(SAMPLES),
        grouped(count)
    )))
}

/// Checks the limit of a whole number.
fn at_most(o: &RunOptions, argument: Argument) -> Result<(), LoaderError> {
    let (Some(limit), ArgValue::Count(got)) = (Limit::of(argument), argument.value(o)) else {
        return Ok(());
    };
    if got <= limit.most {
        return Ok(());
    }
    Err(LoaderError::Spec(too_much(
        argument.option(),
        grouped(limit.most),
        got,
        limit.remedy,
    )))
}

/// Checks a number of seconds or milliseconds.
fn real(name: &str, got: f64, most: f64, words: &str, remedy: &str) -> Result<(), LoaderError> {
    if (0.0..=most).contains(&got) {
        return Ok(());
    }
    let shown = PyArg::Float(got);
    Err(LoaderError::value_error(if got > most {
        too_much(name, words, shown, remedy)
    } else {
        say!("{name} should be a number from 0 to {words}, but got {name}={shown}")
    }))
}

/// Formats `1234567` as `1,234,567`.
pub fn grouped(count: u64) -> String {
    loadscope_trace::count(count)
}

#[cfg(test)]
mod tests;
