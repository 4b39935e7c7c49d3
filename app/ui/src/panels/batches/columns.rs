//! Columns of the table.

use loadscope_trace::{PinMemory, Run, Stage};
use loadscope_words::say;

use super::durations::{ARRIVED, TIMED, WAITED};

/// Column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Batch,
    Epoch,
    Worker,
    Samples,
    Time(usize),
    Stage,
}

/// Space between two columns, points.
pub const BETWEEN: f32 = 5.0;
/// Width of the scroll bar with its margin, points.
const BAR: f32 = 10.0;

/// Minimum widths of the columns of [`TIMED`], points.
const WIDTHS: [f32; TIMED.len()] = [62.0, 56.0, 65.0, 61.0, 48.0, 52.0, 57.0, 55.0];

/// Returns the widths of columns that fill `room`. If `room` is too narrow, the table scrolls.
pub fn widths(fields: &[Field], room: f32) -> Vec<f32> {
    let limits = || fields.iter().map(|f| f.width());
    let narrowest: f32 = limits().map(|(low, _)| low).sum();
    let gaps = BETWEEN * fields.len() as f32 + BAR;
    let share = ((room - gaps - narrowest).max(0.0) / fields.len() as f32).floor();
    let mut widths: Vec<f32> = limits()
        .map(|(low, high)| (low + share).min(high))
        .collect();
    let rest = room - gaps - widths.iter().sum::<f32>();
    if let Some(last) = widths.last_mut() {
        *last += rest.max(0.0).floor();
    }
    widths
}

/// Returns the columns that have values in this run.
pub fn fields(run: &Run) -> Vec<Field> {
    let mut fields = vec![Field::Batch];
    fields.extend((run.epochs().len() > 1).then_some(Field::Epoch));
    fields.extend([Field::Worker, Field::Samples]);
    fields.extend([WAITED, ARRIVED].map(Field::Time));
    let pins = run.info.options.pin_memory != PinMemory::Off
        || run
            .lanes()
            .any(|(lane, _)| lane == loadscope_trace::Lane::Pin);
    let shown = |k: &usize| pins || TIMED[*k].0 != Stage::Pinning;
    fields.extend((0..TIMED.len()).filter(shown).map(Field::Time));
    fields.push(Field::Stage);
    fields
}

impl Field {
    /// Returns the name without a unit.
    pub fn name(self) -> &'static str {
        match self {
            Self::Batch => say!("Batch"),
            Self::Epoch => say!("Epoch"),
            Self::Worker => say!("Worker"),
            Self::Samples => say!("Samples"),
            Self::Time(WAITED) => say!("Waited"),
            Self::Time(ARRIVED) => say!("Arrived"),
            Self::Time(k) => TIMED[k].1.say(),
            Self::Stage => say!("Stage now"),
        }
    }

    /// Returns the minimum and maximum useful width, points.
    fn width(self) -> (f32, f32) {
        match self {
            Self::Stage => (80.0, f32::INFINITY),
            Self::Time(ARRIVED) => (74.0, 92.0),
            // The widths are enough for the names with a unit.
            Self::Time(k) => (WIDTHS.get(k).copied().unwrap_or(62.0), 84.0),
            Self::Samples => (50.0, 66.0),
            Self::Batch | Self::Epoch | Self::Worker => (46.0, 66.0),
        }
    }

    /// Returns the description of the column.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Batch => say!("Task index within the epoch"),
            Self::Epoch => say!("Epoch, counted from 0"),
            Self::Worker => say!("Worker that fetched the batch"),
            Self::Samples => say!("Samples in the batch"),
            Self::Time(WAITED) => say!("Time the trainer waited for the batch"),
            Self::Time(ARRIVED) => say!(
                "Early: finished this long before the trainer asked. Late: finished this long after, and the trainer waited."
            ),
            Self::Time(k) => TIMED[k].0.explanation(),
            Self::Stage => say!("Stage at the time cursor"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_columns_fill_the_available_width() {
        let mut all = vec![Field::Batch, Field::Worker, Field::Samples];
        all.extend((0..=ARRIVED).map(Field::Time));
        all.push(Field::Stage);
        for room in [200.0, 860.0, 980.0, 1_600.0] {
            let widths = widths(&all, room);
            let taken = widths.iter().sum::<f32>() + BETWEEN * all.len() as f32 + BAR;
            let least: f32 = all.iter().map(|f| f.width().0).sum();
            let narrowest = least + BETWEEN * all.len() as f32 + BAR;
            assert!(taken <= room.max(narrowest), "{room}: {taken}");
            assert!(taken >= room.min(narrowest) - 1.0, "{room}: {taken}");
        }
    }
}
