//! Counts from reading a recording.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use anyhow::{Context as _, Result};
use loadscope_session::open;
use loadscope_trace::{
    BatchId, EventKind, Kept, Level, Nanos, Past, Run, RunId, Stage, Summary, Sums,
};

use crate::counts::{LONG, LongWait, Sum, Totals, begins_minute, minute_of};
use crate::fingerprint::{Fingerprint, hash_text};

/// Counts of a recording.
#[derive(Default)]
pub struct RecordingCounts {
    /// Total counts.
    pub totals: Totals,
    /// Counts of periods of whole minutes. Each ends at the start of the given minute.
    pub stretches: Vec<(usize, Sum)>,
    /// Waits of at least [`LONG`].
    pub long: Vec<LongWait>,
    /// Times and hashes of errors and warnings.
    pub messages: Vec<(Nanos, u64)>,
    /// Batches that are stored in full.
    pub batches: HashSet<BatchId>,
    /// Length of the period that is stored in full.
    pub in_full: Nanos,
    /// Number of waits and messages that the recording reports as left out.
    pub left_out: u64,
    /// Minimum length of the waits that the recording claims to have.
    pub long_wait: Nanos,
    /// True if the recording is complete and has one loader.
    pub is_whole: bool,
}

impl RecordingCounts {
    /// Reads the recording at `path`. It must have a single loader.
    ///
    /// # Errors
    /// If the recording cannot be opened.
    pub fn read(path: &Path) -> Result<Self> {
        let opened = open(path, |_| true).with_context(|| path.display().to_string())?;
        let run = opened.fleet.get(RunId(0));
        let run = run.with_context(|| format!("there is no loader in {}", path.display()))?;
        let mut found = Self {
            is_whole: !opened.cut && opened.notes.is_empty() && opened.fleet.runs().len() == 1,
            long_wait: LONG,
            ..Self::default()
        };
        found.sum_up(run);
        found.add_run(run);
        let mut of_run = minutes_of(run);
        if let Some(past) = run.past() {
            found.add_past(past, run, &mut of_run);
        }
        let rest = of_run.into_iter().map(|(minute, sum)| (minute + 1, sum));
        found.stretches.extend(rest);
        Ok(found)
    }

    fn sum_up(&mut self, run: &Run) {
        let summary = Summary::of(run);
        let finished = run.waits().iter().filter(|wait| wait.end != Nanos::MAX);
        let waited: i64 = finished.map(|wait| (wait.end - wait.start).0).sum();
        let before = run.past().map_or(0, |past| past.total().waited().0);
        self.totals = Totals {
            events: summary.events,
            dropped: summary.dropped,
            epochs: summary.epochs,
            held: summary.held,
            errors: summary.errors,
            warnings: summary.warnings,
            sum: Sum {
                batches: summary.batches,
                samples: summary.samples,
                failed: summary.failed,
                discarded: summary.discarded,
                waited: waited + before,
            },
        };
    }

    /// Adds the part that is stored in full.
    fn add_run(&mut self, run: &Run) {
        let since = run
            .epochs()
            .first()
            .map_or(Nanos::ZERO, |epoch| epoch.start);
        self.in_full = run.end() - since;
        let id = |row: u32| run.batches()[row as usize].id;
        for wait in run.waits() {
            if wait.end != Nanos::MAX && wait.end - wait.start >= LONG {
                self.long.push(LongWait {
                    time: (wait.start, wait.end),
                    batch: wait
                        .batch
                        .map(|row| (id(row), fingerprint_of(run, row as usize))),
                });
            }
        }
        self.batches
            .extend(run.batches().iter().map(|batch| batch.id));
        let bad = run.messages().iter();
        let bad = bad.filter(|(_, message)| message.level >= Level::Warning);
        self.messages
            .extend(bad.map(|(at, message)| (*at, hash_text(&message.text))));
    }

    /// Adds the part that is reduced to sums, and the items that are kept in full.
    fn add_past(&mut self, past: &Past, run: &Run, of_run: &mut BTreeMap<usize, Sum>) {
        if let Some(retention) = past.retention() {
            (self.left_out, self.long_wait) = (retention.left_out, retention.long_wait);
        }
        let mut sum = Sum::default();
        let mut is_open = false;
        for sums in past.sums() {
            sum += of_sums(sums);
            is_open = !begins_minute(sums.to);
            if !is_open {
                self.stretches
                    .push((minute_of(sums.to), std::mem::take(&mut sum)));
            }
        }
        // The first full part starts in the middle of this minute.
        if let Some(until) = past.until() {
            self.in_full = run.end() - until;
            if is_open {
                sum += of_run.remove(&minute_of(until)).unwrap_or_default();
                self.stretches.push((minute_of(until) + 1, sum));
            }
        }
        let mut messages = Vec::new();
        for (at, kept) in past.kept() {
            if let Some(time) = kept.wait {
                let batch = fingerprint_of_kept(kept);
                self.long.push(LongWait { time, batch });
            } else if let Some((_, message)) = kept.message() {
                messages.push((*at, hash_text(&message.text)));
            } else {
                self.batches.extend(kept.batch());
            }
        }
        messages.append(&mut self.messages);
        self.messages = messages;
    }
}

fn of_sums(sums: &Sums) -> Sum {
    Sum {
        batches: sums.batches,
        samples: sums.samples,
        failed: sums.failed,
        discarded: sums.discarded,
        waited: sums.waited().0,
    }
}

/// Returns the counts of each minute that is stored in full.
fn minutes_of(run: &Run) -> BTreeMap<usize, Sum> {
    let mut minutes: BTreeMap<usize, Sum> = BTreeMap::new();
    for change in run.transitions() {
        if !change.stage.is_final() {
            continue;
        }
        let batch = &run.batches()[change.batch as usize];
        let mut sum = Sum::default();
        if batch.was_yielded {
            sum.batches = 1;
            sum.samples = u64::from(batch.samples());
        }
        sum.failed = u64::from(change.stage == Stage::Failed);
        sum.discarded = u64::from(change.stage == Stage::Discarded && !batch.was_yielded);
        *minutes.entry(minute_of(change.at)).or_default() += sum;
    }
    for wait in run.waits() {
        if wait.end != Nanos::MAX {
            let waited = (wait.end - wait.start).0;
            minutes.entry(minute_of(wait.end)).or_default().waited += waited;
        }
    }
    minutes
}

/// Returns the hash of a batch's events until the trainer received it.
fn fingerprint_of(run: &Run, row: usize) -> Fingerprint {
    let batch = &run.batches()[row];
    let path = run.path(row);
    let begun = path.first().map_or(Nanos::ZERO, |step| step.start);
    let mut fingerprint = Fingerprint::new(begun, batch.worker, &run.indices(row).to_vec());
    for step in path.iter().skip(1) {
        fingerprint = fingerprint.entered(step.start, step.stage);
        if matches!(step.stage, Stage::Training | Stage::Failed) {
            break;
        }
    }
    fingerprint.timed(run.samples(row).len())
}

/// Returns the same hash for a batch that is kept with a wait.
fn fingerprint_of_kept(kept: &Kept) -> Option<(BatchId, Fingerprint)> {
    let (mut of, mut timed) = (None, 0);
    for event in &kept.events {
        match (&event.kind, &mut of) {
            (EventKind::Dispatched(dispatch), None) => {
                let fingerprint = Fingerprint::new(event.at, dispatch.worker, &dispatch.indices);
                of = Some((dispatch.batch, fingerprint));
            }
            (EventKind::Entered { stage, .. }, Some((_, fingerprint))) => {
                *fingerprint = fingerprint.entered(event.at, *stage);
            }
            (EventKind::Fetched(fetched), _) => timed = fetched.samples.len(),
            _ => {}
        }
    }
    of.map(|(batch, fingerprint)| (batch, fingerprint.timed(timed)))
}
