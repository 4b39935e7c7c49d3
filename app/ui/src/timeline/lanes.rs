//! Lanes of a run, their order and their heights.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Track};

mod boxes;

pub use boxes::{ChartBox, Form, GroupHeading, LaneBox, tracks};

use boxes::{CHART_HEIGHT, HEAD_HEIGHT, MOST_INDEX_ROWS};

use super::chart::Chart;
use super::layout::Grid;
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
mod tests;
