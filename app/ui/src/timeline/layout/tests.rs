//! Tests that the layout neither loses nor invents time.

use std::collections::BTreeSet;

use egui::Rangef;
use loadscope_trace::{BatchId, Event, EventKind, Lane, Run, RunId, RunInfo, Stage, Track};
use proptest::prelude::*;

use super::super::hit::{Target, target};
use super::super::lanes::Lanes;
use super::*;
use loadscope_model::view::TimeView;

/// Returns a worker that idles, fetches and collates for the given times, ns. The worker never finishes the last batch.
fn worker(times: &[(i64, i64, i64)]) -> Run {
    let mut run = Run::new(RunInfo::default());
    let mut at = 0;
    let mut tell = |at, kind| {
        run.apply(&Event {
            at: Nanos(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    for (idx, (idle, fetch, collate)) in times.iter().enumerate() {
        let batch = BatchId {
            epoch: 0,
            idx: idx as u32,
        };
        at += idle;
        tell(at, EventKind::dispatched(batch, Some(0), []));
        for (stage, time) in [(Stage::Fetching, fetch), (Stage::Collating, collate)] {
            tell(at, EventKind::Entered { batch, stage });
            at += time;
        }
        if idx + 1 < times.len() {
            let stage = Stage::Done;
            tell(at, EventKind::Entered { batch, stage });
        }
    }
    tell(at + 7, EventKind::Dropped { count: 0 });
    run
}

fn track(run: &Run) -> &Spans {
    let lane = Lane::Worker(0);
    run.track(Track { lane, row: 0 })
        .expect("the worker has worked")
}

fn grid(start: i64, len: i64, until: Nanos) -> Grid {
    let view = TimeView::new(Nanos(start), Nanos(start + len));
    Grid::new(&TimeAxis::new(view, Rangef::new(0.0, 300.0), 1.0), until)
}

/// Returns times from zero to far more than a screen.
fn times() -> impl Strategy<Value = Vec<(i64, i64, i64)>> {
    let time = || prop_oneof![Just(0), 0..20i64, 0..2_000i64, 0..200_000i64];
    prop::collection::vec((time(), time(), time()), 1..300)
}

fn shown(drawn: &[Drawn], until: Nanos) -> Shares {
    let mut sum = Shares::default();
    for item in drawn {
        match item {
            Drawn::Span(span) => sum.record(span.activity, span.end.min(until) - span.start),
            Drawn::Shares { shares, .. } => sum = sum + *shares,
        }
    }
    sum
}

proptest! {
    #[test]
    fn drawn_spans_add_up_to_the_recorded_times(times in times(), start in 0.0..1.0f64, len in 1..3_000_000i64) {
        let run = worker(&times);
        let spans = track(&run);
        let start = (start * run.end().0 as f64) as i64;
        let grid = grid(start, len, run.end());
        let mut drawn = Vec::new();
        lay_out(spans, &grid, &mut drawn);
        let expected = if grid.end > grid.start { spans.until(grid.end) - spans.until(grid.start) } else { Shares::default() };
        prop_assert_eq!(shown(&drawn, run.end()), expected);

        let edges: Vec<(Nanos, Nanos)> = drawn.iter().map(|d| match d {
            Drawn::Span(s) => (s.start, s.end),
            Drawn::Shares { start, end, .. } => (*start, *end),
        }).collect();
        prop_assert!(edges.iter().all(|(a, b)| a < b && *a >= grid.start && *b <= grid.end));
        prop_assert!(edges.windows(2).all(|w| w[0].1 <= w[1].0), "in order, nothing on top of anything");
        // 300 points contain 100 buckets. A wide span may split one, so there are at most two pieces per bucket.
        prop_assert!(drawn.len() <= 304, "{}", drawn.len());

        let lanes = Lanes::of(&run, &BTreeSet::new());
        let lane = lanes.find(Lane::Worker(0)).expect("it has worked");
        for item in &drawn {
            let (a, b) = match item { Drawn::Span(s) => (s.start, s.end), Drawn::Shares { start, end, .. } => (*start, *end) };
            let hit = target(&run, &grid, lane, lane.top + 5.0, Nanos(a.0.midpoint(b.0)));
            match item {
                Drawn::Span(s) => prop_assert!(matches!(hit, Target::Span(_, h) if h.batch == s.batch && h.activity == s.activity)),
                Drawn::Shares { .. } => {
                    // Edges move slightly, so the exact middle may be empty.
                    let middle = Nanos(a.0.midpoint(b.0));
                    let idle = spans.range(middle, middle + Nanos(1)).is_empty();
                    prop_assert!(idle || !matches!(hit, Target::Lane(_)), "{item:?} at {hit:?}");
                }
            }
        }

        let mut depth = Vec::new();
        lay_out_depth([spans, spans], &grid, &mut depth);
        prop_assert_eq!(shown(&depth, run.end()), expected + expected);
        prop_assert!(depth.len() <= 102, "{}", depth.len());
    }
}

#[test]
fn wide_spans_are_drawn_whole_and_narrow_ones_as_shares() {
    // At 10 ns per point, buckets have 30 ns.
    let run = worker(&[(0, 300, 10), (0, 10, 10), (40, 30, 5), (0, 5, 5)]);
    let mut drawn = Vec::new();
    lay_out(track(&run), &grid(0, 3_000, run.end()), &mut drawn);
    let wide = |d: &Drawn| matches!(d, Drawn::Span(_));
    assert_eq!(drawn.iter().filter(|d| wide(d)).count(), 2, "{drawn:?}");
    assert!(wide(&drawn[0]) && !wide(&drawn[1]));
}

#[test]
fn panning_keeps_the_buckets_unchanged() {
    let times: Vec<(i64, i64, i64)> = (0..500).map(|k| (k % 7, k % 11, k % 5)).collect();
    let run = worker(&times);
    let at = |start| {
        let mut drawn = Vec::new();
        lay_out(track(&run), &grid(start, 2_000, run.end()), &mut drawn);
        drawn
    };
    let (here, there) = (at(100), at(117));
    // All buckets except those at the edges are equal.
    assert!(
        there[1..there.len() - 2]
            .iter()
            .all(|d| here.contains(d) || matches!(d, Drawn::Shares { end, .. } if end.0 > 2_090))
    );
}
