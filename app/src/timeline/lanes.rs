//! Which lanes there are, in what order, and how high.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Track};

use super::chart::Chart;
use super::group::Group;
use super::layout::Grid;
use crate::theme::space;

/// A lane in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneBox {
    /// Which lane.
    pub lane: Lane,
    /// Its upper edge, points below the first lane.
    pub top: f32,
    /// Its height, points.
    pub height: f32,
    /// How many batches it held at a time, at most.
    pub rows: usize,
    /// How they are drawn.
    pub form: Form,
}

/// How the rows of a lane are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// One below the other, each so many points high.
    Rows(f32),
    /// Too many or too crowded to tell apart: an area, as high as the lane is full.
    Depth,
}

/// The heading of a group. Folded, it sums its lanes up.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Of which group.
    pub group: Group,
    /// Its upper edge, points below the first lane.
    pub top: f32,
    /// Its height, points.
    pub height: f32,
    /// True if the lanes of the group are not shown.
    pub folded: bool,
    /// The lanes that it sums up, each with its number of rows.
    pub members: Vec<(Lane, usize)>,
}

/// A quantity in its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartBox {
    /// Which quantity.
    pub chart: Chart,
    /// Its upper edge, points below the first lane.
    pub top: f32,
    /// Its height, points.
    pub height: f32,
}

/// All lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// From top to bottom.
    pub boxes: Vec<LaneBox>,
    /// Headings of groups, from top to bottom.
    pub heads: Vec<Head>,
    /// Quantities, from top to bottom.
    pub charts: Vec<ChartBox>,
    /// Height of all, points.
    pub height: f32,
}

/// A queue never grows higher than this, points.
const QUEUE_HEIGHT: f32 = 72.0;
/// More rows than this become an area.
const MOST_ROWS: usize = 16;
/// Height of an index queue: it hangs below its worker.
const INDEX_QUEUE_HEIGHT: f32 = 14.0;
/// More rows than this become an area in an index queue.
const MOST_INDEX_ROWS: usize = 4;
/// Height of the heading of a group whose lanes are shown.
const HEAD_HEIGHT: f32 = 16.0;
/// Height of a quantity.
const CHART_HEIGHT: f32 = 28.0;

impl LaneBox {
    fn new(lane: Lane, top: f32, rows: usize) -> Self {
        let many = rows.max(1) as f32;
        let (height, form) = match lane {
            Lane::IndexQueue(_) if rows > MOST_INDEX_ROWS => (INDEX_QUEUE_HEIGHT, Form::Depth),
            Lane::IndexQueue(_) => {
                let row = (INDEX_QUEUE_HEIGHT / many).floor();
                (row * many, Form::Rows(row))
            }
            _ if lane.is_queue() && rows > MOST_ROWS => (QUEUE_HEIGHT, Form::Depth),
            _ if lane.is_queue() => {
                let row = (QUEUE_HEIGHT / many).floor().min(space::SUB_ROW);
                ((row * many).max(space::LANE), Form::Rows(row))
            }
            _ if rows > MOST_ROWS => (QUEUE_HEIGHT, Form::Depth),
            _ => {
                let row = (QUEUE_HEIGHT / many).floor().min(space::LANE);
                (row * many, Form::Rows(row))
            }
        };
        Self {
            lane,
            top,
            height,
            rows,
            form,
        }
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }

    /// Upper and lower edge of a row, points below the first lane. Rows are a pixel apart where there is room.
    pub fn row(&self, row: usize) -> (f32, f32) {
        match self.form {
            Form::Depth => (self.top, self.bottom()),
            Form::Rows(height) => {
                let top = self.top + height * row as f32;
                let gap = if self.rows > 1 && height > 3.0 {
                    1.0
                } else {
                    0.0
                };
                (top, top + height - gap)
            }
        }
    }

    /// The row at `y` points below the first lane; `None` where there is none, or all of them are one area.
    pub fn row_at(&self, y: f32) -> Option<usize> {
        let Form::Rows(height) = self.form else {
            return None;
        };
        let row = ((y - self.top) / height).max(0.0) as usize;
        (row < self.rows).then_some(row)
    }

    /// Its tracks.
    pub fn tracks(&self) -> impl Iterator<Item = Track> + use<> {
        tracks(self.lane, self.rows)
    }
}

/// The tracks of a lane.
pub fn tracks(lane: Lane, rows: usize) -> impl Iterator<Item = Track> {
    (0..rows).map_while(move |row| {
        let row = u16::try_from(row).ok()?;
        Some(Track { lane, row })
    })
}

impl Head {
    /// Its lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }

    /// The tracks that it sums up.
    pub fn tracks(&self) -> impl Iterator<Item = Track> {
        let members = self.members.iter();
        members.flat_map(|(lane, rows)| tracks(*lane, *rows))
    }

    /// How many rows would fill its height.
    pub fn rows(&self) -> usize {
        self.members.iter().map(|(_, rows)| rows).sum()
    }
}

impl ChartBox {
    /// Its lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}

impl Lanes {
    /// The trainer, which stays where it is while the others scroll: it is what matters.
    pub fn pinned(run: &Run) -> Self {
        let mut lanes = Self::default();
        let rows = Used::of(run).rows(Lane::Trainer).unwrap_or(1);
        lanes.push(Lane::Trainer, rows, space::GAP);
        lanes.height += space::GAP / 2.0;
        lanes
    }

    /// The lanes of a run but the trainer's: what happened to its batches last comes first.
    /// All workers are there from the beginning, so that nothing pops up.
    pub fn of(run: &Run, folded: &BTreeSet<Group>) -> Self {
        let used = Used::of(run);
        let mut lanes = Self::default();
        let has_workers = used.planned > 0 || !used.workers.is_empty();
        if let Some(rows) = used.rows(Lane::Reorder).or(has_workers.then_some(1)) {
            let members = vec![(Lane::Reorder, rows)];
            if folded.contains(&Group::Reorder) {
                lanes.push_head(Group::Reorder, true, members);
            } else {
                lanes.push(Lane::Reorder, rows, space::GAP / 2.0);
            }
        }
        for lane in [Lane::Pin, Lane::Main] {
            if let Some(rows) = used.rows(lane) {
                lanes.push(lane, rows, space::GAP);
            }
        }
        lanes.push_workers(&used, folded);
        lanes.push_queues(&used, has_workers, folded);
        lanes.push_gauges(run, folded);
        lanes
    }

    fn push_workers(&mut self, used: &Used, folded: &BTreeSet<Group>) {
        let workers = used.workers.iter().map(|w| Lane::Worker(*w));
        let members: Vec<(Lane, usize)> = workers
            .map(|lane| (lane, used.rows(lane).unwrap_or(1)))
            .collect();
        if members.is_empty() {
            return;
        }
        let is_folded = folded.contains(&Group::Workers);
        self.push_head(Group::Workers, is_folded, members);
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

    fn push_queues(&mut self, used: &Used, has_workers: bool, folded: &BTreeSet<Group>) {
        let queues = [Lane::ResultQueue, Lane::DataQueue];
        let members: Vec<(Lane, usize)> = queues
            .into_iter()
            .filter_map(|lane| {
                let always = has_workers && lane == Lane::ResultQueue;
                Some((lane, used.rows(lane).or(always.then_some(1))?))
            })
            .collect();
        if members.is_empty() {
            return;
        }
        let is_folded = folded.contains(&Group::Queues);
        self.push_head(Group::Queues, is_folded, members.clone());
        if !is_folded {
            for (k, (lane, rows)) in members.into_iter().enumerate() {
                self.push(lane, rows, if k == 0 { 2.0 } else { space::GAP });
            }
        }
    }

    fn push_gauges(&mut self, run: &Run, folded: &BTreeSet<Group>) {
        let charts = Chart::all(run);
        if charts.is_empty() {
            return;
        }
        let is_folded = folded.contains(&Group::Gauges);
        self.push_head(Group::Gauges, is_folded, Vec::new());
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

    fn push_head(&mut self, group: Group, folded: bool, members: Vec<(Lane, usize)>) {
        let gap = match group {
            Group::Reorder => space::GAP / 2.0,
            _ => 2.0 * space::GAP,
        };
        // Folded gauges have no time to sum up.
        let height = if folded && !members.is_empty() {
            space::LANE
        } else {
            HEAD_HEIGHT
        };
        let head = Head {
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

    /// Makes areas of queues whose batches are too short on the screen to be told apart. Heights stay as they are.
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

    /// The place of a lane.
    pub fn find(&self, lane: Lane) -> Option<&LaneBox> {
        self.boxes.iter().find(|b| b.lane == lane)
    }

    /// Upper and lower edge of what shows a track: its row, or the heading of the group that it is folded into.
    pub fn edges(&self, track: Track) -> Option<(f32, f32)> {
        if let Some(lane) = self.find(track.lane) {
            return Some(lane.row(usize::from(track.row)));
        }
        let group = Group::of(track.lane)?;
        let head = self.heads.iter().find(|h| h.group == group && h.folded)?;
        Some((head.top, head.bottom()))
    }
}

/// What a run has used so far, and will use.
struct Used {
    lanes: Vec<(Lane, usize)>,
    workers: BTreeSet<u16>,
    planned: u16,
    prefetch: usize,
}

impl Used {
    fn of(run: &Run) -> Self {
        let lanes: Vec<(Lane, usize)> = run.lanes().collect();
        let options = &run.info.options;
        // A file may say anything; workers that were seen have lanes in any case.
        let planned = options.num_workers.min(256) as u16;
        let seen = lanes.iter().filter_map(|(lane, _)| match lane {
            Lane::Worker(w) | Lane::IndexQueue(w) => Some(*w),
            _ => None,
        });
        Self {
            workers: (0..planned).chain(seen).collect(),
            planned,
            prefetch: options.prefetch(),
            lanes,
        }
    }

    /// How many rows a lane has; `None` if nothing was ever in it.
    fn rows(&self, lane: Lane) -> Option<usize> {
        let found = self.lanes.binary_search_by_key(&lane, |(l, _)| *l).ok()?;
        Some(self.lanes[found].1)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{RunInfo, RunOptions};

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

    /// Upper and lower edges of everything, from top to bottom.
    fn places(lanes: &Lanes) -> Vec<(f32, f32)> {
        let boxes = lanes.boxes.iter().map(|b| (b.top, b.bottom()));
        let heads = lanes.heads.iter().map(|h| (h.top, h.bottom()));
        let charts = lanes.charts.iter().map(|c| (c.top, c.bottom()));
        let mut all: Vec<(f32, f32)> = boxes.chain(heads).chain(charts).collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0));
        all
    }

    #[test]
    fn every_worker_is_there_from_the_beginning() {
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
    fn folded_groups_take_little_room_and_lose_no_lane() {
        let run = planned(64);
        let open = Lanes::of(&run, &BTreeSet::new());
        let every = Group::ALL.into_iter().collect();
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
    fn queues_stay_sane_however_full() {
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
}
