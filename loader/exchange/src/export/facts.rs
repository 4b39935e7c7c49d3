//! The short tables: waits, loaders, errors.

use loadscope_trace::{Level, Origin, PinMemory, Run};

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
    Column::all(&[
        ("run", Kind::Int),
        ("name", Kind::Text),
        ("dataset", Kind::Text),
        ("dataset_len", Kind::Int),
        ("batches_per_epoch", Kind::Int),
        ("batch_size", Kind::Int),
        ("num_workers", Kind::Int),
        ("prefetch_factor", Kind::Int),
        ("pin_memory", Kind::Bool),
        ("persistent_workers", Kind::Bool),
        ("in_order", Kind::Bool),
        ("drop_last", Kind::Bool),
        ("rank", Kind::Int),
        ("world_size", Kind::Int),
        ("host", Kind::Text),
        ("origin", Kind::Text),
        ("started_unix_ns", Kind::Int),
        ("run_ns", Kind::Int),
        ("waited_ns", Kind::Int),
        ("epochs", Kind::Int),
        ("batches", Kind::Int),
    ])
}

/// Returns a text, or an empty value if it is unknown.
fn text_or_null(text: &str) -> Cell<'_> {
    match text {
        "" => Cell::None,
        text => Cell::Text(text),
    }
}

/// Writes the row of a loader.
pub(super) fn loader(
    id: Cell<'_>,
    name: &str,
    run: &Run,
    each: RowSink<'_>,
) -> Result<(), Failure> {
    let (info, options) = (&run.info, &run.info.options);
    // Files of other tools do not contain the arguments of the loader.
    let knows_options = !matches!(info.origin, Origin::Import(_));
    let flag = |value: bool| match knows_options {
        true => Cell::Bool(value),
        false => Cell::None,
    };
    let origin = info.origin.key();
    each(&[
        id,
        text_or_null(name),
        text_or_null(&info.dataset),
        Cell::count(info.dataset_len),
        Cell::count(info.batches_per_epoch),
        Cell::count(options.batch_size.filter(|_| knows_options)),
        Cell::count(knows_options.then_some(options.num_workers)),
        // Without workers, no batch is prefetched.
        Cell::count((knows_options && options.num_workers > 0).then(|| options.prefetch())),
        flag(options.pin_memory != PinMemory::Off),
        flag(options.persistent_workers),
        flag(options.in_order),
        flag(options.drop_last),
        Cell::Int(i64::from(info.rank)),
        Cell::Int(i64::from(info.world_size)),
        text_or_null(&info.host),
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
    ])
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
