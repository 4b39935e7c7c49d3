//! What the samplers say about orders: epochs that have not come yet, other ranks, and the classes of samples.

use loadscope_plan::error::LoaderError;
pub use loadscope_plan::order::{EpochOrder, Knowledge};
use loadscope_plan::order::{Samples, each_epoch, knowledge, samples_of_dataset};
use loadscope_trace::RunOptions;

use crate::Datasets;

/// Hands epochs 0 to `epoch` of these options to `each`, one after the other, until it returns false.
///
/// # Errors
/// As the engine refuses these options.
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

/// Without any seed a loader draws from the generator of the whole process. What is predicted is one of all possible orders
/// then; it must not draw what a run would have drawn, and it should not change while one looks at it.
fn seeded(options: &RunOptions) -> RunOptions {
    let mut options = options.clone();
    if options.seed.is_none() && options.global_seed.is_none() {
        options.global_seed = Some(0);
    }
    // A rank of a job whose sampler shares nothing has the order that it would have alone.
    let (kind, _) = options
        .sampler
        .split_once(':')
        .unwrap_or((&options.sampler, ""));
    if !matches!(kind, "distributed" | "weighted" | "equi") {
        (options.world_size, options.rank) = (1, 0);
    }
    options
}

/// Hands what each rank gets in `epoch` to `each`, until it returns false. Only samplers that share samples have ranks; they
/// are asked for one epoch after the other, as in a run.
///
/// # Errors
/// As the engine refuses these options.
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

/// Number of samples of the dataset; `None` for a stream, and if it cannot be opened.
pub fn len(options: &RunOptions, datasets: Datasets) -> Option<u64> {
    match samples_of_dataset(options, datasets.0) {
        Ok(Samples::Map(len)) => Some(len as u64),
        Ok(Samples::Known(table)) => Some(table.len as u64),
        Ok(Samples::Streams(_)) | Err(_) => None,
    }
}

/// What is known of the samples of the dataset.
///
/// # Errors
/// As the engine refuses these options.
pub fn known(options: &RunOptions, datasets: Datasets) -> Result<Knowledge, LoaderError> {
    knowledge(options, datasets.0)
}
