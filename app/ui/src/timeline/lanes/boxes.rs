//! Rows of the timeline: lanes, headings of groups and charts.

use loadscope_trace::{Lane, Track};
use loadscope_words::say;

use super::super::chart::Chart;
use crate::theme::space;
use loadscope_model::view::LaneGroup;

/// Lane with its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneBox {
    /// Lane that the box shows.
    pub lane: Lane,
    /// Upper edge, points below the first lane.
    pub top: f32,
    /// Height, points.
    pub height: f32,
    /// Maximum number of batches in the lane at the same time.
    pub rows: usize,
    /// Form of the rows.
    pub form: Form,
    /// Height of the sampled stacks below the rows, points.
    pub stacks: f32,
}

/// Form of a lane's rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Form {
    /// Separate rows of this height, points.
    Rows(f32),
    /// An area, if there are too many rows. Its height shows how full the lane is.
    Depth,
    /// All activities of a single process, one after the other.
    Process,
}

/// Heading of a group. A folded heading summarizes its lanes.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupHeading {
    /// Group below the heading.
    pub group: LaneGroup,
    /// Upper edge, points below the first lane.
    pub top: f32,
    /// Height, points.
    pub height: f32,
    /// True if the group's lanes are hidden.
    pub folded: bool,
    /// Lanes in the summary, each with its number of rows.
    pub members: Vec<(Lane, usize)>,
}

/// Chart with its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChartBox {
    /// Quantity that the chart shows.
    pub chart: Chart,
    /// Upper edge, points below the first lane.
    pub top: f32,
    /// Height, points.
    pub height: f32,
}

/// Maximum height of a queue, points.
pub(super) const QUEUE_HEIGHT: f32 = 72.0;
/// Maximum number of rows before a lane becomes an area.
const MOST_ROWS: usize = 16;
/// Height of an index queue below its worker, points.
const INDEX_QUEUE_HEIGHT: f32 = 14.0;
/// Maximum number of rows before an index queue becomes an area.
pub(super) const MOST_INDEX_ROWS: usize = 4;
/// Height of the heading of an unfolded group, points.
pub(super) const HEAD_HEIGHT: f32 = 16.0;
/// Height of the single lane of a loader without workers, which has plenty of room, points.
const PROCESS_HEIGHT: f32 = 40.0;
/// Height of a chart, points.
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
            stacks: 0.0,
        }
    }

    /// Creates the lane of a process that loads, then trains.
    pub(super) fn process(top: f32) -> Self {
        Self {
            lane: Lane::Main,
            top,
            height: PROCESS_HEIGHT,
            rows: 1,
            form: Form::Process,
            stacks: 0.0,
        }
    }

    /// Returns true if this box shows the contents of `lane`.
    pub fn shows(&self, lane: Lane) -> bool {
        self.lane == lane || self.form == Form::Process
    }

    /// Returns the display name.
    pub fn name(&self) -> String {
        match self.form {
            Form::Process => say!("main process").to_owned(),
            Form::Rows(_) | Form::Depth => self.lane.to_string(),
        }
    }

    /// Returns the lower edge.
    pub fn bottom(&self) -> f32 {
        self.rows_bottom() + self.stacks
    }

    /// Returns the lower edge of the rows.
    pub fn rows_bottom(&self) -> f32 {
        self.top + self.height
    }

    /// Returns the upper and lower edge of a row, points below the first lane. Rows are a pixel apart if there is room.
    pub fn row(&self, row: usize) -> (f32, f32) {
        match self.form {
            Form::Depth | Form::Process => (self.top, self.rows_bottom()),
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

    /// Returns the row at `y` points below the first lane. Returns `None` if there is none, or if the lane has no separate rows.
    pub fn row_at(&self, y: f32) -> Option<usize> {
        let Form::Rows(height) = self.form else {
            return None;
        };
        let row = ((y - self.top) / height).max(0.0) as usize;
        (row < self.rows).then_some(row)
    }

    /// Returns the tracks of the lane.
    pub fn tracks(&self) -> impl Iterator<Item = Track> + use<> {
        tracks(self.lane, self.rows)
    }
}

/// Returns the tracks of a lane.
pub fn tracks(lane: Lane, rows: usize) -> impl Iterator<Item = Track> {
    (0..rows).map_while(move |row| {
        let row = u16::try_from(row).ok()?;
        Some(Track { lane, row })
    })
}

impl GroupHeading {
    /// Returns the lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }

    /// Returns the tracks in the summary.
    pub fn tracks(&self) -> impl Iterator<Item = Track> {
        let members = self.members.iter();
        members.flat_map(|(lane, rows)| tracks(*lane, *rows))
    }

    /// Returns the number of rows that fill the height.
    pub fn rows(&self) -> usize {
        self.members.iter().map(|(_, rows)| rows).sum()
    }
}

impl ChartBox {
    /// Returns the lower edge.
    pub fn bottom(&self) -> f32 {
        self.top + self.height
    }
}
