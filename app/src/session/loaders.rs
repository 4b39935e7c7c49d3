//! A recording may tell of several loaders: for training and for validation, and of several ranks. One of them is shown.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};

use loadscope_trace::{Event, EventKind, Level, Message, Nanos, RunId, count, plural};

/// Events that are held until it is known which loader has batches, at most.
const MOST_HELD: usize = 100_000;

/// The loader that was asked for on the command line; negative: none.
static WANTED: AtomicI64 = AtomicI64::new(-1);

/// From now on `loader` is the one that is shown; `None`: the first one that has batches.
pub fn want(loader: Option<u32>) {
    WANTED.store(loader.map_or(-1, i64::from), Ordering::Relaxed);
}

/// What is known of a loader of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loader {
    /// Its data set, in words.
    pub dataset: String,
    /// Batches that were dispatched.
    pub batches: u64,
    /// Rank within the training job.
    pub rank: u32,
    /// Number of ranks.
    pub world_size: u32,
}

/// Picks the events of one loader.
#[derive(Debug, Default)]
pub struct Chosen {
    run: Option<RunId>,
    wanted: Option<RunId>,
    held: Vec<Event>,
    loaders: BTreeMap<RunId, Loader>,
    last: Nanos,
}

impl Chosen {
    /// Of the loader that was asked for, or of the first one that has batches.
    pub fn new() -> Self {
        let wanted = u32::try_from(WANTED.load(Ordering::Relaxed))
            .ok()
            .map(RunId);
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Takes an event and hands over those of the loader that is shown.
    pub fn take(&mut self, event: Event, each: &mut impl FnMut(Event)) {
        self.last = event.at;
        self.note(&event);
        if let Some(run) = self.run {
            if event.run == run {
                each(event);
            }
            return;
        }
        let run = event.run;
        let decides = match self.wanted {
            Some(wanted) => run == wanted,
            None => matches!(event.kind, EventKind::Dispatched(_)),
        };
        self.held.push(event);
        if decides || self.held.len() >= MOST_HELD {
            self.choose(self.wanted.unwrap_or(run), each);
        }
    }

    fn choose(&mut self, run: RunId, each: &mut impl FnMut(Event)) {
        self.run = Some(run);
        let held = std::mem::take(&mut self.held);
        held.into_iter().filter(|e| e.run == run).for_each(each);
    }

    fn note(&mut self, event: &Event) {
        match &event.kind {
            EventKind::RunStarted(info) => {
                let loader = self.loaders.entry(event.run).or_default();
                loader.dataset.clone_from(&info.dataset);
                loader.rank = info.rank;
                loader.world_size = info.world_size;
            }
            EventKind::Dispatched(_) => self.loaders.entry(event.run).or_default().batches += 1,
            _ => {}
        }
    }

    /// The rest, when nothing more will come, and a note about the other loaders.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut rest = Vec::new();
        if self.run.is_none() {
            let first = self.held.first().map(|e| e.run);
            let run = self.wanted.or(first).unwrap_or_default();
            self.choose(run, &mut |event| rest.push(event));
        }
        rest.extend(self.others());
        rest
    }

    /// The loaders of the recording.
    pub fn loaders(&self) -> &BTreeMap<RunId, Loader> {
        &self.loaders
    }

    fn others(&self) -> Option<Event> {
        let run = self.run?;
        let others: Vec<String> = self
            .loaders
            .iter()
            .filter(|(id, _)| **id != run)
            .map(|(id, loader)| {
                let rank = match loader.world_size {
                    0 | 1 => String::new(),
                    _ => format!(", rank {}", loader.rank),
                };
                let batches = plural(loader.batches, "batch", "batches");
                format!("{} ({}{rank}, {batches})", id.0, loader.dataset)
            })
            .collect();
        if others.is_empty() {
            return None;
        }
        let more = match others.len() {
            1 => "1 other loader".to_owned(),
            n => format!("{} other loaders", count(n as u64)),
        };
        let shown = others
            .iter()
            .take(8)
            .cloned()
            .collect::<Vec<_>>()
            .join("; ");
        let rest = if others.len() > 8 { "; …" } else { "" };
        let text = format!(
            "This recording tells of {more}, which the window does not show: {shown}{rest}. \
             Loader {} is shown; `--loader N` shows another",
            run.0
        );
        Some(Event {
            at: self.last,
            run,
            kind: EventKind::Message(Box::new(Message {
                level: Level::Info,
                text,
                about: None,
                worker: None,
                sample: None,
            })),
        })
    }
}
