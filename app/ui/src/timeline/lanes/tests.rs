//! Tests that lanes do not overlap, and that none is lost.

use loadscope_trace::{RunInfo, RunOptions};

use super::boxes::QUEUE_HEIGHT;
use super::*;

fn planned(num_workers: usize) -> Run {
    let options = RunOptions {
        num_workers,
        ..RunOptions::default()
    };
    Run::new(RunInfo {
        options,
        ..RunInfo::default()
    })
}

/// Returns the upper and lower edges of all boxes, from top to bottom.
fn places(lanes: &Lanes) -> Vec<(f32, f32)> {
    let boxes = lanes.boxes.iter().map(|b| (b.top, b.bottom()));
    let heads = lanes.heads.iter().map(|h| (h.top, h.bottom()));
    let charts = lanes.charts.iter().map(|c| (c.top, c.bottom()));
    let mut all: Vec<(f32, f32)> = boxes.chain(heads).chain(charts).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

#[test]
fn every_planned_worker_has_a_lane_from_the_start() {
    let lanes = Lanes::of(&planned(2), &BTreeSet::new());
    let names: Vec<String> = lanes.boxes.iter().map(|b| b.lane.to_string()).collect();
    assert_eq!(
        names,
        [
            "reorder buffer",
            "worker 0",
            "index queue 0",
            "worker 1",
            "index queue 1",
            "result queue",
        ]
    );
    assert!(places(&lanes).windows(2).all(|w| w[0].1 < w[1].0));
}

#[test]
fn folded_groups_are_small_and_keep_every_lane() {
    let run = planned(64);
    let open = Lanes::of(&run, &BTreeSet::new());
    let every = LaneGroup::ALL.into_iter().collect();
    let folded = Lanes::of(&run, &every);
    assert!(folded.height < 120.0 && open.height > 2_000.0);
    assert!(places(&folded).windows(2).all(|w| w[0].1 < w[1].0));
    for lane in &open.boxes {
        let track = Track {
            lane: lane.lane,
            row: 0,
        };
        assert!(folded.edges(track).is_some(), "{}", lane.lane);
    }
}

#[test]
fn full_queues_keep_a_limited_lane_height() {
    for lane in [Lane::Reorder, Lane::IndexQueue(3), Lane::Worker(0)] {
        for rows in 1..3000 {
            let b = LaneBox::new(lane, 10.0, rows);
            assert!(
                (10.0..=QUEUE_HEIGHT).contains(&b.height),
                "{lane} {rows}: {}",
                b.height
            );
            if let Form::Rows(height) = b.form {
                assert!(height >= 3.0);
                assert!(b.row(rows - 1).1 <= b.bottom());
                assert_eq!(b.row_at(b.row(rows - 1).0 + 0.5), Some(rows - 1));
            }
        }
    }
}

/// Arrow keys visit the lanes in the order in which they are drawn.
#[test]
fn the_lane_order_of_the_model_equals_the_drawn_order() {
    let order = |lanes: Lanes| lanes.boxes.into_iter().map(|b| b.lane);
    for workers in [0, 1, 3] {
        let mut run = planned(workers);
        run.apply(&loadscope_trace::Event {
            at: loadscope_trace::Nanos(5),
            run: loadscope_trace::RunId(0),
            kind: loadscope_trace::EventKind::dispatched(
                loadscope_trace::BatchId { epoch: 0, idx: 0 },
                (workers > 0).then_some(0),
                [1, 2],
            ),
        });
        for folds in 0..32u32 {
            let folded: BTreeSet<LaneGroup> = LaneGroup::ALL
                .into_iter()
                .enumerate()
                .filter(|(k, _)| folds >> k & 1 == 1)
                .map(|(_, group)| group)
                .collect();
            let drawn: Vec<Lane> = order(Lanes::pinned(&run))
                .chain(order(Lanes::of(&run, &folded)))
                .collect();
            assert_eq!(loadscope_model::lanes::order(&run, &folded), drawn);
        }
    }
}
