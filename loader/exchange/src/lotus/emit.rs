//! Conversion of matched logs to events.

use loadscope_trace::{
    BatchId, EventKind, Fetched, Level, Nanos, Origin, RunInfo, RunOptions, SampleTiming, Stage,
    StageTiming, plural,
};
use loadscope_words::say;

use super::join::{Epoch, MatchedBatch, Run, samples};
use super::process::{Batch, Call};
use crate::input::Sink;

/// Events of an epoch with their times. At the same time, the lower number comes first.
type TimedEvents = Vec<(i64, u8, EventKind)>;

/// Sends the events of a run.
pub(super) fn emit(run: &Run, sink: &mut Sink<'_>) {
    let zero = run.epochs.iter().map(Epoch::start).min().unwrap_or(0);
    let end = run.epochs.iter().map(Epoch::end).max().unwrap_or(zero) - zero;
    sink.emit(0, EventKind::RunStarted(Box::new(info(run, zero))));
    let mut now = 0;
    for (number, epoch) in run.epochs.iter().enumerate() {
        if !sink.is_open {
            return;
        }
        // Epochs of a program do not overlap. If they overlap in the log, events of the later epoch are delayed.
        for (at, _, kind) in epoch_events(run, epoch, number as u32, zero) {
            now = at.max(now);
            sink.emit(now, kind);
        }
    }
    notes(run, now.max(end), sink);
    sink.emit(now.max(end), EventKind::RunEnded);
}

fn epoch_events(run: &Run, epoch: &Epoch, number: u32, zero: i64) -> TimedEvents {
    let mut events = TimedEvents::new();
    let start = epoch.start() - zero;
    events.push((start, 0, EventKind::EpochStarted { epoch: number }));
    // Batches are dispatched in the order of their numbers, so no time may be later than that of the next batch.
    let mut next = i64::MAX;
    let mut times = Vec::new();
    for batch in epoch.batches.iter().rev() {
        next = dispatched(batch, zero).min(next);
        times.push(next);
    }
    for batch in &epoch.batches {
        let id = BatchId {
            epoch: number,
            idx: batch.idx,
        };
        batch_events(
            run,
            batch,
            id,
            times.pop().unwrap_or(start),
            zero,
            &mut events,
        );
    }
    step_end_events(epoch, number, zero, &mut events);
    let end = events.iter().map(|(at, ..)| *at).max().unwrap_or(start);
    events.push((end, 9, EventKind::EpochEnded { epoch: number }));
    events.sort_by_key(|(at, order, _)| (*at, *order));
    events
}

/// Returns the latest possible time of dispatch.
fn dispatched(batch: &MatchedBatch, zero: i64) -> i64 {
    let fetched = batch.fetched.as_ref().map(|(_, b)| b.start);
    let first = batch.dispatched.into_iter().chain(fetched).min();
    first.unwrap_or_else(|| batch.first()) - zero
}

fn batch_events(
    run: &Run,
    batch: &MatchedBatch,
    id: BatchId,
    at: i64,
    zero: i64,
    events: &mut TimedEvents,
) {
    let worker = batch.fetched.as_ref().map(|(w, _)| *w);
    let worker = worker.filter(|_| !run.has_no_workers());
    events.push((at, 2, EventKind::dispatched(id, worker, [])));
    // A late clock reading must not change the order of the stages.
    let mut now = at;
    let mut enter = |events: &mut TimedEvents, at: i64, order: u8, stage| {
        now = now.max(at - zero);
        events.push((now, order, EventKind::Entered { batch: id, stage }));
    };
    if let Some((_, made)) = &batch.fetched {
        enter(events, made.start, 4, Stage::Fetching);
        if let Some(fetched) = fetched(id, made, &run.names, zero) {
            let at = made.collated.unwrap_or(made.end) - zero;
            events.push((at.max(0), 5, EventKind::Fetched(Box::new(fetched))));
        }
        if let Some(collated) = made.collated {
            enter(events, collated, 5, Stage::Collating);
        }
        enter(events, made.end, 6, Stage::Returning);
    }
    if let Some(early) = batch.received_early {
        enter(events, early, 7, Stage::Held);
    }
    if let Some((start, end)) = batch.waited {
        events.push((start - zero, 3, EventKind::Consumer { waiting: true }));
        enter(events, end, 7, Stage::Ready);
    }
    if let Some(consumed) = batch.consumed {
        enter(events, consumed, 8, Stage::Training);
    }
}

/// Sends the ends of steps. A batch that had already arrived is yielded without a wait, which ends the previous training step.
fn step_end_events(epoch: &Epoch, number: u32, zero: i64, events: &mut TimedEvents) {
    let out = epoch.batches.iter().filter(|b| b.consumed.is_some());
    let mut out: Vec<(i64, u32, bool)> =
        out.map(|b| (b.last(), b.idx, b.waited.is_some())).collect();
    out.sort_unstable();
    for pair in out.windows(2).filter(|pair| !pair[1].2) {
        let batch = BatchId {
            epoch: number,
            idx: pair[0].1,
        };
        let stage = Stage::Done;
        events.push((
            pair[1].0.saturating_sub(zero),
            1,
            EventKind::Entered { batch, stage },
        ));
    }
}

/// Returns the samples of a batch with their transforms. Returns `None` if none were logged.
fn fetched(batch: BatchId, made: &Batch, names: &[String], zero: i64) -> Option<Fetched> {
    let samples = samples(&made.calls);
    if samples.is_empty() {
        return None;
    }
    let mut seen: Vec<u16> = Vec::new();
    for call in &made.calls {
        if !seen.contains(&call.name) {
            seen.push(call.name);
        }
    }
    let took = |calls: &[Call], name: u16| {
        let of = calls.iter().filter(|c| c.name == name);
        of.fold(Nanos::ZERO, |sum, c| sum + Nanos(c.end - c.start))
    };
    let stages = seen.iter().map(|name| StageTiming {
        name: names.get(usize::from(*name)).cloned().unwrap_or_default(),
        walls: samples.iter().map(|calls| took(calls, *name)).collect(),
    });
    let timing = |calls: &&[Call]| {
        let start = calls.first().map_or(0, |c| c.start);
        let end = calls.iter().map(|c| c.end).max().unwrap_or(start);
        SampleTiming {
            start: Nanos(start - zero),
            wall: Nanos(end - start),
            cpu: None,
        }
    };
    Some(Fetched {
        batch,
        stages: stages.collect(),
        samples: samples.iter().map(timing).collect(),
    })
}

fn info(run: &Run, zero: i64) -> RunInfo {
    let batches = || run.epochs.iter().flat_map(|e| &e.batches);
    let mut measured = vec![
        Stage::Fetching,
        Stage::Returning,
        Stage::Held,
        Stage::Ready,
        Stage::Training,
    ];
    if run.has_dispatch_times {
        measured.insert(0, Stage::Queued);
    }
    let mut made = batches().filter_map(|b| b.fetched.as_ref());
    if made.any(|(_, b)| b.collated.is_some()) {
        measured.push(Stage::Collating);
    }
    let workers = match run.has_no_workers() {
        true => 0,
        false => run.workers.len(),
    };
    RunInfo {
        options: RunOptions {
            num_workers: workers,
            epochs: run.epochs.len() as u32,
            ..RunOptions::default()
        },
        origin: Origin::Import("LotusTrace".to_owned()),
        dataset: format!("DataLoader of process {}", run.pid),
        measured,
        started_unix_ns: zero,
        ..RunInfo::default()
    }
}

/// Sends messages about data that is not shown.
fn notes(run: &Run, end: i64, sink: &mut Sink<'_>) {
    for (pid, lines) in &run.others {
        let text = say!(
            "Process {pid} ({}) is not shown: process {} logged more",
            plural(*lines as u64, say!(n: "line"), say!(n: "lines")),
            run.pid
        );
        sink.emit_message(end, Level::Warning, text);
    }
    if run.unmatched > 0 {
        let text = say!(
            "{} skipped: the main process did not log them",
            plural(run.unmatched, say!(n: "batch is"), say!(n: "batches are"))
        );
        sink.emit_message(end, Level::Warning, text);
    }
    if run.stray > 0 {
        let text = say!(
            "{} skipped: transforms outside of any batch",
            plural(run.stray, say!(n: "call is"), say!(n: "calls are"))
        );
        sink.emit_message(end, Level::Warning, text);
    }
    let processes = run.workers.iter().enumerate().map(|(worker, pids)| {
        let pids: Vec<String> = pids.iter().take(4).map(u64::to_string).collect();
        say!("worker {worker} ({})", pids.join(", "))
    });
    let processes: Vec<String> = processes.take(16).collect();
    if !run.has_no_workers() && !processes.is_empty() {
        let text = say!("Processes of the workers: {}", processes.join(", "));
        sink.emit_message(end, Level::Info, text);
    }
}

impl Run {
    /// Returns true if the main process fetched all batches, without workers.
    fn has_no_workers(&self) -> bool {
        self.workers.iter().flatten().all(|pid| *pid == self.pid)
    }
}
