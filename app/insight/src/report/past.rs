//! Report of the older data that a size-limited recording keeps as sums per minute.

use loadscope_trace::{AwaitedStage, Kept, Nanos, Past, Run, percent, plural};
use loadscope_words::say;
use serde_json::{Value, json};

use crate::format::length;

/// Maximum number of long waits in [`longest`].
const NAMED: usize = 5;

/// Describes the older data, one sentence per fact. The list is empty if the recording keeps everything in full.
pub fn sentences(run: &Run) -> Vec<String> {
    let Some(past) = run.past() else {
        return Vec::new();
    };
    let total = past.total();
    let in_loop = total.in_loop().0.max(1) as f64;
    let mut out = vec![say!(
        "The first {} is kept as sums per minute only: {}, {} of the time waiting",
        length(total.to - total.from),
        plural(total.batches, say!(n: "batch"), say!(n: "batches")),
        percent(total.waited().0 as f64 / in_loop)
    )];
    out.push(match past.until() {
        Some(until) => say!(
            "Verdict, causes and findings cover the last {}, which is kept in full",
            length(run.end() - until)
        ),
        None => say!("No part is kept in full, so there are no findings").to_owned(),
    });
    out.extend(main_cause(past));
    out.extend(kept(past));
    out
}

/// Describes the main cause of the waits in the summarized time. Returns `None` without waits.
fn main_cause(past: &Past) -> Option<String> {
    let waited = past.total().waited();
    let (what, time) = past.total().waited.iter().max_by_key(|(_, time)| **time)?;
    (waited > Nanos::ZERO).then(|| {
        say!(
            "Main cause of the waits in that time: {} ({} of the waiting)",
            what.label(),
            percent(time.0 as f64 / waited.0 as f64)
        )
    })
}

/// Describes the events of the summarized time that are kept in full.
fn kept(past: &Past) -> Vec<String> {
    let Some(retention) = past.retention() else {
        return Vec::new();
    };
    let waits = waits(past);
    let messages = past.kept().iter().filter(|(_, k)| k.message().is_some());
    let batches = past.kept().iter().filter(|(_, k)| is_batch(k)).count();
    let text = say!(
        "Kept in full from that time: {} of at least {}, {} among the slowest, {}",
        plural(waits.len() as u64, say!(n: "wait"), say!(n: "waits")),
        retention.long_wait,
        plural(batches as u64, say!(n: "batch"), say!(n: "batches")),
        plural(
            messages.count() as u64,
            say!(n: "error or warning"),
            say!(n: "errors and warnings")
        )
    );
    let dropped = (retention.left_out > 0).then(|| {
        say!(
            "Dropped for lack of space: {}",
            plural(retention.left_out, say!(n: "event"), say!(n: "events"))
        )
    });
    [Some(text), dropped].into_iter().flatten().collect()
}

fn is_batch(kept: &Kept) -> bool {
    kept.wait.is_none() && kept.message().is_none()
}

/// Returns the kept waits as (duration, start, event), sorted by duration, longest first.
fn waits(past: &Past) -> Vec<(Nanos, Nanos, &Kept)> {
    let all = past.kept().iter();
    let mut waits: Vec<(Nanos, Nanos, &Kept)> = all
        .filter_map(|(_, kept)| kept.wait.map(|(start, end)| (end - start, start, kept)))
        .collect();
    waits.sort_by_key(|(took, at, _)| (std::cmp::Reverse(*took), *at));
    waits
}

/// Returns one line for each of the `NAMED` longest waits of the summarized time.
pub fn longest(run: &Run) -> Vec<String> {
    let Some(past) = run.past() else {
        return Vec::new();
    };
    let line = |(took, at, kept): (Nanos, Nanos, &Kept)| {
        let at = length(at);
        match kept.batch() {
            Some(batch) => say!("waited {took} at {at} for {batch}"),
            None => say!("waited {took} at {at}"),
        }
    };
    waits(past).into_iter().take(NAMED).map(line).collect()
}

/// Returns the older data as JSON, times in seconds, or null if the recording keeps everything in full.
pub fn json(run: &Run) -> Value {
    let Some(past) = run.past() else {
        return Value::Null;
    };
    let total = past.total();
    let waited = |what: &std::collections::BTreeMap<AwaitedStage, Nanos>| {
        let all = what.iter().map(|(what, time)| (*what, time.as_secs_f64()));
        json!(all.collect::<std::collections::BTreeMap<_, _>>())
    };
    let minutes = past.sums().iter().map(|sums| {
        json!({
            "from": sums.from.as_secs_f64(),
            "to": sums.to.as_secs_f64(),
            "batches": sums.batches,
            "samples": sums.samples,
            "seconds": sums.in_loop().as_secs_f64(),
            "waited_seconds": sums.waited().as_secs_f64(),
            "waited_for": waited(&sums.waited),
            "wait_p50": sums.waits.quantile(0.5).map(Nanos::as_secs_f64),
            "wait_p99": sums.waits.quantile(0.99).map(Nanos::as_secs_f64),
            "fetch_p50": sums.fetches.quantile(0.5).map(Nanos::as_secs_f64),
            "fetch_p99": sums.fetches.quantile(0.99).map(Nanos::as_secs_f64),
            "gauges": sums.gauges,
        })
    });
    let kept = waits(past).into_iter().map(|(took, at, kept)| {
        let batch = kept.batch();
        json!({
            "at": at.as_secs_f64(),
            "seconds": took.as_secs_f64(),
            "epoch": batch.map(|b| b.epoch),
            "batch": batch.map(|b| b.idx),
        })
    });
    let retention = past.retention();
    json!({
        "from": total.from.as_secs_f64(),
        "to": total.to.as_secs_f64(),
        "in_full_from": past.until().map(Nanos::as_secs_f64),
        "batches": total.batches,
        "samples": total.samples,
        "waited_seconds": total.waited().as_secs_f64(),
        "waited_for": waited(&total.waited),
        "minutes": minutes.collect::<Vec<_>>(),
        "long_waits": kept.collect::<Vec<_>>(),
        "long_wait_seconds": retention.map(|r| r.long_wait.as_secs_f64()),
        "max_size": retention.map(|r| r.max_size),
        "left_out": retention.map(|r| r.left_out),
    })
}
