//! What is not reading: handing over, pinning, drawing indices.

use super::survey::{Kind, Waited};
use super::{Evidence, Finding, FindingId, Severity, Survey};
use crate::Cause;
use loadscope_trace::Nanos;
use loadscope_words::say;

/// Handing batches over takes longer than making them, so that the trainer alone would be faster.
pub(super) fn slower_than_none(survey: &Survey) -> Option<Finding> {
    /// Alone must save at least this share.
    const SAVES: f64 = 0.05;
    /// So much of the waiting is for batches on their way.
    const ON_THEIR_WAY: f64 = 0.3;
    if survey.workers == 0 || survey.yielded == 0 {
        return None;
    }
    // How a run or an epoch begins says nothing of the way.
    let later = |w: &Waited| w.kind != Kind::First;
    let on_their_way = survey.sum(|w| if later(w) { w.on_its_way } else { Nanos::ZERO });
    let waited = survey.sum(|w| if later(w) { w.took } else { Nanos::ZERO });
    if (on_their_way.0 as f64) < ON_THEIR_WAY * waited.0 as f64 {
        return None;
    }
    let made = survey.work.iter().fold(Nanos::ZERO, |sum, w| sum + *w);
    let alone = made + survey.trained;
    let saved = survey.total() - alone;
    if survey.share(saved) < SAVES {
        return None;
    }
    let severity = Severity::of_share(survey.share(on_their_way))?;
    let a_batch = Nanos(on_their_way.0 / survey.yielded.max(1) as i64);
    Some(Finding {
        id: FindingId::SlowerThanNone,
        text: say!(
            "Workers cost more than they save: {}. A batch takes {} to load and {} to transfer.",
            survey.say_cost(on_their_way),
            survey.mean_work,
            a_batch
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("Use num_workers=0, or larger batches to reduce the transfer cost").to_owned(),
        cost: Some(on_their_way),
    })
}

/// The trainer waits for the pin thread.
pub(super) fn pinning(survey: &Survey) -> Option<Finding> {
    let of = |cause| survey.blame.of(cause).unwrap_or_default();
    // That of the first batch sets page-locked memory up, and is a matter of the beginning.
    let mut cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.pinning,
    });
    // Where pinning is what limits the flow, batches queue up before it.
    let supply = survey.mean_work.0 / survey.workers.max(1) as i64;
    if survey.pin > survey.step && survey.pin.0 > supply && cost.0 > 0 {
        cost += of(Cause::Returning);
    }
    let severity = Severity::of_share(survey.share(cost))?;
    Some(Finding {
        id: FindingId::Pinning,
        text: say!(
            "Pinning is slow: {}. The pin thread takes {} per batch, a training step {}.",
            survey.say_cost(cost),
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

/// Drawing the indices of a batch is slow from here on.
const SLOW_DRAW: Nanos = Nanos(300_000);

/// The main thread draws indices while the trainer waits.
pub(super) fn sampler(survey: &Survey) -> Option<Finding> {
    // Every epoch draws its first batches while nothing else goes on; that is how a loader begins.
    let cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.drawing,
    });
    let each = Nanos(cost.0 / i64::try_from(survey.yielded.max(1)).unwrap_or(i64::MAX));
    if each < SLOW_DRAW {
        return None;
    }
    let severity = Severity::of_share(survey.share(cost))?;
    Some(Finding {
        id: FindingId::Sampler,
        text: say!(
            "The sampler is the bottleneck: {}. It draws the indices of a batch in {each}, which blocks the main process.",
            survey.say_cost(cost)
        ),
        severity,
        evidence: Evidence::Run,
        remedy: say!("Draw all indices of an epoch at once, as a tensor, in the sampler's __iter__. Workers do not help: the sampler runs in the main process.")
            .to_owned(),
        cost: Some(cost),
    })
}
