//! Predictions of the samplers: future epochs, other ranks, and classes of samples.

use loadscope_plan::error::LoaderError;
pub use loadscope_plan::order::{EpochOrder, SampleMetadata};
use loadscope_plan::order::{Samples, each_epoch, sample_metadata, samples_of_dataset};
use loadscope_trace::RunOptions;

use crate::Datasets;

/// Calls `each` with epochs 0 to `epoch` of these options, until it returns false.
///
/// # Errors
/// If the engine rejects the options.
pub fn epochs(
    options: &RunOptions,
    epoch: u32,
    datasets: Datasets,
    each: &mut dyn FnMut(EpochOrder) -> bool,
) -> Result<(), LoaderError> {
    let options = RunOptions {
        epochs: epoch.saturating_add(1),
        ..seeded(options)
    };
    let samples = samples_of_dataset(&options, datasets.0)?;
    each_epoch(&options, &samples, each).map(|_| ())
}

/// Sets a fixed seed if there is none. An unseeded loader draws from the generator of the process.
/// A prediction is then one of all possible orders. It must not consume the run's random numbers, and it must be stable.
fn seeded(options: &RunOptions) -> RunOptions {
    let mut options = options.clone();
    if options.seed.is_none() && options.global_seed.is_none() {
        options.global_seed = Some(0);
    }
    // A rank whose sampler does not split the samples has the order of a single process.
    let (kind, _) = options
        .sampler
        .split_once(':')
        .unwrap_or((&options.sampler, ""));
    if !matches!(kind, "distributed" | "weighted" | "equi") {
        (options.world_size, options.rank) = (1, 0);
    }
    options
}

/// Calls `each` with the order of each rank in `epoch`, until it returns false. Only samplers that split samples have ranks.
/// Epochs are drawn in sequence, as in a run.
///
/// # Errors
/// If the engine rejects the options.
pub fn ranks(
    options: &RunOptions,
    epoch: u32,
    datasets: Datasets,
    each: &mut dyn FnMut(u32, EpochOrder) -> bool,
) -> Result<(), LoaderError> {
    let samples = samples_of_dataset(options, datasets.0)?;
    if matches!(samples, Samples::Streams(_)) {
        return Ok(());
    }
    let options = seeded(options);
    for rank in 0..options.world_size {
        let options = RunOptions {
            rank,
            epochs: epoch.saturating_add(1),
            ..options.clone()
        };
        let mut more = true;
        let mut last = |order: EpochOrder| {
            if order.epoch == epoch {
                more = each(rank, order);
            }
            more
        };
        each_epoch(&options, &samples, &mut last)?;
        if !more {
            break;
        }
    }
    Ok(())
}

/// Returns the number of samples of the dataset. Returns `None` for a stream, or if the dataset cannot be opened.
pub fn len(options: &RunOptions, datasets: Datasets) -> Option<u64> {
    match samples_of_dataset(options, datasets.0) {
        Ok(Samples::Map(len)) => Some(len as u64),
        Ok(Samples::Known(table)) => Some(table.len as u64),
        Ok(Samples::Streams(_)) | Err(_) => None,
    }
}

/// Returns the known facts about the samples of the dataset.
///
/// # Errors
/// If the engine rejects the options.
pub fn known(options: &RunOptions, datasets: Datasets) -> Result<SampleMetadata, LoaderError> {
    sample_metadata(options, datasets.0)
}
