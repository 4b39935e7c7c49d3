//! Columns and rows of the tables, independent of the format.

use std::collections::{HashMap, HashSet};

use loadscope_trace::{GaugeKind, Nanos, Run, RunId, Stage, View};

use super::cell::Failure;
use super::cell::{Cell, Column, Kind};
use super::{facts, stacks};

/// Exported table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    /// One row per batch.
    Batches,
    /// One row per sample.
    Samples,
    /// One row per measurement.
    Gauges,
    /// One row per wait.
    Waits,
    /// One row per loader.
    Loaders,
    /// One row per error or warning.
    Errors,
    /// One row per equal consecutive stack samples of a process.
    Stacks,
}

/// Stages with a duration, in the order of a batch's path, with their columns.
const STAGES: [(Stage, &str); 8] = [
    (Stage::Queued, "queued_ns"),
    (Stage::Fetching, "fetching_ns"),
    (Stage::Collating, "collating_ns"),
    (Stage::Returning, "returning_ns"),
    (Stage::Pinning, "pinning_ns"),
    (Stage::Held, "held_ns"),
    (Stage::Ready, "ready_ns"),
    (Stage::Training, "training_ns"),
];

/// Number of rows between two calls of `progress`.
const PROGRESS_INTERVAL: usize = 1 << 14;

impl Table {
    pub const ALL: [Self; 7] = [
        Self::Batches,
        Self::Samples,
        Self::Gauges,
        Self::Waits,
        Self::Loaders,
        Self::Errors,
        Self::Stacks,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Batches => "batches",
            Self::Samples => "samples",
            Self::Gauges => "gauges",
            Self::Waits => "waits",
            Self::Loaders => "loaders",
            Self::Errors => "errors",
            Self::Stacks => "stacks",
        }
    }

    /// Returns the columns for these runs.
    pub fn columns(self, runs: &[(RunId, &Run)]) -> Vec<Column> {
        match self {
            Self::Batches => {
                let mut columns = Column::all(&[
                    ("run", Kind::Int),
                    ("epoch", Kind::Int),
                    ("batch", Kind::Int),
                    ("worker", Kind::Int),
                    ("stage", Kind::Text),
                    ("samples", Kind::Int),
                    ("was_held", Kind::Bool),
                    ("has_error", Kind::Bool),
                    ("dispatched_at_ns", Kind::Int),
                    ("handed_out_at_ns", Kind::Int),
                    ("ended_at_ns", Kind::Int),
                    ("waited_ns", Kind::Int),
                ]);
                columns.extend(Column::all(&STAGES.map(|(_, name)| (name, Kind::Int))));
                columns
            }
            Self::Samples => {
                let mut columns = Column::all(&[
                    ("run", Kind::Int),
                    ("epoch", Kind::Int),
                    ("batch", Kind::Int),
                    ("position", Kind::Int),
                    ("sample", Kind::Unsigned),
                    ("worker", Kind::Int),
                    ("start_ns", Kind::Int),
                    ("wall_ns", Kind::Int),
                    ("cpu_ns", Kind::Int),
                ]);
                columns.extend(stage_names(runs).into_iter().map(|name| Column {
                    name: format!("stage_{name}_ns"),
                    kind: Kind::Int,
                }));
                columns
            }
            Self::Gauges => Column::all(&[
                ("run", Kind::Int),
                ("at_ns", Kind::Int),
                ("lane", Kind::Text),
                ("part", Kind::Text),
                ("what", Kind::Text),
                ("unit", Kind::Text),
                ("value", Kind::Float),
            ]),
            Self::Waits => facts::wait_columns(),
            Self::Loaders => facts::loader_columns(),
            Self::Errors => facts::error_columns(),
            Self::Stacks => stacks::columns(),
        }
    }

    /// Passes the rows to `each`, with cells in the order of [`Table::columns`].
    pub fn rows(
        self,
        runs: &[(RunId, &Run)],
        names: &[String],
        progress: &mut dyn FnMut(f32) -> bool,
        each: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let stages = match self {
            Self::Samples => stage_names(runs),
            _ => Vec::new(),
        };
        for (k, (id, run)) in runs.iter().enumerate() {
            let id = Cell::Int(i64::from(id.0));
            let mut tell = |share: f32| progress((k as f32 + share) / runs.len() as f32);
            match self {
                Self::Batches => batches(id, run, &mut tell, each)?,
                Self::Samples => samples(id, run, &stages, &mut tell, each)?,
                Self::Gauges => gauges(id, run, each)?,
                Self::Waits => facts::waits(id, run, each)?,
                Self::Loaders => {
                    facts::loader(id, names.get(k).map_or("", String::as_str), run, each)?
                }
                Self::Errors => facts::errors(id, run, each)?,
                Self::Stacks => stacks::rows(id, run, each)?,
            }
        }
        Ok(())
    }
}

type RowSink<'a> = &'a mut dyn FnMut(&[Cell<'_>]) -> Result<(), Failure>;
type Progress<'a> = &'a mut dyn FnMut(f32) -> bool;

/// Reports progress every [`PROGRESS_INTERVAL`] rows. Fails if the export is canceled.
fn report_progress(progress: Progress<'_>, k: usize, count: usize) -> Result<(), Failure> {
    if k.is_multiple_of(PROGRESS_INTERVAL) && !progress(k as f32 / count.max(1) as f32) {
        return Err(Failure::Cancelled);
    }
    Ok(())
}

fn batches(
    id: Cell<'_>,
    run: &Run,
    progress: Progress<'_>,
    each: RowSink<'_>,
) -> Result<(), Failure> {
    let all = run.batches();
    let mut waited: Vec<Option<Nanos>> = vec![None; all.len()];
    for wait in run.waits() {
        if let Some(of) = wait.batch.and_then(|row| waited.get_mut(row as usize)) {
            *of = Some(of.unwrap_or_default() + (wait.end.min(run.end()) - wait.start));
        }
    }
    let mut row = Vec::with_capacity(20);
    for (k, batch) in all.iter().enumerate() {
        report_progress(progress, k, all.len())?;
        let path = run.path(k);
        let mut took = [None; STAGES.len()];
        for step in &path {
            let at = STAGES.iter().position(|(stage, _)| *stage == step.stage);
            if let (Some(at), Some(end)) = (at, step.end) {
                took[at] = Some(took[at].unwrap_or(Nanos::ZERO) + (end - step.start));
            }
        }
        let entered = |stage: Stage| path.iter().find(|s| s.stage == stage).map(|s| s.start);
        let ended = path.last().filter(|s| s.stage.is_final());
        row.clear();
        row.extend([
            id,
            Cell::Int(i64::from(batch.id.epoch)),
            Cell::Int(i64::from(batch.id.idx)),
            Cell::worker(batch.worker),
            Cell::Text(batch.stage.id()),
            match batch.samples() {
                // The source does not report the number of samples.
                0 => Cell::None,
                n => Cell::Int(i64::from(n)),
            },
            Cell::Bool(batch.was_held),
            Cell::Bool(batch.has_error),
            entered(Stage::Queued).into(),
            entered(Stage::Training).into(),
            ended.map(|s| s.start).into(),
            waited[k].into(),
        ]);
        row.extend(took.map(Cell::from));
        each(&row)?;
    }
    Ok(())
}

/// Returns the names of the stages inside of samples.
fn stage_names(runs: &[(RunId, &Run)]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut known = HashSet::new();
    for list in runs.iter().flat_map(|(_, run)| run.stage_names()) {
        names.extend(list.iter().filter(|name| known.insert(*name)).cloned());
    }
    names
}

fn samples(
    id: Cell<'_>,
    run: &Run,
    names: &[String],
    progress: Progress<'_>,
    each: RowSink<'_>,
) -> Result<(), Failure> {
    let all = run.batches();
    let mut row = Vec::with_capacity(9 + names.len());
    for (k, batch) in all.iter().enumerate() {
        report_progress(progress, k, all.len())?;
        let indices = run.indices(k);
        let mut timings = run.samples(k);
        let stages = run.sample_stages(k);
        // The first of several stages with the same name counts.
        let names_here = stages.iter().flat_map(|s| s.names.iter().enumerate().rev());
        let places: HashMap<&String, usize> = names_here.map(|(at, name)| (name, at)).collect();
        let columns: Vec<Option<usize>> =
            names.iter().map(|name| places.get(name).copied()).collect();
        for position in 0..batch.samples() as usize {
            let timing = timings.next();
            row.clear();
            row.extend([
                id,
                Cell::Int(i64::from(batch.id.epoch)),
                Cell::Int(i64::from(batch.id.idx)),
                Cell::Int(position as i64),
                indices
                    .get(position)
                    .map_or(Cell::None, |i| Cell::Unsigned(*i)),
                Cell::worker(batch.worker),
                timing.map(|t| t.start).into(),
                timing.map(|t| t.wall).into(),
                timing.and_then(|t| t.cpu).into(),
            ]);
            row.extend(columns.iter().map(|column| match (stages, column) {
                (Some(stages), Some(at)) if timing.is_some() => {
                    Cell::Int(stages.wall(*at, position).0)
                }
                _ => Cell::None,
            }));
            each(&row)?;
        }
    }
    Ok(())
}

fn gauges(id: Cell<'_>, run: &Run, each: RowSink<'_>) -> Result<(), Failure> {
    let mut series = |lane: Option<String>,
                      part: Option<&str>,
                      what: GaugeKind,
                      points: View<'_, (Nanos, f64)>| {
        for (at, value) in points {
            each(&[
                id,
                Cell::Int(at.0),
                lane.as_deref().map_or(Cell::None, Cell::Text),
                part.map_or(Cell::None, Cell::Text),
                Cell::Text(what.id()),
                Cell::Text(what.unit()),
                match value.is_finite() {
                    true => Cell::Float(*value),
                    false => Cell::None,
                },
            ])?;
        }
        Ok::<(), Failure>(())
    };
    for (lane, what, values) in run.gauges() {
        series(lane.map(|l| l.key()), None, what, values.points())?;
    }
    for (part, what, values) in run.part_gauges() {
        let name = run.parts().get(usize::from(part)).map(String::as_str);
        series(None, name, what, values.points())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_documented() {
        let documented = include_str!("../../TABLES.md");
        let run = Run::default();
        for table in Table::ALL {
            let heading = format!("### {}:", table.name());
            let section = documented.split_once(&heading).map(|(_, rest)| rest);
            let section = section.and_then(|rest| rest.split("### ").next());
            let section = section.expect("the table has a section");
            for column in table.columns(&[(RunId(0), &run)]) {
                let name = format!("`{}`", column.name);
                assert!(section.contains(&name), "{name} of {}", table.name());
            }
        }
    }
}
