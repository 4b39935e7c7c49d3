//! Matches the log of the main process with those of the workers: the worker, yield time and epoch of each batch.

use std::collections::{BTreeMap, HashMap};

use super::line::{Line, OUT_OF_ORDER_WAIT};
use super::process::Process;
use super::process::{Batch, Call};
use crate::{ImportError, Kind};
use loadscope_words::say;

/// Maximum number of epochs. Each takes some thousand bytes, although a single line can begin one.
const MOST_EPOCHS: usize = 1 << 15;

/// Batch from the logs of both sides. Times are ns since 1970.
#[derive(Debug, Default)]
pub(super) struct MatchedBatch {
    pub idx: u32,
    pub dispatched: Option<i64>,
    /// Wait of the trainer for the batch.
    pub waited: Option<(i64, i64)>,
    /// Time of arrival during a wait for another batch.
    pub received_early: Option<i64>,
    pub consumed: Option<i64>,
    /// Number of the worker, and its log of the batch.
    pub fetched: Option<(u16, Batch)>,
}

#[derive(Debug, Default)]
pub(super) struct Epoch {
    pub batches: Vec<MatchedBatch>,
}

/// Matched logs of a run.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub pid: u64,
    pub epochs: Vec<Epoch>,
    /// Process IDs of the workers, by worker number.
    pub workers: Vec<Vec<u64>>,
    /// Names of transforms.
    pub names: Vec<String>,
    /// Process IDs of main processes that are not shown, and their numbers of lines.
    pub others: Vec<(u64, usize)>,
    /// Number of worker batches that the main process did not log.
    pub unmatched: u64,
    /// Number of calls of transforms outside of any batch.
    pub stray: u64,
    /// True if the main process logs dispatches.
    pub has_dispatch_times: bool,
}

/// Matches the logs of the processes.
pub(super) fn join(processes: Vec<Process>) -> Result<Run, ImportError> {
    let (mains, workers): (Vec<_>, Vec<_>) =
        processes.into_iter().partition(|p| !p.main.is_empty());
    let shown = mains.iter().max_by_key(|p| p.main.len()).map(|p| p.pid);
    let Some(shown) = shown else {
        return Err(ImportError::Nothing {
            kind: Kind::Lotus,
            why: say!(
                "contains only workers: put the file of the main process (…_main_pid_…) into the folder"
            )
            .to_owned(),
        });
    };
    let mut run = Run {
        pid: shown,
        ..Run::default()
    };
    let mut made = Vec::new();
    for main in mains {
        if main.pid == shown && run.epochs.is_empty() {
            run.epochs = epochs(&main.main, &mut run.has_dispatch_times)?;
        } else {
            run.others.push((main.pid, main.main.len()));
        }
        // With `num_workers=0`, the main process fetches.
        run.stray += main.worker.stray;
        made.extend(main.worker.batches.into_iter().map(|b| (main.pid, b)));
    }
    for process in workers {
        run.stray += process.worker.stray;
        let batches = process.worker.batches.into_iter();
        made.extend(batches.map(|b| (process.pid, b)));
    }
    run.assign_batches(made);
    Ok(run)
}

/// Returns the epochs of the main process. Batch numbers restart in each epoch.
fn epochs(lines: &[Line], has_dispatch_times: &mut bool) -> Result<Vec<Epoch>, ImportError> {
    let mut epochs: Vec<BTreeMap<u32, MatchedBatch>> = Vec::new();
    // The first dispatches of an epoch are logged before its first wait.
    let mut dispatched: Option<u32> = None;
    for line in lines {
        let is_new = match line {
            Line::Dispatched { idx, .. } => dispatched.is_none_or(|last| *idx <= last),
            Line::Wait { idx, .. } => has(&epochs, *idx, |b| {
                b.waited.is_some() || b.received_early.is_some()
            }),
            Line::Consumed { idx, .. } => has(&epochs, *idx, |b| b.consumed.is_some()),
            _ => false,
        };
        if is_new || epochs.is_empty() {
            if epochs.len() >= MOST_EPOCHS {
                return Err(ImportError::TooMuch {
                    kind: Kind::Lotus,
                    most: MOST_EPOCHS,
                    what: "epochs",
                    remedy: say!("Trace fewer epochs"),
                });
            }
            epochs.push(BTreeMap::new());
            dispatched = None;
        }
        let Some(epoch) = epochs.last_mut() else {
            continue;
        };
        match *line {
            Line::Dispatched { idx, at } => {
                *has_dispatch_times = true;
                dispatched = Some(idx);
                entry(epoch, idx).dispatched = Some(at);
            }
            Line::Wait { idx, start, end } if end - start == OUT_OF_ORDER_WAIT => {
                entry(epoch, idx).received_early = Some(start);
            }
            Line::Wait { idx, start, end } => entry(epoch, idx).waited = Some((start, end)),
            Line::Consumed { idx, at } => entry(epoch, idx).consumed = Some(at),
            _ => {}
        }
    }
    let batches = |epoch: BTreeMap<u32, MatchedBatch>| epoch.into_values().collect();
    let epochs = epochs.into_iter();
    Ok(epochs
        .map(|e| Epoch {
            batches: batches(e),
        })
        .collect())
}

/// Returns true if the batch is in the last epoch and `had` holds for it.
fn has(
    epochs: &[BTreeMap<u32, MatchedBatch>],
    idx: u32,
    had: impl Fn(&MatchedBatch) -> bool,
) -> bool {
    let batch = epochs.last().and_then(|e| e.get(&idx));
    batch.is_some_and(had)
}

fn entry(epoch: &mut BTreeMap<u32, MatchedBatch>, idx: u32) -> &mut MatchedBatch {
    epoch.entry(idx).or_insert_with(|| MatchedBatch {
        idx,
        ..MatchedBatch::default()
    })
}

impl MatchedBatch {
    /// Returns the latest possible time of arrival in the main process.
    fn arrived(&self) -> Option<i64> {
        let waited = self.waited.map(|(_, end)| end);
        self.received_early.or(waited).or(self.consumed)
    }

    /// Returns all known times of the batch. `end` selects a time from intervals.
    fn times(&self, end: impl Fn((i64, i64)) -> i64) -> impl Iterator<Item = i64> {
        let fetched = self.fetched.as_ref().map(|(_, b)| end((b.start, b.end)));
        let waited = self.waited.map(end);
        let all = [
            self.dispatched,
            fetched,
            waited,
            self.received_early,
            self.consumed,
        ];
        all.into_iter().flatten()
    }

    /// Returns the earliest known time.
    pub fn first(&self) -> i64 {
        self.times(|(start, _)| start).min().unwrap_or(0)
    }

    /// Returns the latest known time.
    pub fn last(&self) -> i64 {
        self.times(|(_, end)| end).max().unwrap_or(0)
    }
}

impl Run {
    /// Assigns worker batches to arrived batches: the last one with the same number that ended before the arrival. The remaining ones were
    /// in flight when an epoch was stopped early.
    fn assign_batches(&mut self, made: Vec<(u64, Batch)>) {
        let mut by_idx: HashMap<u32, Vec<(u64, Batch)>> = HashMap::new();
        for (pid, batch) in made {
            by_idx.entry(batch.idx).or_default().push((pid, batch));
        }
        for batches in by_idx.values_mut() {
            batches.sort_by_key(|(_, b)| b.end);
        }
        // Processes of a host share a clock, but a line may be written late.
        const SLACK: i64 = 1_000_000;
        let mut claimed: Vec<(usize, usize, u64, Batch)> = Vec::new();
        for (e, epoch) in self.epochs.iter().enumerate().rev() {
            for (b, joined) in epoch.batches.iter().enumerate() {
                let (Some(arrived), Some(batches)) =
                    (joined.arrived(), by_idx.get_mut(&joined.idx))
                else {
                    continue;
                };
                let until = arrived.saturating_add(SLACK);
                let after = batches.partition_point(|(_, b)| b.end <= until);
                if let Some(last) = after.checked_sub(1) {
                    let (pid, batch) = batches.remove(last);
                    claimed.push((e, b, pid, batch));
                }
            }
        }
        claimed.sort_by_key(|(e, _, _, batch)| (*e, batch.idx));
        for (e, b, pid, batch) in claimed {
            let worker = self.number(e, pid);
            self.epochs[e].batches[b].fetched = Some((worker, batch));
        }
        self.assign_remaining(by_idx);
    }

    /// Assigns worker batches that the main process did not log. They belong to the epoch in which they were fetched, if the epoch had not
    /// reached their number.
    fn assign_remaining(&mut self, by_idx: HashMap<u32, Vec<(u64, Batch)>>) {
        let starts: Vec<i64> = self.epochs.iter().map(Epoch::start).collect();
        let mut rest: Vec<(u64, Batch)> = by_idx.into_values().flatten().collect();
        rest.sort_by_key(|(_, b)| (b.start, b.idx));
        for (pid, batch) in rest {
            let after = starts.partition_point(|s| *s <= batch.end);
            let epoch = after.checked_sub(1).map(|e| &self.epochs[e].batches);
            // If a later number was yielded, or the gap is large, the batch belongs to another process.
            let is_next = epoch.is_some_and(|b| {
                b.last()
                    .is_some_and(|last| last.idx < batch.idx && batch.idx - last.idx < 4096)
            });
            if !is_next {
                self.unmatched += 1;
                continue;
            }
            let worker = self.number(after - 1, pid);
            self.epochs[after - 1].batches.push(MatchedBatch {
                idx: batch.idx,
                fetched: Some((worker, batch)),
                ..MatchedBatch::default()
            });
        }
    }

    /// Returns the number of a worker. Workers receive their first tasks in the order of their numbers.
    fn number(&mut self, epoch: usize, pid: u64) -> u16 {
        if let Some(known) = self.workers.iter().position(|pids| pids.contains(&pid)) {
            return known as u16;
        }
        // Without persistent workers, each epoch has new processes.
        let of_epoch: Vec<u16> = self.epochs[epoch]
            .batches
            .iter()
            .filter_map(|b| b.fetched.as_ref().map(|(w, _)| *w))
            .collect();
        let free = (0..self.workers.len()).find(|w| !of_epoch.contains(&(*w as u16)));
        match free {
            Some(free) => {
                self.workers[free].push(pid);
                free as u16
            }
            None => {
                self.workers.push(vec![pid]);
                (self.workers.len() - 1).min(usize::from(u16::MAX)) as u16
            }
        }
    }
}

impl Epoch {
    pub fn start(&self) -> i64 {
        self.batches
            .iter()
            .map(MatchedBatch::first)
            .min()
            .unwrap_or(0)
    }

    pub fn end(&self) -> i64 {
        self.batches
            .iter()
            .map(MatchedBatch::last)
            .max()
            .unwrap_or(0)
    }
}

/// Splits the calls of a batch into samples. A sample begins with each call of the first transform.
pub(super) fn samples(calls: &[Call]) -> Vec<&[Call]> {
    let Some(first) = calls.first() else {
        return Vec::new();
    };
    let starts = calls
        .iter()
        .enumerate()
        .filter(|(_, c)| c.name == first.name)
        .map(|(k, _)| k);
    let starts: Vec<usize> = starts.chain([calls.len()]).collect();
    starts.windows(2).map(|w| &calls[w[0]..w[1]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_lines_create_a_bounded_number_of_epochs() {
        let line = |k: i64| Line::Wait {
            idx: 0,
            start: k,
            end: k + 1,
        };
        let made = |count: i64| epochs(&(0..count).map(line).collect::<Vec<_>>(), &mut false);
        assert_eq!(made(100).map(|e| e.len()).ok(), Some(100));
        assert!(matches!(
            made(MOST_EPOCHS as i64 + 1),
            Err(ImportError::TooMuch { .. })
        ));
    }

    #[test]
    fn a_sample_begins_with_the_first_transform() {
        let call = |name, start| Call {
            name,
            start,
            end: start + 1,
        };
        let calls = [call(3, 0), call(1, 2), call(3, 4), call(3, 6), call(1, 8)];
        let lengths: Vec<usize> = samples(&calls).iter().map(|s| s.len()).collect();
        assert_eq!(lengths, [2, 1, 2]);
        assert!(samples(&[]).is_empty());
    }
}
