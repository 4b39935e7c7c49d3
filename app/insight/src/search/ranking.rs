//! The slowest of all: which they are is known only once everything was looked at, so a short list is kept on the way.

use loadscope_trace::{Nanos, Run, Sample};

use super::{Hit, Search, Subject, is_fetched, worker_time};

/// So many are found: enough to see whether it is one or a habit.
pub(super) const FOUND: usize = 24;

/// The slowest so far, the slowest first.
#[derive(Debug, Default)]
pub(super) struct Ranking {
    all: Vec<(Nanos, Hit)>,
    has_changed: bool,
}

impl Ranking {
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Takes `hit` in if it took longer than one of those that are known. Of two that took the same time the first one stays.
    pub fn note(&mut self, took: Nanos, hit: Hit) {
        let at = self.all.partition_point(|(time, _)| *time >= took);
        if at < FOUND {
            self.all.insert(at, (took, hit));
            self.all.truncate(FOUND);
            self.has_changed = true;
        }
    }
}

impl Search {
    /// Looks at the next slice for what took longest. True if there is more.
    pub(super) fn slowest(&mut self, subject: Subject, run: &Run) -> bool {
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
                // Some of them have come to their end since they were looked at.
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
