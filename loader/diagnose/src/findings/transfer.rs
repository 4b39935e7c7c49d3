//! Finding about batches that take longer to transfer to the main process than to load.

use super::survey::{Kind, Waited};
use super::{Evidence, Finding, FindingId, Survey};
use crate::Cause;
use loadscope_trace::Nanos;
use loadscope_words::say;

/// Minimum share of the waiting in which the batch or its indices were in transit. The first waits of epochs do not count.
const MIN_SHARE: f64 = 0.3;

/// Reports slow transfer: the waited time in transit, per batch, exceeds the loading time per batch.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    if survey.workers == 0 || survey.yielded == 0 {
        return None;
    }
    let is_later = |w: &Waited| w.kind != Kind::First;
    let sum =
        |of: fn(&Waited) -> Nanos| survey.sum(|w| if is_later(w) { of(w) } else { Nanos::ZERO });
    let (cost, waited) = (sum(|w| w.on_its_way), sum(|w| w.took));
    let each = Nanos(cost.0 / i64::try_from(survey.yielded).unwrap_or(i64::MAX));
    // The workers load in parallel, so a batch arrives after the mean loading time divided by their number.
    let supply = Nanos(survey.mean_work.0 / survey.workers.max(1) as i64);
    if (cost.0 as f64) < MIN_SHARE * waited.0 as f64 || each <= supply {
        return None;
    }
    let severity = survey.severity(cost)?;
    Some(Finding {
        id: FindingId::SlowTransfer,
        text: say!(
            "The transfer of batches is slow: {}. It takes {each} per batch, and loading takes {supply} with {} workers.",
            survey.format_cost(cost),
            survey.workers
        ),
        severity,
        evidence: Evidence::Run,
        remedy: match survey.blame.main().map(|(cause, _)| cause) {
            Some(Cause::IndexQueue) => say!("Use larger batches, so that fewer are sent"),
            _ => say!("Use larger batches, or return fewer and larger tensors per sample: each tensor is sent on its own"),
        }
        .to_owned(),
        cost: Some(cost),
    })
}
