//! Sums over periods of a limited recording's past, for the timeline.

use loadscope_trace::{Kept, Nanos, Past, Run, Sums, bytes, percent, plural};
use loadscope_words::say;

use crate::format::{clock, length};

/// Returns sums of the minutes between `start` and `end`. Minutes are merged until each period except the last is at least `least` long.
/// Minutes with a gap between them are not merged.
pub fn merge_minutes(past: &Past, (start, end): (Nanos, Nanos), least: Nanos) -> Vec<Sums> {
    let all = past.sums();
    let first = all.partition_point(|sums| sums.to <= start);
    let inside = all[first..].iter().take_while(|sums| sums.from < end);
    let mut out: Vec<Sums> = Vec::new();
    for sums in inside {
        match out.last_mut() {
            Some(last) if last.to - last.from < least && sums.from - last.to < least => {
                last.add(sums);
            }
            _ => out.push(sums.clone()),
        }
    }
    out
}

/// Returns the start of the part that is kept in full. `None` means the whole run.
pub fn kept_since(run: &Run) -> Option<Nanos> {
    let past = run.past()?;
    Some(past.until().unwrap_or(run.whole().end()))
}

/// Returns the start of the summed past. `None` means that there is none.
pub fn summed_since(run: &Run) -> Option<Nanos> {
    Some(run.past()?.sums().first()?.from)
}

/// Describes how much of a live run is in memory: a short text and full sentences. `None` means all of it.
pub fn describe_memory(run: &Run) -> Option<(String, String)> {
    let past = run.past()?;
    let (retention, until) = (past.retention()?, past.until()?);
    let kept = length(run.whole().end() - until);
    let text = say!(
        "The last {kept} is in memory in full. Older data is kept as sums per minute. Waits of at least {}, errors, warnings and the slowest batches stay in full. The limit is {} (set it with --memory).",
        retention.long_wait,
        bytes(retention.max_size as f64)
    );
    Some((say!("in memory in full: the last {}", kept), text))
}

/// Describes the sums of a period in lines. The first line is its time.
pub fn describe_sums(sums: &Sums) -> Vec<String> {
    let (in_loop, waited) = (sums.in_loop(), sums.waited());
    let share = waited.0 as f64 / in_loop.0.max(1) as f64;
    let mut out = vec![
        say!("{} to {}", clock(sums.from, 0), clock(sums.to, 0)),
        say!(
            "{}, {:.1} samples/s, trainer waited {} of {in_loop} ({})",
            plural(sums.batches, say!(n: "batch"), say!(n: "batches")),
            samples_per_second(sums),
            waited.format_in_unit_of(in_loop),
            percent(share)
        ),
    ];
    if let Some((what, time)) = sums.waited.iter().max_by_key(|(_, time)| **time)
        && waited > Nanos::ZERO
    {
        let share = percent(time.0 as f64 / waited.0 as f64);
        out.push(say!("{share} of the waiting: {}", what.label()));
    }
    if let (Some(half), Some(most)) = (sums.fetches.quantile(0.5), sums.fetches.quantile(0.99)) {
        out.push(say!(
            "Fetch and collate time per batch: median {half}, 99th percentile {most}"
        ));
    }
    let trouble = sums.errors + sums.warnings;
    if trouble > 0 {
        out.push(plural(
            trouble,
            say!(n: "error or warning"),
            say!(n: "errors and warnings"),
        ));
    }
    out.push(say!("For this time, only sums per minute are kept").to_owned());
    out
}

/// Returns the trainer's samples per second in a period.
pub fn samples_per_second(sums: &Sums) -> f64 {
    match (sums.to - sums.from).as_secs_f64() {
        seconds if seconds > 0.0 => sums.samples as f64 / seconds,
        _ => 0.0,
    }
}

/// Describes the data of a period that is kept in full: the longest waits first, then messages.
pub fn describe_kept(past: &Past, (start, end): (Nanos, Nanos)) -> Vec<String> {
    /// Maximum number of named waits.
    const NAMED: usize = 3;
    let at = |kept: &Kept, ended: Nanos| kept.wait.map_or(ended, |(start, _)| start);
    let here = past.kept().iter();
    let here: Vec<&Kept> = here
        .filter(|(ended, kept)| (start..end).contains(&at(kept, *ended)))
        .map(|(_, kept)| kept)
        .collect();
    let mut waits: Vec<(Nanos, &Kept)> = here
        .iter()
        .filter_map(|kept| kept.wait.map(|(start, end)| (end - start, *kept)))
        .collect();
    waits.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    let waits = waits.into_iter().map(|(took, kept)| match kept.batch() {
        Some(batch) => say!("Waited {took} for {batch}"),
        None => say!("Waited {took}"),
    });
    let messages = here.iter().filter_map(|kept| kept.message());
    let messages = messages.map(|(_, message)| message.first_line().to_owned());
    waits.take(NAMED).chain(messages.take(NAMED)).collect()
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{AwaitedStage, Event, EventKind, RunId};

    use super::*;

    fn minute(k: i64, batches: u64) -> Sums {
        Sums {
            from: Nanos(k * 60_000_000_000),
            to: Nanos((k + 1) * 60_000_000_000),
            batches,
            samples: batches * 32,
            ..Sums::default()
        }
    }

    #[test]
    fn merged_minutes_keep_the_number_of_batches() {
        let mut run = Run::default();
        for k in (0..100).chain(200..300) {
            let sums = minute(k, 1 + k as u64 % 7);
            run.apply(&Event {
                at: sums.to,
                run: RunId(0),
                kind: EventKind::Summed(Box::new(sums)),
            });
        }
        let past = run.past().expect("sums");
        let all: u64 = past.sums().iter().map(|sums| sums.batches).sum();
        for least in [1, 60, 150, 600, 100_000] {
            let found = merge_minutes(
                past,
                (Nanos(0), Nanos::MAX),
                Nanos::from_secs_f64(least as f64),
            );
            let sum: u64 = found.iter().map(|sums| sums.batches).sum();
            assert_eq!(sum, all, "{least}");
            assert!(found.windows(2).all(|w| w[0].to <= w[1].from), "{least}");
        }
        let two = merge_minutes(past, (Nanos(0), Nanos::MAX), Nanos::from_secs_f64(3_000.0));
        let gap = two
            .iter()
            .any(|s| s.from < minute(100, 0).from && s.to > minute(199, 0).to);
        assert!(!gap, "nothing is drawn where nothing is known");
    }

    #[test]
    fn lines_of_a_stretch_contain_time_rate_and_waits() {
        let mut sums = minute(61, 120);
        sums.waited
            .insert(AwaitedStage::Fetching, Nanos::from_millis(15_000));
        sums.steps.record(Nanos::from_millis(45_000));
        let lines = describe_sums(&sums);
        let plain = lines.join("\n").replace('\u{2009}', " ");
        assert!(plain.starts_with("1:01:00 to 1:02:00"), "{plain}");
        assert!(plain.contains("120 batches, 64.0 samples/s"), "{plain}");
        assert!(plain.contains("15.00 s of 60.0 s (25 %)"), "{plain}");
        assert!(plain.contains("100 % of the waiting: Fetching"), "{plain}");
    }
}
