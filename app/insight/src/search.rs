//! Search: "batch 512", "sample 40123", "slower than 200 ms". The search is incremental, so hits appear while the user types
//! and the window never blocks.

use loadscope_trace::{Activity, BatchId, Lane, Level, Nanos, Run, Sample, Track};

use crate::landmarks::Landmarks;
use crate::platform::Budget;
use hit::{Ranking, is_fetched, worker_time};

mod hit;
mod query;

pub use hit::Hit;
pub use query::{Query, Subject};

/// A query and its hits so far.
#[derive(Debug, Default)]
pub struct Search {
    /// True while the search field is visible.
    pub open: bool,
    /// Number of requests for the search field. Each one focuses the field.
    pub asked: u64,
    text: String,
    query: Option<Query>,
    hits: Vec<Hit>,
    /// The hit of the last jump.
    pub current: Option<usize>,
    /// Number of processed rows, messages or waits, depending on the query.
    looked_at: usize,
    /// Batches that were not fetched yet when they were processed.
    unfinished: Vec<u32>,
    /// Slowest hits so far, for queries about the slowest.
    ranking: Ranking,
    /// Version of the run when the search last reached its end.
    up_to: Option<u64>,
}

/// Number of rows between two checks of the clock.
const SLICE: usize = 512;

impl Search {
    /// Returns the text of the search field.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the parsed query.
    pub fn query(&self) -> Option<&Query> {
        self.query.as_ref()
    }

    /// Returns the hits so far, sorted by time. Queries about the slowest sort by duration, longest first.
    pub fn hits(&self) -> &[Hit] {
        &self.hits
    }

    /// Sets the text of the query.
    pub fn set(&mut self, text: String) {
        let query = Query::parse(&text);
        self.text = text;
        if query != self.query {
            self.query = query;
            self.restart();
        }
    }

    /// Discards all hits, because the run has changed.
    pub fn restart(&mut self) {
        self.hits.clear();
        self.unfinished.clear();
        self.ranking.clear();
        self.current = None;
        self.looked_at = 0;
        self.up_to = None;
    }

    /// Returns true if all of `run` is processed.
    pub fn is_complete(&self, run: &Run) -> bool {
        self.query.is_none() || self.up_to == Some(run.version())
    }

    /// Continues the search until `budget` is spent. Returns true if data is left.
    pub fn advance(&mut self, run: &Run, landmarks: &Landmarks, budget: &Budget) -> bool {
        let Some(query) = self.query.clone() else {
            return false;
        };
        if self.is_complete(run) {
            return false;
        }
        while self.search_slice(&query, run, landmarks) {
            if budget.is_spent() {
                return true;
            }
        }
        self.up_to = Some(run.version());
        false
    }

    /// Processes the next slice. Returns true if data is left.
    fn search_slice(&mut self, query: &Query, run: &Run, landmarks: &Landmarks) -> bool {
        match query {
            Query::Batch { .. } | Query::Worker(_) | Query::At(_) => {
                self.hits = direct(query, run);
                false
            }
            Query::Trouble => {
                self.hits = landmarks
                    .trouble()
                    .iter()
                    .map(|t| Hit::Moment(*t))
                    .collect();
                false
            }
            Query::OutOfOrder => {
                let steps = landmarks.out_of_order().iter();
                self.hits = steps.map(|s| Hit::Step(*s)).collect();
                false
            }
            Query::Warnings => {
                let said = landmarks.problem_messages().iter().copied();
                let is_warning = |k: &u32| run.messages()[*k as usize].1.level == Level::Warning;
                self.hits = said.filter(is_warning).map(Hit::Message).collect();
                false
            }
            Query::Stalls => {
                // The longest wait determines the waits that matter, so all are checked again.
                let waits = run.waits().iter().enumerate();
                let stalls = waits.filter(|(_, w)| landmarks.is_stall(run, w));
                self.hits = stalls.map(|(k, _)| Hit::Wait(k as u32)).collect();
                false
            }
            Query::Slow(Subject::Waits, than) => self.slice(run.waits().len(), |this, k| {
                let wait = &run.waits()[k];
                if wait.end.min(run.end()) - wait.start > *than {
                    this.hits.push(Hit::Wait(k as u32));
                }
                // The last wait can be open, so it is processed again.
                wait.end != Nanos::MAX
            }),
            Query::Text(text) => self.slice(run.messages().len(), |this, k| {
                if run.messages()[k].1.text.to_lowercase().contains(text) {
                    this.hits.push(Hit::Message(k as u32));
                }
                true
            }),
            Query::Sample(index) => self.slice(run.batches().len(), |this, row| {
                let positions = run.indices(row).iter().enumerate();
                for (position, _) in positions.filter(|(_, i)| *i == index) {
                    this.hits.push(Hit::Sample(row as u32, position as u32));
                }
                true
            }),
            Query::Slow(subject, than) => self.slow(*subject, *than, run),
            Query::Slowest(subject) => self.slowest(*subject, run),
        }
    }

    /// Calls `each` for the next positions up to `len`, and stops where `each` returns false.
    fn slice(&mut self, len: usize, mut each: impl FnMut(&mut Self, usize) -> bool) -> bool {
        let end = (self.looked_at + SLICE).min(len);
        while self.looked_at < end {
            let at = self.looked_at;
            let before = self.hits.len();
            if !each(self, at) {
                self.hits.truncate(before);
                return false;
            }
            self.looked_at += 1;
        }
        self.looked_at < len
    }

    fn slow(&mut self, subject: Subject, than: Nanos, run: &Run) -> bool {
        // Batches that were fetched in the meantime come first.
        let mut late = false;
        let waiting = std::mem::take(&mut self.unfinished);
        for row in waiting {
            if is_fetched(run, row as usize) {
                late |= self.measure(subject, than, run, row as usize);
            } else {
                self.unfinished.push(row);
            }
        }
        if late {
            let current = self.current.and_then(|k| self.hits.get(k)).copied();
            self.hits.sort_by_key(|h| h.order());
            self.current = current.and_then(|hit| self.hits.iter().position(|h| *h == hit));
        }
        self.slice(run.batches().len(), |this, row| {
            if is_fetched(run, row) {
                this.measure(subject, than, run, row);
            } else {
                this.unfinished.push(row as u32);
            }
            true
        })
    }

    /// Adds the slow hits of a batch. Returns true if there are any.
    fn measure(&mut self, subject: Subject, than: Nanos, run: &Run, row: usize) -> bool {
        let before = self.hits.len();
        match subject {
            Subject::Batches => {
                if worker_time(run, row) > than {
                    self.hits.push(Hit::Batch(row as u32));
                }
            }
            _ => {
                let slow = run.samples(row).filter(|s| s.wall > than);
                let hit = |s: Sample| Hit::Sample(row as u32, s.position as u32);
                self.hits.extend(slow.map(hit));
            }
        }
        self.hits.len() > before
    }
}

fn direct(query: &Query, run: &Run) -> Vec<Hit> {
    match query {
        Query::Batch { idx, epoch } => {
            let Ok(idx) = u32::try_from(*idx) else {
                return Vec::new();
            };
            let epochs = run.epochs().iter().map(|e| e.epoch);
            let epochs = epochs.filter(|e| epoch.is_none_or(|wanted| wanted == u64::from(*e)));
            let rows = epochs.filter_map(|epoch| run.row(BatchId { epoch, idx }));
            rows.map(|row| Hit::Batch(row as u32)).collect()
        }
        Query::Worker(worker) => {
            let Ok(worker) = u16::try_from(*worker) else {
                return Vec::new();
            };
            let lane = Lane::Worker(worker);
            let known = run.lanes().any(|(l, _)| l == lane)
                || usize::from(worker) < run.info.options.num_workers;
            known.then_some(Hit::Lane(lane)).into_iter().collect()
        }
        Query::At(at) if *at <= run.end() => vec![Hit::Moment(*at)],
        _ => Vec::new(),
    }
}

/// Returns the longest time of a batch in a worker, as an example of "slow" for this run.
pub fn example_of_slow(run: &Run) -> Option<Nanos> {
    let lanes = run
        .lanes()
        .filter(|(l, _)| matches!(l, Lane::Worker(_) | Lane::Main));
    let spans = lanes.filter_map(|(lane, _)| run.track(Track { lane, row: 0 }));
    // A few hundred spans are enough for an example.
    let some = spans.flat_map(|s| s.all().iter().take(64));
    some.filter(|s| s.activity == Activity::Fetching && !s.is_open())
        .map(|s| s.end - s.start)
        .max()
}

impl Search {
    /// Processes the next slice. Returns true if data is left.
    fn slowest(&mut self, subject: Subject, run: &Run) -> bool {
        let more = match subject {
            Subject::Waits => self.slice(run.waits().len(), |this, k| {
                let wait = &run.waits()[k];
                let is_over = wait.end != Nanos::MAX;
                if is_over {
                    this.ranking
                        .note(wait.end - wait.start, Hit::Wait(k as u32));
                }
                is_over
            }),
            _ => {
                // Some of these batches were fetched in the meantime.
                for row in std::mem::take(&mut self.unfinished) {
                    self.rank(subject, run, row);
                }
                self.slice(run.batches().len(), |this, row| {
                    this.rank(subject, run, row as u32);
                    true
                })
            }
        };
        if std::mem::take(&mut self.ranking.has_changed) {
            let current = self.current.and_then(|k| self.hits.get(k)).copied();
            self.hits = self.ranking.all.iter().map(|(_, hit)| *hit).collect();
            self.current = current.and_then(|hit| self.hits.iter().position(|h| *h == hit));
        }
        more
    }

    fn rank(&mut self, subject: Subject, run: &Run, row: u32) {
        if !is_fetched(run, row as usize) {
            self.unfinished.push(row);
        } else if subject == Subject::Batches {
            let took = worker_time(run, row as usize);
            self.ranking.note(took, Hit::Batch(row));
        } else {
            for Sample { wall, position, .. } in run.samples(row as usize) {
                self.ranking.note(wall, Hit::Sample(row, position as u32));
            }
        }
    }
}

#[cfg(test)]
mod tests;
