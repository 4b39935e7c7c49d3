//! Putting batches together.

use std::cmp::Reverse;

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{BatchId, Nanos};
use loadscope_words::say;

/// It takes at least this share of the work on a batch.
const MUCH: f64 = 0.4;

/// What takes less than this is quick, whatever share of a quicker batch it is.
const QUICK: Nanos = Nanos(500_000);
/// From so many bytes on, a batch is large.
const LARGE: u64 = 16 << 20;

/// Where this share of what a verdict is about passes in `collate_fn`, it is about that.
const MOST: f64 = 0.5;

/// Puts a slow `collate_fn` before workers that are too few, or missing, where it is most of what these cost: more workers would
/// only run it side by side.
pub(super) fn put_before_workers(findings: &mut Vec<Finding>) {
    let Some(slow) = findings.iter().position(|f| f.id == FindingId::SlowCollate) else {
        return;
    };
    let explained = |f: &Finding| {
        let too_few = matches!(
            f.id,
            FindingId::NoWorkers | FindingId::StarvedWorkers | FindingId::Sawtooth
        );
        let (all, part) = (f.cost.unwrap_or_default(), findings[slow].cost);
        too_few && part.unwrap_or_default().0 as f64 >= MOST * all.0 as f64
    };
    let is_first = |(at, f): &(usize, &Finding)| *at < slow && explained(f);
    if let Some((at, _)) = findings.iter().enumerate().find(is_first) {
        let finding = findings.remove(slow);
        findings.insert(at, finding);
    }
}

/// The bytes of a batch, if it is large and put together by PyTorch's own `default_collate`.
fn large_batches(survey: &Survey) -> Option<u64> {
    let run = survey.run;
    let is_default = !run
        .info
        .arguments
        .iter()
        .any(|a| a.starts_with("collate_fn="));
    let contents = (0..run.batches().len()).filter_map(|row| run.content(row));
    let bytes = contents.map(loadscope_trace::BatchContent::bytes).max()?;
    (is_default && bytes >= LARGE).then_some(bytes)
}

/// `128 MB`
fn size(bytes: u64) -> String {
    const MB: u64 = 1_000_000;
    format!("{} MB", bytes / MB + u64::from(bytes % MB >= MB / 2))
}

/// A `collate_fn` that takes about as long as reading the samples, or longer.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    if (survey.collate.0 as f64) < MUCH * survey.mean_work.0 as f64 || survey.collate < QUICK {
        return None;
    }
    // The first batch imports and allocates; that is a matter of the beginning.
    let cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.collating,
    });
    let severity = Severity::of_share(survey.share(cost))?;
    let longest = survey.waits.iter().filter(|w| w.kind != Kind::First);
    let longest = longest.min_by_key(|w| Reverse(w.collating));
    let longest = longest.and_then(|w| w.row);
    let batch = |row: usize| -> BatchId { survey.run.batches()[row].id };
    if let Some(bytes) = large_batches(survey) {
        return Some(Finding {
            id: FindingId::SlowCollate,
            text: say!(
                "Batches are large ({} each). Allocating and copying them takes {} of the {} per batch: {}.",
                size(bytes),
                survey.collate,
                survey.mean_work,
                survey.say_cost(cost)
            ),
            severity,
            evidence: longest.map_or(Evidence::Run, |row| Evidence::Batch(batch(row))),
            remedy: say!("Use smaller batches, or transfer a smaller dtype (uint8 or float16) and convert it on the GPU").to_owned(),
            cost: Some(cost),
        });
    }
    Some(Finding {
        id: FindingId::SlowCollate,
        text: say!(
            "collate_fn takes {} of the {} per batch: {}",
            survey.collate,
            survey.mean_work,
            survey.say_cost(cost)
        ),
        severity,
        evidence: longest.map_or(Evidence::Run, |row| Evidence::Batch(batch(row))),
        remedy: say!("Keep collate_fn to padding and stacking (pad_sequence, torch.stack). Move per-sample work such as tokenizing into __getitem__.")
            .to_owned(),
        cost: Some(cost),
    })
}
