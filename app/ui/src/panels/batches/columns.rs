//! Columns of the table. A column is one variant: its name, width, filter words, value, sort key and cell are below.

use egui::{Align, Color32, Label, Layout, RichText, Sense, Ui, vec2};
use loadscope_insight::format;
use loadscope_insight::waits::{LONG, wait_for};
use loadscope_trace::{Lane, Nanos, PinMemory, Run, Stage};
use loadscope_words::say;
use strum::VariantArray;

use super::unit::Unit;
use crate::pipeline::stage_dot;
use crate::theme::{Palette, mono, size};

/// Column of the table, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Column {
    Batch,
    Epoch,
    Worker,
    Samples,
    /// Time that the trainer waited for the batch.
    Waited,
    /// Time between the end of work on the batch and the trainer's request. It is negative if the batch was late.
    Arrived,
    Queued,
    Fetch,
    Collate,
    Return,
    Pin,
    Held,
    Ready,
    Train,
    Stage,
}

/// Value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Batch,
    Epoch,
    Worker,
    Samples,
    Waited,
    Arrived,
    /// Time in a stage.
    Time(Stage),
    /// Stage at the time cursor.
    Stage,
}

/// Number of columns with a time.
pub const TIMES: usize = {
    let (mut count, mut at) = (0, 0);
    while at < Column::ALL.len() {
        count += Column::ALL[at].has_time() as usize;
        at += 1;
    }
    count
};
/// Value of a stage that the batch has not been in.
const NONE: i64 = i64::MIN;

/// Times of a batch in all time columns, ns.
#[derive(Clone, Copy, Debug)]
pub struct Times([i64; TIMES]);

impl Times {
    /// Returns the time in a column. Returns `None` if the batch has none.
    pub fn get(&self, column: Column) -> Option<Nanos> {
        let time = self.0.get(column.time()?)?;
        (*time != NONE).then_some(Nanos(*time))
    }

    /// Measures the batch at `row`.
    pub fn of(run: &Run, row: usize) -> Self {
        let mut all = [NONE; TIMES];
        let path = run.path(row);
        for step in &path {
            let mut columns = Column::ALL.iter();
            let column = columns.find(|column| column.value() == Value::Time(step.stage));
            if let (Some(k), Some(end)) = (column.and_then(|column| column.time()), step.end) {
                all[k] = all[k].max(0) + (end - step.start).0;
            }
        }
        let Some(wait) = wait_for(run, row) else {
            return Self(all);
        };
        // Time when the batch was last put into a queue. Without such a time, the end of the work on the batch.
        let put = path.iter().rev().find(|s| s.stage == Stage::Returning);
        let worked = path.iter().rev().find(|s| s.stage <= Stage::Collating);
        let finished = match (put, worked) {
            (Some(put), _) => Some(put.start),
            (None, Some(worked)) if run.measures(Stage::Fetching) => worked.end,
            (None, _) => None,
        };
        let mut set = |column: Column, time: Nanos| {
            if let Some(k) = column.time() {
                all[k] = time.0;
            }
        };
        set(Column::Waited, wait.end - wait.start);
        if let Some(finished) = finished {
            set(Column::Arrived, wait.start - finished);
        }
        Self(all)
    }
}

/// Contents of a cell besides the batch itself.
pub struct Cell {
    /// Time of the batch in a time column.
    pub time: Option<Nanos>,
    /// Unit of the times in the column.
    pub unit: Unit,
    /// True if the time is among the slowest of the column.
    pub is_slow: bool,
    /// Stage of the batch at the time cursor.
    pub stage: Option<Stage>,
}

impl Column {
    /// All columns, from left to right.
    pub const ALL: &[Self] = Self::VARIANTS;

    const fn value(self) -> Value {
        match self {
            Self::Batch => Value::Batch,
            Self::Epoch => Value::Epoch,
            Self::Worker => Value::Worker,
            Self::Samples => Value::Samples,
            Self::Waited => Value::Waited,
            Self::Arrived => Value::Arrived,
            Self::Queued => Value::Time(Stage::Queued),
            Self::Fetch => Value::Time(Stage::Fetching),
            Self::Collate => Value::Time(Stage::Collating),
            Self::Return => Value::Time(Stage::Returning),
            Self::Pin => Value::Time(Stage::Pinning),
            Self::Held => Value::Time(Stage::Held),
            Self::Ready => Value::Time(Stage::Ready),
            Self::Train => Value::Time(Stage::Training),
            Self::Stage => Value::Stage,
        }
    }

    const fn has_time(self) -> bool {
        match self.value() {
            Value::Waited | Value::Arrived | Value::Time(_) => true,
            Value::Batch | Value::Epoch | Value::Worker | Value::Samples | Value::Stage => false,
        }
    }

    /// Returns true if the column has values in this run.
    pub fn has_values(self, run: &Run) -> bool {
        match self.value() {
            Value::Epoch => run.epochs().len() > 1,
            Value::Time(Stage::Pinning) => {
                run.info.options.pin_memory != PinMemory::Off
                    || run.lanes().any(|(lane, _)| lane == Lane::Pin)
            }
            Value::Batch | Value::Worker | Value::Samples | Value::Stage => true,
            Value::Waited | Value::Arrived | Value::Time(_) => true,
        }
    }

    /// Returns the position of the column among those with a time.
    pub fn time(self) -> Option<usize> {
        let mut all = Self::ALL.iter().filter(|column| column.has_time());
        all.position(|column| *column == self)
    }

    /// Returns the name without a unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => say!("Batch"),
            Self::Epoch => say!("Epoch"),
            Self::Worker => say!("Worker"),
            Self::Samples => say!("Samples"),
            Self::Waited => say!("Waited"),
            Self::Arrived => say!("Arrived"),
            Self::Queued => say!("Queued"),
            Self::Fetch => say!("Fetch"),
            Self::Collate => say!("Collate"),
            Self::Return => say!("Return"),
            Self::Pin => say!("Pin"),
            Self::Held => say!("Held"),
            Self::Ready => say!("Ready"),
            Self::Train => say!("Train"),
            Self::Stage => say!("Stage now"),
        }
    }

    /// Returns the names of a time column in a filter.
    pub fn filter_words(self) -> &'static [&'static str] {
        match self {
            Self::Waited => &["waited", "wait", "trainer waited"],
            Self::Queued => &["queued", "queue"],
            Self::Fetch => &["fetch", "fetching"],
            Self::Collate => &["collate", "collating"],
            Self::Return => &["return", "returning"],
            Self::Pin => &["pin", "pinning"],
            Self::Held => &["held"],
            Self::Ready => &["ready"],
            Self::Train => &["train", "training"],
            Self::Batch | Self::Epoch | Self::Worker | Self::Samples => &[],
            Self::Arrived | Self::Stage => &[],
        }
    }

    /// Returns the description of the column.
    pub fn meaning(self) -> &'static str {
        match self.value() {
            Value::Batch => say!("Task index within the epoch"),
            Value::Epoch => say!("Epoch, counted from 0"),
            Value::Worker => say!("Worker that fetched the batch"),
            Value::Samples => say!("Samples in the batch"),
            Value::Waited => say!("Time the trainer waited for the batch"),
            Value::Arrived => say!(
                "Early: finished this long before the trainer asked. Late: finished this long after, and the trainer waited."
            ),
            Value::Time(stage) => stage.explanation(),
            Value::Stage => say!("Stage at the time cursor"),
        }
    }

    /// Returns the minimum and maximum useful width, points. The widths are enough for the names with a unit.
    pub fn width(self) -> (f32, f32) {
        match self {
            Self::Batch | Self::Epoch | Self::Worker => (46.0, 66.0),
            Self::Samples => (50.0, 66.0),
            Self::Arrived => (74.0, 92.0),
            Self::Waited | Self::Queued => (62.0, 84.0),
            Self::Fetch => (56.0, 84.0),
            Self::Collate => (65.0, 84.0),
            Self::Return => (61.0, 84.0),
            Self::Pin => (48.0, 84.0),
            Self::Held => (52.0, 84.0),
            Self::Ready => (57.0, 84.0),
            Self::Train => (55.0, 84.0),
            Self::Stage => (80.0, f32::INFINITY),
        }
    }

    /// Returns the sort key of the batch at `row`, which has this time in the column.
    pub fn key(self, run: &Run, row: usize, time: Option<Nanos>) -> i64 {
        let batch = &run.batches()[row];
        match self.value() {
            Value::Batch => i64::from(batch.id.epoch) << 32 | i64::from(batch.id.idx),
            Value::Epoch => i64::from(batch.id.epoch),
            Value::Worker => batch.worker.map_or(-1, i64::from),
            Value::Samples => samples(run, row) as i64,
            Value::Stage => batch.stage as i64,
            Value::Waited | Value::Arrived | Value::Time(_) => time.map_or(NONE, |time| time.0),
        }
    }

    /// Returns true if the first sorting has the largest value at the top.
    pub fn sorts_down(self) -> bool {
        self.has_time() || self == Self::Samples
    }

    /// Shows the value of the batch at `row`. Its color depends on how unusual the value is.
    pub fn cell(self, ui: &mut Ui, run: &Run, row: usize, cell: &Cell) {
        let palette = Palette::of(ui.ctx());
        let batch = &run.batches()[row];
        let worker = || batch.worker.map_or("—".to_owned(), |w| w.to_string());
        let (text, color) = match self.value() {
            Value::Batch => (batch.id.idx.to_string(), palette.text),
            Value::Epoch => (batch.id.epoch.to_string(), palette.weak),
            Value::Worker => (worker(), palette.text),
            Value::Samples => match samples(run, row) {
                0 => ("—".to_owned(), palette.weak),
                n => (format::count(n as u64), palette.text),
            },
            Value::Stage => return stage_now(ui, cell.stage),
            Value::Waited | Value::Arrived | Value::Time(_) => match cell.time {
                None => ("—".to_owned(), palette.weak),
                Some(time) if self == Self::Arrived => arrived(time, cell.unit, palette),
                Some(time) if self == Self::Waited && time >= LONG => {
                    (cell.unit.write(time), palette.stall)
                }
                Some(time) if cell.is_slow => (cell.unit.write(time), palette.strong),
                Some(time) => {
                    let usual = palette.weak.lerp_to_gamma(palette.text, 0.6);
                    (cell.unit.write(time), usual)
                }
            },
        };
        let text = RichText::new(text).font(mono(size::SMALL)).color(color);
        ui.add(Label::new(text).selectable(false));
    }
}

fn samples(run: &Run, row: usize) -> usize {
    run.indices(row).len().max(run.samples(row).len())
}

/// Formats how early or late a batch arrived. A noticeable delay is red.
fn arrived(by: Nanos, unit: Unit, palette: &Palette) -> (String, Color32) {
    let long = unit.write(Nanos(by.0.saturating_abs()));
    match by < Nanos::ZERO {
        true if by.0 <= -LONG.0 => (say!("{long} late"), palette.stall),
        true => (say!("{long} late"), palette.weak),
        false => (say!("{long} early"), palette.text),
    }
}

fn stage_now(ui: &mut Ui, stage: Option<Stage>) {
    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
        ui.add_space(8.0);
        let (dot, _) = ui.allocate_exact_size(vec2(8.0, 8.0), Sense::hover());
        stage_dot(ui, dot, stage);
        let word = stage.map_or("—", Stage::label);
        ui.add(Label::new(word).selectable(false).truncate());
    });
}

/// Space between two columns, points.
pub const BETWEEN: f32 = 5.0;
/// Width of the scroll bar with its margin, points.
const BAR: f32 = 10.0;

/// Returns the widths of columns that fill `room`. If `room` is too narrow, the table scrolls.
pub fn widths(columns: &[Column], room: f32) -> Vec<f32> {
    let limits = || columns.iter().map(|column| column.width());
    let narrowest: f32 = limits().map(|(low, _)| low).sum();
    let gaps = BETWEEN * columns.len() as f32 + BAR;
    let share = ((room - gaps - narrowest).max(0.0) / columns.len() as f32).floor();
    let mut widths: Vec<f32> = limits()
        .map(|(low, high)| (low + share).min(high))
        .collect();
    let rest = room - gaps - widths.iter().sum::<f32>();
    if let Some(last) = widths.last_mut() {
        *last += rest.max(0.0).floor();
    }
    widths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_columns_fill_the_available_width() {
        let all = Column::ALL.iter().copied();
        let all: Vec<Column> = all.filter(|column| *column != Column::Epoch).collect();
        for room in [200.0, 860.0, 980.0, 1_600.0] {
            let widths = widths(&all, room);
            let taken = widths.iter().sum::<f32>() + BETWEEN * all.len() as f32 + BAR;
            let least: f32 = all.iter().map(|column| column.width().0).sum();
            let narrowest = least + BETWEEN * all.len() as f32 + BAR;
            assert!(taken <= room.max(narrowest), "{room}: {taken}");
            assert!(taken >= room.min(narrowest) - 1.0, "{room}: {taken}");
        }
    }
}
