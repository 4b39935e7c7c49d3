//! Slow `collate_fn`.

use std::cmp::Reverse;

use super::survey::Kind;
use super::{Evidence, Finding, FindingId, Survey};
use loadscope_trace::{BatchId, Nanos};
use loadscope_words::say;

/// Minimum share of collating in the work on a batch (fetching and collating).
const MIN_WORK_SHARE: f64 = 0.4;

/// Minimum mean time of collating: 0.5 ms. Below, collating is fast, even if fetching is faster.
const MIN_TIME: Nanos = Nanos(500_000);
/// Minimum size of a large batch, bytes: 16 MiB.
const LARGE_BATCH: u64 = 16 << 20;

/// Minimum share of another finding's cost at which a slow `collate_fn` or slow storage explains that finding.
const MIN_COST_SHARE: f64 = 0.5;

/// Moves a slow `collate_fn` or slow storage before findings about too few or no workers if it explains most of their cost. More workers
/// would run the same slow function in parallel, or share the same storage.
pub(super) fn put_before_workers(findings: &mut Vec<Finding>) {
    let is_reason = |f: &Finding| matches!(f.id, FindingId::SlowCollate | FindingId::SlowStorage);
    let Some(slow) = findings.iter().position(is_reason) else {
        return;
    };
    let is_explained = |f: &Finding| {
        let too_few = matches!(
            f.id,
            FindingId::NoWorkers | FindingId::StarvedWorkers | FindingId::Sawtooth
        );
        let (all, part) = (f.cost.unwrap_or_default(), findings[slow].cost);
        too_few && part.unwrap_or_default().0 as f64 >= MIN_COST_SHARE * all.0 as f64
    };
    let is_first = |(at, f): &(usize, &Finding)| *at < slow && is_explained(f);
    if let Some((at, _)) = findings.iter().enumerate().find(is_first) {
        let finding = findings.remove(slow);
        findings.insert(at, finding);
    }
}

/// Returns the size of the largest batch with recorded content, bytes. Returns `None` below 16 MiB, or if the loader has its own
/// `collate_fn`.
fn large_batches(survey: &Survey) -> Option<u64> {
    let run = survey.run;
    let is_default = !run
        .info
        .arguments
        .iter()
        .any(|a| a.starts_with("collate_fn="));
    let contents = (0..run.batches().len()).filter_map(|row| run.content(row));
    let bytes = contents.map(loadscope_trace::BatchContent::bytes).max()?;
    (is_default && bytes >= LARGE_BATCH).then_some(bytes)
}

/// Formats a size in whole megabytes: `128 MB`.
fn size(bytes: u64) -> String {
    const MB: u64 = 1_000_000;
    format!("{} MB", bytes / MB + u64::from(bytes % MB >= MB / 2))
}

/// Finds a `collate_fn` that takes at least 40 % of the work on a batch and at least 0.5 ms.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    if (survey.collate.0 as f64) < MIN_WORK_SHARE * survey.mean_work.0 as f64
        || survey.collate < MIN_TIME
    {
        return None;
    }
    // The first batch includes imports and allocations, which `start` covers.
    let cost = survey.sum(|w| match w.kind {
        Kind::First => Nanos::ZERO,
        _ => w.collating,
    });
    let severity = survey.severity(cost)?;
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
                survey.format_cost(cost)
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
            survey.format_cost(cost)
        ),
        severity,
        evidence: longest.map_or(Evidence::Run, |row| Evidence::Batch(batch(row))),
        remedy: say!("Keep collate_fn to padding and stacking (pad_sequence, torch.stack). Move per-sample work such as tokenizing into __getitem__.")
            .to_owned(),
        cost: Some(cost),
    })
}
