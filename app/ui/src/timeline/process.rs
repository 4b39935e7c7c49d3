//! Single lane of a loader without workers. The main process loads a batch, then trains on it, so the activities follow each other. It
//! waits only while it does neither.

use loadscope_insight::waits::LONG;
use loadscope_trace::{Activity, Lane, Nanos, Run, Shares, Span, Spans, Track};

use super::layout::{Drawn, Grid};

/// Number of spans per bucket above which they are added up instead of drawn one by one.
const MAX_PER_BUCKET: usize = 4;

/// Returns all tracks. No other process uses any of them.
fn tracks(run: &Run) -> impl Iterator<Item = &Spans> {
    let rows = |(lane, rows): (Lane, usize)| (0..rows).map(move |row| (lane, row));
    let track = |(lane, row)| {
        let row = u16::try_from(row).ok()?;
        run.track(Track { lane, row })
    };
    run.lanes().flat_map(rows).filter_map(track)
}

/// Returns the lane in which other loaders show this activity.
pub fn lane_of(activity: Activity) -> Lane {
    match activity {
        Activity::Training | Activity::Waiting => Lane::Trainer,
        Activity::Pinning => Lane::Pin,
        Activity::Held | Activity::Ready => Lane::Reorder,
        Activity::Returning => Lane::ResultQueue,
        Activity::Fetching | Activity::Collating | Activity::Queued => Lane::Main,
    }
}

/// Returns the activities on the screen, in time order. Returns `None` if there are too many.
pub fn spans(run: &Run, grid: &Grid) -> Option<Spans> {
    let count: usize = tracks(run).map(|track| grid.spans(track)).sum();
    if count > MAX_PER_BUCKET * (grid.buckets() + 64) {
        return None;
    }
    let (start, end) = grid.range();
    Some(one_after_the_other(run, start, end).into_iter().collect())
}

fn one_after_the_other(run: &Run, start: Nanos, end: Nanos) -> Vec<Span> {
    let waits = |span: &&Span| span.activity == Activity::Waiting;
    let on_screen = || tracks(run).flat_map(|track| track.range(start, end));
    // A span without duration would cut off a span that starts at the same instant.
    let is_work = |span: &&Span| span.activity != Activity::Waiting && span.start < span.end;
    let mut work: Vec<Span> = on_screen().filter(is_work).copied().collect();
    work.sort_by_key(|span| span.start);
    // A stage ends where the next one starts, even if the recording disagrees.
    for k in 1..work.len() {
        work[k - 1].end = work[k - 1].end.min(work[k].start);
    }
    let mut idle = Vec::new();
    for wait in on_screen().filter(waits) {
        let mut from = wait.start;
        let first = work.partition_point(|span| span.end <= wait.start);
        let within = work[first..].iter().take_while(|s| s.start < wait.end);
        for span in within {
            let end = span.start;
            idle.push(Span {
                start: from,
                end,
                ..*wait
            });
            from = span.end;
        }
        idle.push(Span {
            start: from,
            ..*wait
        });
    }
    idle.retain(|span| span.end.min(run.end()) - span.start >= LONG);
    work.extend(idle);
    work.retain(|span| span.start < span.end);
    work.sort_by_key(|span| span.start);
    work
}

/// Returns the time per activity from `start` to `end`.
pub fn shares(run: &Run, start: Nanos, end: Nanos) -> Shares {
    let until = |t: Nanos| tracks(run).fold(Shares::default(), |sum, track| sum + track.until(t));
    idle_apart(until(end) - until(start))
}

/// Subtracts the loading time from the waiting time.
fn idle_apart(all: Shares) -> Shares {
    let mut shares = Shares::default();
    let mut loading = Nanos::ZERO;
    for (activity, time) in all.iter() {
        match activity {
            Activity::Waiting => {}
            Activity::Training => shares.record(activity, time),
            _ => {
                loading += time;
                shares.record(activity, time);
            }
        }
    }
    let idle = all.time_in(Activity::Waiting) - loading;
    if idle >= LONG {
        shares.record(Activity::Waiting, idle);
    }
    shares
}

/// Lays out a crowded lane as the time per bucket.
pub fn lay_out(run: &Run, grid: &Grid, out: &mut Vec<Drawn>) {
    let edges = grid.edges();
    for pair in edges.windows(2).filter(|pair| pair[0] < pair[1]) {
        let (start, end) = (pair[0], pair[1]);
        let shares = shares(run, start, end);
        if !shares.is_empty() {
            out.push(Drawn::Shares { start, end, shares });
        }
    }
}

/// Returns the number of spans from `start` to `end`.
pub fn count(run: &Run, start: Nanos, end: Nanos) -> u64 {
    let of = |track: &Spans| match start < end {
        true => track.range(start, end).len() as u64,
        false => 0,
    };
    tracks(run).map(of).sum()
}

#[cfg(test)]
mod tests {
    use egui::Rangef;
    use loadscope_model::view::TimeView;
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo, Stage};

    use super::super::axis::TimeAxis;
    use super::*;

    /// Returns `count` batches that take 10 ms to fetch and 5 ms to train. The trainer asks for each batch 3 ms before it is fetched.
    fn run(count: u32) -> Run {
        let mut run = Run::new(RunInfo::default());
        let mut tell = |ms: i64, kind| {
            run.apply(&Event {
                at: Nanos::from_millis(ms),
                run: RunId(0),
                kind,
            });
        };
        tell(0, EventKind::EpochStarted { epoch: 0 });
        for idx in 0..count {
            let batch = BatchId { epoch: 0, idx };
            let at = i64::from(idx) * 18;
            tell(at, EventKind::Consumer { waiting: true });
            tell(at + 3, EventKind::dispatched(batch, None, []));
            for (after, stage) in [
                (3, Stage::Fetching),
                (13, Stage::Ready),
                (13, Stage::Training),
                (18, Stage::Done),
            ] {
                tell(at + after, EventKind::Entered { batch, stage });
            }
        }
        run
    }

    fn grid(run: &Run, end: i64) -> Grid {
        let view = TimeView::new(Nanos::ZERO, Nanos::from_millis(end));
        Grid::new(
            &TimeAxis::new(view, Rangef::new(0.0, 900.0), 1.0),
            run.end(),
        )
    }

    #[test]
    fn main_process_spans_follow_without_overlap() {
        let run = run(3);
        let spans = spans(&run, &grid(&run, 60)).expect("a few");
        let all: Vec<(Activity, i64)> = spans
            .all()
            .iter()
            .map(|s| (s.activity, (s.end - s.start).0 / 1_000_000))
            .collect();
        use Activity::{Fetching, Training, Waiting};
        let batch = [(Waiting, 3), (Fetching, 10), (Training, 5)];
        assert_eq!(all, [batch, batch, batch].concat());
        assert!(spans.all().pairs().all(|w| w[0].end <= w[1].start));
    }

    #[test]
    fn crowded_spans_add_up_to_the_same_times() {
        let run = run(3_000);
        let grid = grid(&run, 54_000);
        assert!(spans(&run, &grid).is_none());
        let mut drawn = Vec::new();
        lay_out(&run, &grid, &mut drawn);
        let mut sum = Shares::default();
        for item in &drawn {
            let Drawn::Shares { start, end, shares } = item else {
                panic!("nothing is wide enough");
            };
            assert!(shares.total() <= *end - *start);
            sum = sum + *shares;
        }
        for (activity, ms) in [(Activity::Fetching, 10), (Activity::Training, 5)] {
            assert_eq!(sum.time_in(activity), Nanos::from_millis(3_000 * ms));
        }
        // A bucket may cut a wait into pieces that are too short to count.
        let waited = sum.time_in(Activity::Waiting);
        assert!(waited <= Nanos::from_millis(9_000) && waited >= Nanos::from_millis(8_000));
    }
}
