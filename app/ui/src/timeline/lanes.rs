//! Lanes of a run, their order and their heights.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Track};

mod boxes;

pub use boxes::{ChartBox, Form, GroupHeading, LaneBox, tracks};

use boxes::{CHART_HEIGHT, HEAD_HEIGHT, MOST_INDEX_ROWS};

use super::chart::Chart;
use super::layout::Grid;
use super::stacks::Stacks;
use crate::theme::space;
use loadscope_model::lanes::LanesInUse;
use loadscope_model::view::LaneGroup;

/// All lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// Lanes, from top to bottom.
    pub boxes: Vec<LaneBox>,
    /// Headings of groups, from top to bottom.
    pub heads: Vec<GroupHeading>,
    /// Charts, from top to bottom.
    pub charts: Vec<ChartBox>,
    /// Total height, points.
    pub height: f32,
}

impl Lanes {
    /// Returns the trainer's lane. It is the most important lane, so it does not scroll.
    pub fn pinned(run: &Run) -> Self {
        let mut lanes = Self::default();
        if run.batches().is_empty() {
            return lanes;
        }
        let used = LanesInUse::of(run);
        if used.is_one_process {
            let lane = LaneBox::process(space::GAP);
            lanes.height = lane.bottom() + space::GAP / 2.0;
            lanes.boxes.push(lane);
            return lanes;
        }
        let rows = used.rows(Lane::Trainer).unwrap_or(1);
        lanes.push(Lane::Trainer, rows, space::GAP);
        lanes.height += space::GAP / 2.0;
        lanes
    }

    /// Returns all lanes except the trainer's, from the last stage box of a batch to the first. All workers are present from the start, so
    /// that no lane appears later.
    pub fn of(run: &Run, folded: &BTreeSet<LaneGroup>) -> Self {
        let used = LanesInUse::of(run);
        let mut lanes = Self::default();
        if used.is_one_process {
            lanes.push_gauges(run, folded);
            return lanes;
        }
        if let Some((lane, rows)) = used.reorder() {
            if folded.contains(&LaneGroup::Reorder) {
                lanes.push_head(LaneGroup::Reorder, true, vec![(lane, rows)]);
            } else {
                lanes.push(lane, rows, space::GAP / 2.0);
            }
        }
        for (lane, rows) in used.alone() {
            lanes.push(lane, rows, space::GAP);
        }
        lanes.push_workers(&used, folded);
        lanes.push_queues(&used, folded);
        lanes.push_gauges(run, folded);
        lanes
    }

    fn push_workers(&mut self, used: &LanesInUse, folded: &BTreeSet<LaneGroup>) {
        let workers = used.workers.iter().map(|w| Lane::Worker(*w));
        let members: Vec<(Lane, usize)> = workers
            .map(|lane| (lane, used.rows(lane).unwrap_or(1)))
            .collect();
        if members.is_empty() {
            return;
        }
        let is_folded = folded.contains(&LaneGroup::Workers);
        self.push_head(LaneGroup::Workers, is_folded, members);
        if is_folded {
            return;
        }
        for (k, worker) in used.workers.iter().enumerate() {
            let lane = Lane::Worker(*worker);
            let gap = if k == 0 { 2.0 } else { space::GAP };
            self.push(lane, used.rows(lane).unwrap_or(1), gap);
            let queue = Lane::IndexQueue(*worker);
            let rows = used.rows(queue).unwrap_or(1);
            self.push(queue, rows.max(used.prefetch.min(MOST_INDEX_ROWS)), 1.0);
        }
    }

    fn push_queues(&mut self, used: &LanesInUse, folded: &BTreeSet<LaneGroup>) {
        let members: Vec<(Lane, usize)> = used.queues().collect();
        if members.is_empty() {
            return;
        }
        let is_folded = folded.contains(&LaneGroup::Queues);
        self.push_head(LaneGroup::Queues, is_folded, members.clone());
        if !is_folded {
            for (k, (lane, rows)) in members.into_iter().enumerate() {
                self.push(lane, rows, if k == 0 { 2.0 } else { space::GAP });
            }
        }
    }

    fn push_gauges(&mut self, run: &Run, folded: &BTreeSet<LaneGroup>) {
        let charts = Chart::all(run);
        if charts.is_empty() {
            return;
        }
        let is_folded = folded.contains(&LaneGroup::Gauges);
        self.push_head(LaneGroup::Gauges, is_folded, Vec::new());
        if is_folded {
            return;
        }
        for (k, chart) in charts.into_iter().enumerate() {
            let top = self.height + if k == 0 { 2.0 } else { space::GAP };
            let chart = ChartBox {
                chart,
                top,
                height: CHART_HEIGHT,
            };
            self.height = chart.bottom();
            self.charts.push(chart);
        }
    }

    fn push_head(&mut self, group: LaneGroup, folded: bool, members: Vec<(Lane, usize)>) {
        let gap = match group {
            LaneGroup::Reorder => space::GAP / 2.0,
            _ => 2.0 * space::GAP,
        };
        // Folded gauges have no summary.
        let height = if folded && !members.is_empty() {
            space::LANE
        } else {
            HEAD_HEIGHT
        };
        let head = GroupHeading {
            group,
            top: self.height + gap,
            height,
            folded,
            members,
        };
        self.height = head.bottom();
        self.heads.push(head);
    }

    fn push(&mut self, lane: Lane, rows: usize, gap: f32) {
        let lane = LaneBox::new(lane, self.height + gap, rows);
        self.height = lane.bottom();
        self.boxes.push(lane);
    }

    /// Draws crowded queues as areas, if their batches are too short on the screen. The heights do not change.
    #[must_use]
    pub fn crowded(mut self, run: &Run, grid: &Grid) -> Self {
        for lane in self
            .boxes
            .iter_mut()
            .filter(|b| b.lane.is_queue() && b.rows > 1)
        {
            let spans: usize = lane
                .tracks()
                .filter_map(|t| run.track(t))
                .map(|t| grid.spans(t))
                .sum();
            if spans > grid.buckets() {
                lane.form = Form::Depth;
            }
        }
        self
    }

    /// Adds room for the stacks below the lanes, and moves everything below them down.
    #[must_use]
    pub fn with_stacks(mut self, stacks: &Stacks) -> Self {
        let mut added: Vec<(f32, f32)> = Vec::new();
        for lane in &mut self.boxes {
            let height = stacks.height(lane.lane);
            if height > 0.0 {
                added.push((lane.top, height));
                lane.stacks = height;
            }
        }
        let above = |top: f32| -> f32 {
            let above = added.iter().filter(|(of, _)| *of < top);
            above.map(|(_, height)| height).sum()
        };
        self.boxes.iter_mut().for_each(|b| b.top += above(b.top));
        self.heads.iter_mut().for_each(|h| h.top += above(h.top));
        self.charts.iter_mut().for_each(|c| c.top += above(c.top));
        self.height += above(f32::INFINITY);
        self
    }

    /// Returns the box of a lane.
    pub fn find(&self, lane: Lane) -> Option<&LaneBox> {
        self.boxes.iter().find(|b| b.shows(lane))
    }

    /// Returns the upper and lower edge of a track: its row, or the heading of its folded group.
    pub fn edges(&self, track: Track) -> Option<(f32, f32)> {
        if let Some(lane) = self.find(track.lane) {
            return Some(lane.row(usize::from(track.row)));
        }
        let group = LaneGroup::of(track.lane)?;
        let head = self.heads.iter().find(|h| h.group == group && h.folded)?;
        Some((head.top, head.bottom()))
    }
}

#[cfg(test)]
mod tests {
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
}
