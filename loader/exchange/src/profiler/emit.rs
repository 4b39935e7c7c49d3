//! Conversion of the calls of a trace to events, with one loader per thread.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use loadscope_trace::{
    BatchId, Event, EventKind, Level, Nanos, Origin, RunId, RunInfo, Sorter, Stage, count, plural,
};
use loadscope_words::say;

use super::calls::{Call, Calls, MOST_CALLS, Thread};
use super::slice::Header;
use crate::input::{Sink, message_event};
use crate::{ImportError, Kind};

/// Iterator whose batches the main process fetches.
const SINGLE: &str = "_SingleProcessDataLoaderIter";

/// Sends the events of all threads, in order of time.
pub(super) fn emit(
    header: &Header,
    mut calls: Calls,
    sink: &mut Sink<'_>,
) -> Result<(), ImportError> {
    let starts = calls.threads.iter().filter_map(|t| t.calls.first());
    let Some(zero) = starts.map(|c| c.start).min() else {
        return Err(no_calls_error(header));
    };
    let several = calls.threads.len() > 1;
    let longest = calls.threads.iter().flat_map(|t| &t.calls);
    let longest = longest.map(|c| c.end.saturating_sub(c.start)).max();
    // Calls are sorted by start, but their events extend to their ends. Therefore the sorter waits for the longest call.
    let mut sorter = Sorter::new(Nanos(longest.unwrap_or(0)));
    let mut builders: Vec<EventBuilder> = Vec::new();
    for (k, thread) in calls.threads.iter_mut().enumerate() {
        let mut builder = EventBuilder::new(k, thread, zero);
        let info = info(header, thread, zero, several);
        builder.emit(0, EventKind::RunStarted(Box::new(info)));
        builders.push(builder);
    }
    let mut next: BinaryHeap<Reverse<(i64, usize, usize)>> = BinaryHeap::new();
    for (k, thread) in calls.threads.iter().enumerate() {
        next.extend(thread.calls.first().map(|c| Reverse((c.start, k, 0))));
    }
    while let Some(Reverse((_, k, at))) = next.pop() {
        let thread = &calls.threads[k];
        let builder = &mut builders[k];
        builder.call(thread, &thread.calls[at], at);
        builder.events.drain(..).for_each(|e| sorter.push(e));
        while let Some(event) = sorter.pop(None) {
            sink.forward(event);
        }
        if !sink.is_open {
            return Ok(());
        }
        match thread.calls.get(at + 1) {
            Some(call) => next.push(Reverse((call.start, k, at + 1))),
            None => {
                builder.end(thread);
                notes(header, thread, builder);
                builder.events.drain(..).for_each(|e| sorter.push(e));
            }
        }
    }
    while let Some(event) = sorter.flush() {
        sink.forward(event);
    }
    let end = calls.threads.iter().map(|t| t.end).max().unwrap_or(zero);
    emit_skipped(&calls, end.saturating_sub(zero), sink);
    Ok(())
}

fn no_calls_error(header: &Header) -> ImportError {
    let why = match header.is_ours {
        true => say!("is a partial export of a recording: open the recording itself"),
        false => say!(
            "contains no DataLoader calls: run the training loop inside torch.profiler and record CPU activity"
        ),
    };
    ImportError::Nothing {
        kind: Kind::Profiler,
        why: why.to_owned(),
    }
}

fn info(header: &Header, thread: &Thread, zero: i64, several: bool) -> RunInfo {
    let mut measured = vec![Stage::Training];
    if thread.classes.iter().any(|c| c == SINGLE) {
        measured.insert(0, Stage::Fetching);
    }
    let place = match several {
        true => format!("thread {} of process {}", thread.tid, thread.pid),
        false => format!("process {}", thread.pid),
    };
    let host = match header.host.as_str() {
        "" => String::new(),
        host => format!(" on {host}"),
    };
    RunInfo {
        origin: Origin::Import("torch.profiler".to_owned()),
        dataset: format!("DataLoader of {place}{host}"),
        rank: header.rank,
        world_size: header.world_size,
        measured,
        started_unix_ns: header.base.saturating_add(zero),
        ..RunInfo::default()
    }
}

/// Adds messages about data that a thread does not contain.
fn notes(header: &Header, thread: &Thread, builder: &mut EventBuilder) {
    let end = builder.end_of(thread);
    if thread.nested > 0 {
        let text = say!(
            "{} inside another call, counted as part of it",
            plural(thread.nested, say!(n: "call"), say!(n: "calls"))
        );
        builder.emit(end, message_event(Level::Info, text));
    }
    if header.world_size > 1 {
        let text = say!("This is rank {} of {}", header.rank, header.world_size);
        builder.emit(end, message_event(Level::Info, text));
    }
    let text = say!(
        "torch.profiler records when batches are requested and yielded, not the work of the workers. A call without computation after it counts as the end of an epoch."
    );
    builder.emit(end, message_event(Level::Info, text.to_owned()));
    builder.emit(end, EventKind::RunEnded);
}

/// Sends the number of skipped calls.
fn emit_skipped(calls: &Calls, end: i64, sink: &mut Sink<'_>) {
    if calls.lost == 0 {
        return;
    }
    sink.emit(end, EventKind::Dropped { count: calls.lost });
    let text = say!(
        "{} DataLoader calls were skipped: at most {} fit in memory",
        count(calls.lost),
        count(MOST_CALLS as u64)
    );
    sink.emit_message(end, Level::Warning, text);
}

/// Converter of a thread's calls to events.
struct EventBuilder {
    run: RunId,
    zero: i64,
    /// True for each call that yielded a batch.
    yielded: Vec<bool>,
    /// Next batch of the current epoch, by iterator class. `None` between epochs.
    open: Vec<Option<BatchId>>,
    epochs: u32,
    /// True if an iterator was created after the last call.
    is_new: bool,
    events: Vec<Event>,
}

impl EventBuilder {
    fn new(number: usize, thread: &mut Thread, zero: i64) -> Self {
        Self {
            run: RunId(number as u32),
            zero,
            yielded: thread.yielded(),
            open: vec![None; thread.classes.len()],
            epochs: 0,
            is_new: false,
            events: Vec::new(),
        }
    }

    fn emit(&mut self, at: i64, kind: EventKind) {
        self.events.push(Event {
            at: Nanos(at.max(0)),
            run: self.run,
            kind,
        });
    }

    fn call(&mut self, thread: &Thread, call: &Call, at: usize) {
        let class = usize::from(call.class);
        let start = call.start.saturating_sub(self.zero);
        let end = call.end.saturating_sub(self.zero);
        if self.is_new {
            self.end_epoch(class, start);
        }
        self.is_new = call.new_iterator;
        let batch = self.epoch(class, start);
        self.emit(start, EventKind::Consumer { waiting: true });
        if !self.yielded.get(at).copied().unwrap_or(true) {
            self.end_epoch(class, end);
            return;
        }
        let enter = |stage| EventKind::Entered { batch, stage };
        self.emit(start, EventKind::dispatched(batch, None, []));
        if thread.classes[class] == SINGLE {
            self.emit(start, enter(Stage::Fetching));
        }
        self.emit(end, enter(Stage::Training));
        self.open[class] = Some(BatchId {
            idx: batch.idx + 1,
            ..batch
        });
    }

    /// Returns the latest end of a slice in the thread.
    fn end_of(&self, thread: &Thread) -> i64 {
        thread.end.saturating_sub(self.zero)
    }

    fn end(&mut self, thread: &Thread) {
        let end = self.end_of(thread);
        for class in 0..self.open.len() {
            self.end_epoch(class, end);
        }
    }

    /// Returns the next batch of an iterator class. Starts an epoch if there is none.
    fn epoch(&mut self, class: usize, at: i64) -> BatchId {
        if let Some(batch) = self.open[class] {
            return batch;
        }
        let epoch = self.epochs;
        self.epochs += 1;
        let batch = BatchId { epoch, idx: 0 };
        self.open[class] = Some(batch);
        self.emit(at, EventKind::EpochStarted { epoch });
        batch
    }

    fn end_epoch(&mut self, class: usize, at: i64) {
        if let Some(batch) = self.open[class].take() {
            let epoch = batch.epoch;
            self.emit(at, EventKind::EpochEnded { epoch });
        }
    }
}
