//! The short tables: waits, loaders, errors.

use loadscope_trace::{ArgValue, Argument, Level, Origin, Run, RunOptions};

use super::cell::Failure;
use super::cell::{Cell, Column, Kind};

type RowSink<'a> = &'a mut dyn FnMut(&[Cell<'_>]) -> Result<(), Failure>;

/// Returns the columns of the table of waits.
pub(super) fn wait_columns() -> Vec<Column> {
    Column::all(&[
        ("run", Kind::Int),
        ("epoch", Kind::Int),
        ("batch", Kind::Int),
        ("start_ns", Kind::Int),
        ("waited_ns", Kind::Int),
    ])
}

/// Writes one row per wait of the trainer.
pub(super) fn waits(id: Cell<'_>, run: &Run, each: RowSink<'_>) -> Result<(), Failure> {
    for wait in run.waits() {
        let batch = wait.batch.and_then(|row| run.batches().get(row as usize));
        each(&[
            id,
            Cell::count(batch.map(|b| b.id.epoch)),
            Cell::count(batch.map(|b| b.id.idx)),
            Cell::Int(wait.start.0),
            Cell::Int((wait.end.min(run.end()) - wait.start).0),
        ])?;
    }
    Ok(())
}

/// Returns the columns of the table of loaders.
pub(super) fn loader_columns() -> Vec<Column> {
    let before = Column::all(&[
        ("run", Kind::Int),
        ("name", Kind::Text),
        ("dataset", Kind::Text),
        ("dataset_len", Kind::Int),
        ("batches_per_epoch", Kind::Int),
    ]);
    let arguments = Argument::EXPORTED.map(|argument| Column {
        name: argument.name().to_owned(),
        kind: match argument.effective(&RunOptions::default()) {
            ArgValue::Flag(_) => Kind::Bool,
            ArgValue::Real(_) => Kind::Float,
            ArgValue::Text(_) | ArgValue::Name(_) => Kind::Text,
            ArgValue::Count(_) | ArgValue::None => Kind::Int,
        },
    });
    let after = Column::all(&[
        ("rank", Kind::Int),
        ("world_size", Kind::Int),
        ("host", Kind::Text),
        ("origin", Kind::Text),
        ("started_unix_ns", Kind::Int),
        ("run_ns", Kind::Int),
        ("waited_ns", Kind::Int),
        ("epochs", Kind::Int),
        ("batches", Kind::Int),
    ]);
    before.into_iter().chain(arguments).chain(after).collect()
}

/// Writes the row of a loader.
pub(super) fn loader(
    id: Cell<'_>,
    name: &str,
    run: &Run,
    each: RowSink<'_>,
) -> Result<(), Failure> {
    let (info, options) = (&run.info, &run.info.options);
    let origin = info.origin.key();
    let arguments = Argument::EXPORTED.map(|argument| match info.origin {
        // Files of other tools do not contain the arguments of the loader.
        Origin::Import(_) => ArgValue::None,
        // Without workers, no batch is prefetched.
        _ if argument == Argument::PrefetchFactor && options.num_workers == 0 => ArgValue::None,
        _ => argument.effective(options),
    });
    let mut cells = vec![
        id,
        Cell::text(name),
        Cell::text(&info.dataset),
        Cell::count(info.dataset_len),
        Cell::count(info.batches_per_epoch),
    ];
    cells.extend(arguments.iter().map(|value| match value {
        ArgValue::None => Cell::None,
        ArgValue::Flag(on) => Cell::Bool(*on),
        ArgValue::Count(n) => Cell::count(Some(*n)),
        ArgValue::Real(x) => Cell::Float(*x),
        ArgValue::Text(text) => Cell::Text(text),
        ArgValue::Name(name) => Cell::Text(name),
    }));
    cells.extend([
        Cell::Int(i64::from(info.rank)),
        Cell::Int(i64::from(info.world_size)),
        Cell::text(&info.host),
        Cell::Text(&origin),
        match info.started_unix_ns {
            0 => Cell::None,
            at => Cell::Int(at),
        },
        Cell::Int(run.in_loop().0),
        match run.has_only_parts() {
            true => Cell::None,
            false => Cell::Int(run.waited().0),
        },
        Cell::count(Some(run.epochs().len())),
        Cell::count(Some(run.batches().len())),
    ]);
    each(&cells)
}

/// Returns the columns of the table of errors.
pub(super) fn error_columns() -> Vec<Column> {
    Column::all(&[
        ("run", Kind::Int),
        ("at_ns", Kind::Int),
        ("severity", Kind::Text),
        ("epoch", Kind::Int),
        ("batch", Kind::Int),
        ("worker", Kind::Int),
        ("sample", Kind::Unsigned),
        ("text", Kind::Text),
    ])
}

/// Writes one row per error and warning.
pub(super) fn errors(id: Cell<'_>, run: &Run, each: RowSink<'_>) -> Result<(), Failure> {
    for (at, message) in run.messages() {
        let severity = match message.level {
            Level::Info => continue,
            Level::Warning => "warning",
            Level::Error => "error",
        };
        each(&[
            id,
            Cell::Int(at.0),
            Cell::Text(severity),
            Cell::count(message.about.map(|b| b.epoch)),
            Cell::count(message.about.map(|b| b.idx)),
            Cell::worker(message.worker),
            message.sample.map_or(Cell::None, Cell::Unsigned),
            Cell::Text(&message.text),
        ])?;
    }
    Ok(())
}
