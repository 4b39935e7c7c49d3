//! Costs around the loading itself: transfer between processes, pinning and sampling.

use super::survey::{Kind, Waited};
use super::{Evidence, Finding, FindingId, Survey};
use crate::Cause;
use loadscope_trace::Nanos;
use loadscope_words::say;

/// Finds workers that cost more than they save: the run would be faster with `num_workers=0`.
pub(super) fn slower_than_none(survey: &Survey) -> Option<Finding> {
    /// Minimum share of the loop time that `num_workers=0` would save.
    const MIN_SAVED_SHARE: f64 = 0.05;
    /// Minimum share of the transfer between processes in the waited time.
    const MIN_TRANSFER_SHARE: f64 = 0.3;
    if survey.workers == 0 || survey.yielded == 0 {
        return None;
    }
    // The wait for the first batch of an epoch includes the start of workers.
    let later = |w: &Waited| w.kind != Kind::First;
    let in_transfer = survey.sum(|w| if later(w) { w.on_its_way } else { Nanos::ZERO });
    let waited = survey.sum(|w| if later(w) { w.took } else { Nanos::ZERO });
    if (in_transfer.0 as f64) < MIN_TRANSFER_SHARE * waited.0 as f64 {
        return None;
    }
    let made = survey.work.iter().fold(Nanos::ZERO, |sum, w| sum + *w);
    let alone = made + survey.trained;
    let saved = survey.total() - alone;
    if survey.share(saved) < MIN_SAVED_SHARE {
        return None;
    }
    let severity = survey.severity(in_transfer)?;
    let per_batch = Nanos(in_transfer.0 / survey.yielded.max(1) as i64);
    Some(Finding {
        id: FindingId::SlowerThanNone,
        text: say!(
            "Workers cost more than they save: {}. A batch takes {} to load and {} to transfer.",
            survey.format_cost(in_transfer),
            survey.mean_work,
            per_batch
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("Use num_workers=0, or larger batches to reduce the transfer cost").to_owned(),
        cost: Some(in_transfer),
    })
}

/// Finds waits for the pin thread.
pub(super) fn pinning(survey: &Survey) -> Option<Finding> {
    let time_of = |cause| survey.blame.time_of(cause).unwrap_or_default();
    // Pinning the first batch also allocates page-locked memory, which `start` covers.
    let mut cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.pinning,
    });
    // If the pin thread is the bottleneck, batches wait for it in the result queue.
    let supply = survey.mean_work.0 / survey.workers.max(1) as i64;
    if survey.pin > survey.step && survey.pin.0 > supply && cost.0 > 0 {
        cost += time_of(Cause::Returning);
    }
    let severity = survey.severity(cost)?;
    Some(Finding {
        id: FindingId::Pinning,
        text: say!(
            "Pinning is slow: {}. The pin thread takes {} per batch, a training step {}.",
            survey.format_cost(cost),
            survey.pin,
            survey.step
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("Use pin_memory=False, unless batches are copied to a GPU with non_blocking=True during the training step")
            .to_owned(),
        cost: Some(cost),
    })
}

/// Minimum mean time to draw the indices of a batch for a slow sampler: 0.3 ms.
const MIN_DRAW_TIME: Nanos = Nanos(300_000);

/// Finds a slow sampler: training waits while the main process draws indices.
pub(super) fn sampler(survey: &Survey) -> Option<Finding> {
    // At the start of an epoch, the main process draws the first batches before any loading starts. This wait is normal.
    let cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.drawing,
    });
    let each = Nanos(cost.0 / i64::try_from(survey.yielded.max(1)).unwrap_or(i64::MAX));
    if each < MIN_DRAW_TIME {
        return None;
    }
    let severity = survey.severity(cost)?;
    Some(Finding {
        id: FindingId::Sampler,
        text: say!(
            "The sampler is the bottleneck: {}. It draws the indices of a batch in {each}, which blocks the main process.",
            survey.format_cost(cost)
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("Draw all indices of an epoch at once, as a tensor, in the sampler's __iter__. Workers do not help: the sampler runs in the main process.")
            .to_owned(),
        cost: Some(cost),
    })
}
