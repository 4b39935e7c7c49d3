//! Search for the slowest samples, batches or waits.

use loadscope_trace::{Nanos, Run, Sample};

use super::fetched::{is_fetched, worker_time};
use super::{Hit, Search, Subject};

impl Search {
    /// Processes the next slice. Returns true if data is left.
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
