//! What stands below one another: lanes, headings of groups, quantities.

use loadscope_trace::{Lane, Track};
use loadscope_words::say;

use super::super::chart::Chart;
use crate::theme::space;
use loadscope_model::view::LaneGroup;

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
    /// All that one process does, one after the other.
    Process,
}

/// The heading of a group. Folded, it sums its lanes up.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// Of which group.
    pub group: LaneGroup,
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

/// A queue never grows higher than this, points.
pub(super) const QUEUE_HEIGHT: f32 = 72.0;
/// More rows than this become an area.
const MOST_ROWS: usize = 16;
/// Height of an index queue: it hangs below its worker.
const INDEX_QUEUE_HEIGHT: f32 = 14.0;
/// More rows than this become an area in an index queue.
pub(super) const MOST_INDEX_ROWS: usize = 4;
/// Height of the heading of a group whose lanes are shown.
pub(super) const HEAD_HEIGHT: f32 = 16.0;
/// Height of the one lane of a loader without workers: there is no other that needs the room.
const PROCESS_HEIGHT: f32 = 40.0;
/// Height of a quantity.
pub(super) const CHART_HEIGHT: f32 = 28.0;

impl LaneBox {
    pub(super) fn new(lane: Lane, top: f32, rows: usize) -> Self {
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

    /// The lane of a process that loads, then trains.
    pub(super) fn process(top: f32) -> Self {
        Self {
            lane: Lane::Main,
            top,
            height: PROCESS_HEIGHT,
            rows: 1,
            form: Form::Process,
        }
    }

    /// True if what is in `lane` is shown in this one.
    pub fn shows(&self, lane: Lane) -> bool {
        self.lane == lane || self.form == Form::Process
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self.form {
            Form::Process => say!("main process").to_owned(),
            Form::Rows(_) | Form::Depth => self.lane.to_string(),
        }
    }

    /// Its lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }

    /// Upper and lower edge of a row, points below the first lane. Rows are a pixel apart where there is room.
    pub fn row(&self, row: usize) -> (f32, f32) {
        match self.form {
            Form::Depth | Form::Process => (self.top, self.bottom()),
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
