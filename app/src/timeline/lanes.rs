//! Which lanes there are, in what order, and how high.

use std::collections::BTreeSet;

use loadscope_trace::{Lane, Run, Track};

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

/// All lanes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lanes {
    /// From top to bottom.
    pub boxes: Vec<LaneBox>,
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
        let lane = self.lane;
        (0..self.rows).map_while(move |row| {
            let row = u16::try_from(row).ok()?;
            Some(Track { lane, row })
        })
    }
}

impl Lanes {
    /// The lanes of a run: the trainer first, because it is what matters, then back along the way of a batch.
    /// All workers are there from the beginning, so that nothing pops up.
    pub fn of(run: &Run) -> Self {
        let used: Vec<(Lane, usize)> = run.lanes().collect();
        let rows = |lane: Lane| used.iter().find(|(l, _)| *l == lane).map(|(_, rows)| *rows);
        let options = &run.info.options;
        // A file may say anything; workers that were seen have lanes in any case.
        let planned = options.num_workers.min(256) as u16;
        let mut workers: BTreeSet<u16> = (0..planned).collect();
        workers.extend(used.iter().filter_map(|(lane, _)| match lane {
            Lane::Worker(w) | Lane::IndexQueue(w) => Some(*w),
            _ => None,
        }));
        let mut lanes = Self::default();
        lanes.push(Lane::Trainer, rows(Lane::Trainer).unwrap_or(1));
        for lane in [Lane::Reorder, Lane::DataQueue, Lane::Pin, Lane::ResultQueue] {
            let always = planned > 0 && matches!(lane, Lane::Reorder | Lane::ResultQueue);
            if let Some(rows) = rows(lane).or(always.then_some(1)) {
                lanes.push(lane, rows);
            }
        }
        for worker in workers {
            lanes.push(
                Lane::Worker(worker),
                rows(Lane::Worker(worker)).unwrap_or(1),
            );
            let queue = Lane::IndexQueue(worker);
            lanes.push(
                queue,
                rows(queue)
                    .unwrap_or(1)
                    .max(options.prefetch().min(MOST_INDEX_ROWS)),
            );
        }
        if let Some(rows) = rows(Lane::Main) {
            lanes.push(Lane::Main, rows);
        }
        lanes
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

    fn push(&mut self, lane: Lane, rows: usize) {
        let gap = match (self.boxes.last(), lane) {
            (None, _) => space::GAP,
            (_, Lane::IndexQueue(_)) => 1.0,
            // The workers are a group of their own.
            (Some(above), Lane::Worker(_) | Lane::Main)
                if !matches!(above.lane, Lane::IndexQueue(_)) =>
            {
                2.0 * space::GAP
            }
            _ => space::GAP,
        };
        let lane = LaneBox::new(lane, self.height + gap, rows);
        self.height = lane.bottom();
        self.boxes.push(lane);
    }

    /// The lane at `y` points below the first one.
    pub fn at(&self, y: f32) -> Option<&LaneBox> {
        self.boxes.iter().find(|b| (b.top..b.bottom()).contains(&y))
    }

    /// The place of a lane.
    pub fn find(&self, lane: Lane) -> Option<&LaneBox> {
        self.boxes.iter().find(|b| b.lane == lane)
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{RunInfo, RunOptions};

    use super::*;

    #[test]
    fn every_worker_is_there_from_the_beginning() {
        let options = RunOptions {
            num_workers: 2,
            ..RunOptions::default()
        };
        let run = Run::new(RunInfo {
            options,
            ..RunInfo::default()
        });
        let lanes = Lanes::of(&run);
        let names: Vec<String> = lanes.boxes.iter().map(|b| b.lane.to_string()).collect();
        assert_eq!(
            names,
            [
                "trainer",
                "reorder buffer",
                "result queue",
                "worker 0",
                "index queue 0",
                "worker 1",
                "index queue 1"
            ]
        );
        assert!(lanes.boxes.windows(2).all(|w| w[0].bottom() < w[1].top));
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
