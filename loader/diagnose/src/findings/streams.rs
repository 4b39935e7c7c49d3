//! Findings about streams of iterable-style datasets: repeated in every worker, empty, or of uneven length.

use super::starved;
use super::{Evidence, Finding, FindingId, Severity, Survey};
use loadscope_trace::{Nanos, Stage, Streams, count, list, percent, plural};
use loadscope_words::say;

/// Minimum idle share of the workers' time that makes streams uneven. A worker is idle after the end of its stream.
const MIN_IDLE_SHARE: f64 = 0.25;

/// Reports that every worker yields the whole stream.
pub(super) fn repeated(survey: &Survey) -> Option<Finding> {
    let streams = survey.streams.as_ref().filter(|s| s.are_repeated)?;
    let workers = streams.workers.len() as u64;
    let batches = streams.batches();
    let each = plural(batches / workers, say!(n: "batch"), say!(n: "batches"));
    let known = match survey.run.length() {
        Some(length) => say!(
            "len(loader) is {}, and {} came",
            count(length),
            count(batches)
        ),
        None => say!("no worker called get_worker_info()").to_owned(),
    };
    Some(Finding {
        id: FindingId::RepeatedStream,
        text: say!(
            "Each of {workers} workers yields the whole stream ({each}), so an epoch has {workers} times the samples: {known}"
        ),
        severity: Severity::Critical,
        evidence: Evidence::Run,
        remedy: say!("Let each worker yield its part: in __iter__, call get_worker_info(), and iterate itertools.islice(stream, info.id, None, info.num_workers)").to_owned(),
        cost: None,
    })
}

/// Reports workers whose stream is empty, or ends long before the others.
pub(super) fn idle(survey: &Survey) -> Option<Finding> {
    let streams = survey.streams.as_ref().filter(|s| !s.are_repeated)?;
    let (all, active) = (streams.workers.len(), streams.active());
    let end = streams.end();
    let idle = |(_, at): &(u64, Nanos)| (end - *at).as_secs_f64();
    let whole = (end - streams.start).as_secs_f64() * all as f64;
    let share = streams.workers.values().map(idle).sum::<f64>() / whole.max(f64::MIN_POSITIVE);
    if active == 0 || (active == all && share < MIN_IDLE_SHARE) {
        return None;
    }
    let cost = starved::cost(survey);
    let severity = survey.severity(cost);
    if active == all && severity.is_none() {
        return None;
    }
    let each = interval(survey);
    let waiting = match severity {
        Some(_) => say!(": {}", survey.format_cost(cost)),
        None => String::new(),
    };
    let first = streams.workers.iter().min_by_key(|(_, (n, at))| (*n, *at));
    let evidence = first.map_or(Evidence::Run, |(worker, _)| Evidence::Worker(*worker));
    let (text, remedy) = match active == all {
        true => (
            say!(
                "The streams of the {all} workers are uneven ({} batches){waiting}. Workers were idle for {} of their time, and a batch arrives every {each}.",
                yields(streams),
                percent(share)
            ),
            say!("Split the dataset into shards of equal size, and give each worker the same number of shards. More workers do not help.").to_owned(),
        ),
        false => (
            say!(
                "{} of {all} workers yielded no batch, because their part of the stream is empty. A batch arrives every {each} from the other {active}{waiting}.",
                all - active
            ),
            say!("Split the dataset into at least {all} shards of equal size, one per worker. More workers do not help: num_workers={active} is as fast."),
        ),
    };
    Some(Finding {
        id: FindingId::IdleWorkers,
        text,
        severity: severity.unwrap_or(Severity::Note),
        evidence,
        remedy,
        cost: severity.map(|_| cost),
    })
}

/// Returns the mean time between two yields of an epoch. The time before the first yield does not count, because workers start in it.
///
/// Without two yields in one epoch, it is the time in the loop per yielded batch.
fn interval(survey: &Survey) -> Nanos {
    let run = survey.run;
    let (mut time, mut intervals) = (0, 0);
    for epoch in run.epochs() {
        let rows = epoch.rows.iter().map(|row| *row as usize);
        let yielded = rows.filter_map(|row| run.entered(row, Stage::Training));
        let (mut first, mut last) = (Nanos::MAX, Nanos(i64::MIN));
        for at in yielded {
            (first, last) = (first.min(at), last.max(at));
            intervals += 1;
        }
        if first <= last {
            time += (last - first).0;
            intervals -= 1;
        }
    }
    match intervals {
        0 => Nanos(survey.total().0 / i64::try_from(survey.yielded.max(1)).unwrap_or(i64::MAX)),
        intervals => Nanos(time / intervals),
    }
}

/// Returns the number of batches per worker as text, largest first: `40, 3 and 3`.
fn yields(streams: &Streams) -> String {
    let mut all: Vec<u64> = streams.workers.values().map(|(n, _)| *n).collect();
    all.sort_unstable_by(|a, b| b.cmp(a));
    let all: Vec<String> = all.into_iter().map(count).collect();
    list(&all, 6)
}
