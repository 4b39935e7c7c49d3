//! Sampled stacks: the table of their lines, and the parts that all exports of stacks share.

use std::collections::HashMap;

use loadscope_trace::{Function, Lane, Nanos, Run, SampledStack, Span, StackLog, WorkerId};

use super::cell::{Cell, Column, Failure, Kind};

type RowSink<'a> = &'a mut dyn FnMut(&[Cell<'_>]) -> Result<(), Failure>;

/// Returns the columns of the table of stacks.
pub(super) fn columns() -> Vec<Column> {
    Column::all(&[
        ("run", Kind::Int),
        ("epoch", Kind::Int),
        ("batch", Kind::Int),
        ("activity", Kind::Text),
        ("worker", Kind::Int),
        ("start_ns", Kind::Int),
        ("wall_ns", Kind::Int),
        ("count", Kind::Int),
        ("function", Kind::Text),
        ("file", Kind::Text),
        ("line", Kind::Int),
        ("own_function", Kind::Text),
        ("own_file", Kind::Text),
        ("own_line", Kind::Int),
    ])
}

/// Writes one row per equal consecutive samples of a process during one activity.
pub(super) fn rows(id: Cell<'_>, run: &Run, each: RowSink<'_>) -> Result<(), Failure> {
    let log = run.stacks();
    for worker in log.processes() {
        each_activity(run, worker, |samples, span| {
            let batch = span.and_then(Span::batch);
            let batch = batch.and_then(|row| run.batches().get(row));
            let innermost = log.calls(samples.stack).next();
            let [function, file, line] = place(innermost.map(|call| (call.function, call.line)));
            let [own_function, own_file, own_line] = place(log.line_of(samples.stack));
            each(&[
                id,
                Cell::count(batch.map(|b| b.id.epoch)),
                Cell::count(batch.map(|b| b.id.idx)),
                span.map_or(Cell::None, |span| Cell::Text(span.activity.id())),
                Cell::worker(worker),
                Cell::Int(samples.start.0),
                Cell::Int((samples.end(log.period()) - samples.start).0),
                Cell::Int(i64::from(samples.count)),
                function,
                file,
                line,
                own_function,
                own_file,
                own_line,
            ])
        })?;
    }
    Ok(())
}

/// Returns the name and the file of a function, and its line.
fn place(line: Option<(&Function, u32)>) -> [Cell<'_>; 3] {
    match line {
        Some((function, line)) => [
            Cell::text(&function.name),
            Cell::text(&function.file),
            Cell::count(Some(line).filter(|line| *line > 0)),
        ],
        None => [Cell::None; 3],
    }
}

/// Passes the samples of a process to `each`, cut where a span of the process starts or ends, with their span.
pub(super) fn each_activity(
    run: &Run,
    worker: Option<WorkerId>,
    mut each: impl FnMut(SampledStack, Option<&Span>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // With `num_workers=0`, the main process fetches while the trainer waits.
    let lanes = worker.map_or(vec![Lane::Main, Lane::Trainer], |w| vec![Lane::Worker(w)]);
    let tracks = lanes.into_iter().flat_map(|lane| run.rows_of(lane));
    let mut tracks: Vec<_> = tracks.map(|spans| (spans, 0)).collect();
    let (log, period) = (run.stacks(), run.stacks().period());
    for mut rest in log.samples(worker, Nanos(i64::MIN)..Nanos::MAX) {
        while rest.count > 0 {
            let (mut span, mut until) = (None, Nanos::MAX);
            for (spans, at) in &mut tracks {
                *at = spans.gallop(*at, rest.start);
                let Some(next) = spans.all().get(*at) else {
                    continue;
                };
                if next.start > rest.start {
                    until = until.min(next.start);
                } else if span.is_none() {
                    (span, until) = (Some(next), until.min(next.end));
                }
            }
            let inside = rest.within(rest.start..until, period);
            let inside = inside.map_or(1, |inside| inside.count);
            let count = match until {
                Nanos::MAX => rest.count,
                _ => inside.min(rest.count),
            };
            let part = SampledStack { count, ..rest };
            each(part, span)?;
            rest.start = part.end(period);
            rest.count -= count;
        }
    }
    Ok(())
}

/// Returns the name of a process.
pub(super) fn process_name(worker: Option<WorkerId>) -> String {
    let worker = worker.map(|w| Lane::Worker(w).key());
    worker.unwrap_or_else(|| "main process".to_owned())
}

/// Functions with an executed line, numbered in the order of appearance.
#[derive(Default)]
pub(super) struct Frames<'a> {
    pub all: Vec<(&'a Function, u32)>,
    numbers: HashMap<(&'a Function, u32), usize>,
    /// Number of the innermost frame of each stack of the current run.
    of_stacks: HashMap<u32, usize>,
}

impl<'a> Frames<'a> {
    /// Begins with the stacks of the next run.
    pub fn start_run(&mut self) {
        self.of_stacks.clear();
    }

    /// Returns the numbers of the frames of a stack, the innermost first.
    pub fn of(&mut self, log: &'a StackLog, stack: u32) -> Vec<usize> {
        let calls = log.calls(stack).map(|call| {
            let (all, numbers) = (&mut self.all, &mut self.numbers);
            *self.of_stacks.entry(call.stack).or_insert_with(|| {
                let frame = (call.function, call.line);
                *numbers.entry(frame).or_insert_with(|| {
                    all.push(frame);
                    all.len() - 1
                })
            })
        });
        calls.collect()
    }
}
