//! Search hits and their descriptions.

use loadscope_trace::{Lane, Level, Nanos, Run, Stage};
use loadscope_words::say;

use crate::format;

/// A search hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// A batch, by its position in [`Run::batches`].
    Batch(u32),
    /// A sample: its batch and its position in the batch.
    Sample(u32, u32),
    /// Lane of the pipeline.
    Lane(Lane),
    /// A message, by its position in [`Run::messages`].
    Message(u32),
    /// A wait of the trainer, by its position in [`Run::waits`].
    Wait(u32),
    /// The state after this number of transitions.
    Step(u32),
    /// Instant, such as that of an error or a loss.
    Moment(Nanos),
}

impl Hit {
    /// Returns the sort key among hits of one kind.
    pub(super) fn order(self) -> (u32, u32) {
        match self {
            Self::Batch(row) => (row, 0),
            Self::Sample(row, position) => (row, position),
            Self::Message(k) | Self::Wait(k) | Self::Step(k) => (k, 0),
            Self::Lane(_) | Self::Moment(_) => (0, 0),
        }
    }

    /// Returns a title, and the duration or the text of the message.
    pub fn describe(self, run: &Run) -> (String, String) {
        let batch = |row: u32| {
            let batch = run.batches().get(row as usize);
            batch.map_or_else(|| say!("a batch").to_owned(), |b| b.id.to_string())
        };
        let capital = |text: String| {
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        };
        match self {
            Self::Batch(row) => {
                let worker = run.batches().get(row as usize).and_then(|b| b.worker);
                let time = worker_time(run, row as usize);
                let place =
                    worker.map_or(say!("the main process").to_owned(), |w| say!("worker {w}"));
                (capital(batch(row)), say!("{time} in {place}"))
            }
            Self::Sample(row, position) => {
                let sample = run.samples(row as usize).nth(position as usize);
                let index = run.indices(row as usize).get(position as usize);
                let name = index.map_or(say!("Sample at {position}"), |i| say!("Sample {i}"));
                let took = sample.map_or(say!("not measured").to_owned(), |s| s.wall.to_string());
                (name, say!("{took}, in {}", batch(row)))
            }
            Self::Lane(lane) => (capital(lane.to_string()), describe_lane(run, lane)),
            Self::Message(k) => match run.messages().get(k as usize) {
                Some((at, m)) => (say!("At {at}"), m.text.clone()),
                None => (String::new(), String::new()),
            },
            Self::Wait(k) => match run.waits().get(k as usize) {
                Some(wait) => {
                    let length = wait.end.min(run.end()) - wait.start;
                    let what = wait.batch.map_or(say!("no batch came").to_owned(), |row| {
                        say!("for {}", batch(row))
                    });
                    (say!("Trainer waits {length}"), what)
                }
                None => (String::new(), String::new()),
            },
            Self::Step(step) => {
                let found = run.transitions().get((step as usize).wrapping_sub(1));
                match found {
                    Some(t) => (
                        capital(batch(t.batch)),
                        say!("arrives out of order, at {}", t.at),
                    ),
                    None => (String::new(), String::new()),
                }
            }
            Self::Moment(at) => (say!("At {at}"), describe_instant(run, at)),
        }
    }
}

fn describe_lane(run: &Run, lane: Lane) -> String {
    let Lane::Worker(worker) = lane else {
        return String::new();
    };
    let mine = |b: &&loadscope_trace::Batch| b.worker == Some(worker);
    // The limit keeps the count fast, because it runs in every frame.
    let count = run.batches().iter().take(100_000).filter(mine).count();
    format::plural(count as u64, say!(n: "batch"), say!(n: "batches"))
}

/// Describes the error or loss at an instant.
fn describe_instant(run: &Run, at: Nanos) -> String {
    let from = run.messages().partition_point(|(t, _)| *t < at);
    let then = run
        .messages()
        .range(from..)
        .iter()
        .take_while(|(t, _)| *t == at);
    let errors = then.filter(|(_, m)| m.level == Level::Error);
    if let Some((_, message)) = errors.last() {
        return message.text.clone();
    }
    match run.losses().iter().find(|(t, _)| *t == at) {
        Some((_, count)) => format::plural(
            *count,
            say!(n: "event was dropped"),
            say!(n: "events were dropped"),
        ),
        None => {
            let pipeline = run.pipeline_at(at);
            let flying = pipeline.batches().filter(|b| !b.stage.is_final()).count();
            format::plural(
                flying as u64,
                say!(n: "batch in the pipeline"),
                say!(n: "batches in the pipeline"),
            )
        }
    }
}

/// Returns the time of fetching and collating.
pub(super) fn worker_time(run: &Run, row: usize) -> Nanos {
    let path = run.path(row);
    let in_worker = path
        .iter()
        .filter(|s| matches!(s.stage, Stage::Fetching | Stage::Collating));
    in_worker
        .map(|s| s.end.unwrap_or(run.end()) - s.start)
        .fold(Nanos::ZERO, |a, b| a + b)
}

/// Returns true if the time in the worker is final.
pub(super) fn is_fetched(run: &Run, row: usize) -> bool {
    run.batches()[row].stage > Stage::Collating
}

/// Maximum number of hits, enough to distinguish a single event from a pattern.
pub(super) const MAX_HITS: usize = 24;

/// Slowest hits so far, slowest first.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    pub all: Vec<(Nanos, Hit)>,
    /// True if the list has changed since the last query.
    pub has_changed: bool,
}

impl Ranking {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Adds `hit` if it is among the slowest. Among equal times, the first one is kept.
    pub fn note(&mut self, took: Nanos, hit: Hit) {
        let at = self.all.partition_point(|(time, _)| *time >= took);
        if at < MAX_HITS {
            self.all.insert(at, (took, hit));
            self.all.truncate(MAX_HITS);
            self.has_changed = true;
        }
    }
}
