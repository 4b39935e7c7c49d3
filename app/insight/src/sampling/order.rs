//! Recorded or predicted order of indices.

use std::sync::Arc;

use loadscope_trace::{Run, Stage, WorkerId};

use super::overlay::Overlay;
use crate::platform::Budget;

/// Indices of one epoch, by batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// Number of the epoch, from 0.
    pub epoch: u32,
    /// Dataset indices in the order of the sampler.
    pub indices: Vec<u64>,
    /// End of each batch in `indices`.
    pub ends: Vec<usize>,
    /// Position of each batch in [`Run::batches`]. Empty for a predicted order.
    pub rows: Vec<u32>,
    /// Worker of each batch. `None` means the main process.
    pub workers: Vec<Option<WorkerId>>,
}

impl Order {
    /// Returns true if there are no indices.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// Reserves memory for `batches` batches in total, if available.
    fn make_room(&mut self, batches: usize) {
        let more = batches.saturating_sub(self.ends.len());
        // On failure, the lists grow as usual.
        let _ = self.ends.try_reserve(more);
        let _ = self.rows.try_reserve(more);
        let _ = self.workers.try_reserve(more);
    }

    /// Appends a batch.
    pub fn push(&mut self, indices: &[u64], row: Option<u32>, worker: Option<WorkerId>) {
        self.indices.extend_from_slice(indices);
        self.ends.push(self.indices.len());
        self.workers.push(worker);
        self.rows.extend(row);
    }

    /// Returns the batch of the index at `position`, counted within the epoch.
    pub fn batch_at(&self, position: usize) -> Option<usize> {
        (position < self.indices.len()).then(|| self.ends.partition_point(|end| *end <= position))
    }

    /// Returns the positions of batch number `batch` of this epoch.
    pub fn positions(&self, batch: usize) -> Option<std::ops::Range<usize>> {
        let end = *self.ends.get(batch)?;
        let start = batch.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(start..end)
    }

    /// Returns the number of batches. The empty results after the end of a worker's stream are not batches.
    pub fn count(&self, run: &Run) -> usize {
        let is_empty = |row: &&u32| {
            let batch = run.batches().get(**row as usize);
            let is_discarded = batch.is_some_and(|b| b.stage == Stage::Discarded);
            is_discarded && run.indices(**row as usize).is_empty()
        };
        self.ends.len() - self.rows.iter().filter(is_empty).count()
    }

    /// Returns the indices of each batch.
    pub fn batches(&self) -> impl Iterator<Item = &[u64]> {
        (0..self.ends.len()).filter_map(|k| Some(&self.indices[self.positions(k)?]))
    }
}

/// Digest of an epoch's order. Different orders practically never have equal digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Number of the epoch, from 0.
    pub epoch: u32,
    /// Number of indices.
    pub len: u64,
    /// True if the indices never decrease, as in the order of the dataset.
    pub is_ascending: bool,
    hash: u64,
    last: Option<u64>,
}

impl Digest {
    /// Returns the digest of an empty order.
    pub fn new(epoch: u32) -> Self {
        Self {
            epoch,
            len: 0,
            is_ascending: true,
            hash: 0xCBF2_9CE4_8422_2325,
            last: None,
        }
    }

    /// Returns the digest of a whole order.
    pub fn of(order: &Order) -> Self {
        let mut digest = Self::new(order.epoch);
        digest.take(&order.indices);
        digest
    }

    /// Adds the next indices.
    pub fn take(&mut self, indices: &[u64]) {
        for &index in indices {
            self.is_ascending &= self.last.is_none_or(|last| last <= index);
            self.last = Some(index);
            let mixed = (self.hash ^ index).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            self.hash = mixed ^ (mixed >> 29);
        }
        self.len += indices.len() as u64;
    }

    /// Returns true if both epochs have the same indices in the same order.
    pub fn is_same_order(&self, other: &Self) -> bool {
        self.len == other.len && self.hash == other.hash
    }
}

/// Incremental copy of a growing run's orders, in bounded pieces, so that ten million indices do not delay a frame.
#[derive(Debug, Default)]
pub struct OrderCollector {
    /// Digest of each epoch, in order of start.
    pub digests: Vec<Digest>,
    /// The analyzed epoch.
    pub looked_at: Arc<Order>,
    /// Latest epochs, for the overlay.
    pub epochs: Overlay,
    /// Number of the run.
    run: Option<u64>,
    /// Number of digested batches per epoch.
    digested: Vec<usize>,
    /// Number of the epoch's batches in `looked_at`.
    taken: usize,
}

impl OrderCollector {
    /// Number of indices between two checks of the clock.
    const PIECE: usize = 1 << 14;

    /// Adds new data of `run` until `budget` is spent, and keeps the epoch at position `epoch`. `number` identifies the
    /// run. Returns true if data is left.
    pub fn update(&mut self, number: u64, run: &Run, epoch: usize, budget: &Budget) -> bool {
        if self.is_another(number, run) {
            *self = Self {
                run: Some(number),
                ..Self::default()
            };
        }
        loop {
            let mut left = Self::PIECE;
            self.digest(run, &mut left);
            self.gather(run, epoch, &mut left);
            if left > 0 || budget.is_spent() {
                return left == 0;
            }
        }
    }

    fn is_another(&self, number: u64, run: &Run) -> bool {
        let fewer =
            |(k, taken): (usize, &usize)| run.epochs().get(k).is_none_or(|e| e.rows.len() < *taken);
        self.run != Some(number)
            || self.digested.iter().enumerate().any(fewer)
            || self
                .digests
                .iter()
                .zip(run.epochs())
                .any(|(d, e)| d.epoch != e.epoch)
    }

    fn digest(&mut self, run: &Run, left: &mut usize) {
        for (k, epoch) in run.epochs().iter().enumerate() {
            if k == self.digests.len() {
                self.digests.push(Digest::new(epoch.epoch));
                self.digested.push(0);
            }
            while *left > 0 && self.digested[k] < epoch.rows.len() {
                let indices = run.indices(epoch.rows[self.digested[k]] as usize).to_vec();
                self.digests[k].take(&indices);
                self.epochs.take(epoch.epoch, &indices);
                self.digested[k] += 1;
                *left = left.saturating_sub(indices.len().max(1));
            }
        }
    }

    fn gather(&mut self, run: &Run, epoch: usize, left: &mut usize) {
        let Some(epoch) = run.epochs().get(epoch) else {
            return;
        };
        if self.looked_at.epoch != epoch.epoch || self.taken > epoch.rows.len() {
            self.taken = 0;
            self.looked_at = Arc::new(Order {
                epoch: epoch.epoch,
                ..Order::default()
            });
        }
        if self.taken == epoch.rows.len() {
            return;
        }
        // Copies only if an analysis still uses the old value.
        let order = Arc::make_mut(&mut self.looked_at);
        // Without the reservation, growing lists would be copied during a frame.
        order.make_room(epoch.rows.len());
        while *left > 0 && self.taken < epoch.rows.len() {
            let row = epoch.rows[self.taken];
            self.taken += 1;
            // Dropped events leave gaps.
            let Some(batch) = run.batches().get(row as usize) else {
                continue;
            };
            let indices = run.indices(row as usize).to_vec();
            order.push(&indices, Some(row), batch.worker);
            *left = left.saturating_sub(indices.len().max(1));
        }
    }
}

/// Split of a stream among workers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Number of workers that yielded samples.
    pub workers: usize,
    /// Number of yielded samples, including repetitions.
    pub yielded: u64,
    /// Number of distinct samples, as far as they are distinguishable.
    pub different: u64,
    /// Number of samples that several workers yielded.
    pub shared: u64,
}

impl Sharing {
    /// Returns the split of an order whose samples have indices.
    pub fn of(order: &Order) -> Self {
        let mut pairs: Vec<(u64, u16)> = Vec::with_capacity(order.indices.len());
        for (batch, worker) in order.batches().zip(&order.workers) {
            let worker = worker.unwrap_or_default();
            pairs.extend(batch.iter().map(|index| (*index, worker)));
        }
        let yielded = pairs.len() as u64;
        let mut workers: Vec<u16> = order.workers.iter().flatten().copied().collect();
        workers.sort_unstable();
        workers.dedup();
        pairs.sort_unstable();
        pairs.dedup();
        let samples = || pairs.chunk_by(|a, b| a.0 == b.0);
        Self {
            workers: workers.len().max(1),
            yielded,
            different: samples().count() as u64,
            shared: samples().filter(|s| s.len() > 1).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::RunOptions;

    use super::*;

    #[test]
    fn positions_map_to_their_batches() {
        let mut order = Order::default();
        order.push(&[3, 1], Some(0), None);
        order.push(&[], Some(1), None);
        order.push(&[2, 0, 4], Some(2), None);
        let batches: Vec<_> = (0..6).map(|p| order.batch_at(p)).collect();
        assert_eq!(batches, [Some(0), Some(0), Some(2), Some(2), Some(2), None]);
        assert_eq!(order.positions(1), Some(2..2));
        assert_eq!(order.positions(2), Some(2..5));
        assert_eq!(order.positions(3), None);
        assert_eq!(order.batches().nth(2), Some(&[2, 0, 4][..]));
    }

    /// Regression test: 29 batches were counted instead of 24, because five tasks ended a stream.
    #[test]
    fn tasks_that_end_a_stream_are_no_batches() {
        let run = crate::simulated(&RunOptions {
            dataset: "stream:len=24,cost_ms=5,shard=true".to_owned(),
            batch_size: Some(1),
            num_workers: 2,
            ..RunOptions::default()
        });
        let mut gathered = OrderCollector::default();
        while gathered.update(0, &run, 0, &Budget::none()) {}
        let yielded = (run.transitions().iter()).filter(|t| t.stage == Stage::Training);
        assert!(gathered.looked_at.ends.len() > 24);
        assert_eq!((gathered.looked_at.count(&run), yielded.count()), (24, 24));
    }

    #[test]
    fn digests_differ_between_orders() {
        let of = |indices: &[u64]| {
            let mut digest = Digest::new(0);
            indices.iter().for_each(|i| digest.take(&[*i]));
            digest
        };
        assert!(of(&[1, 2, 3]).is_same_order(&of(&[1, 2, 3])));
        assert!(!of(&[1, 2, 3]).is_same_order(&of(&[1, 3, 2])));
        assert!(!of(&[0]).is_same_order(&of(&[0, 0])));
        assert!(of(&[1, 2, 2]).is_ascending && !of(&[1, 3, 2]).is_ascending);
    }

    #[test]
    fn a_growing_run_is_gathered_incrementally() {
        use loadscope_trace::{BatchId, Event, EventKind, Nanos, RunId, RunInfo};

        let mut run = Run::new(RunInfo::default());
        let mut gathered = OrderCollector::default();
        let mut now = 0;
        let mut tell = |run: &mut Run, kind| {
            now += 1;
            run.apply(&Event {
                at: Nanos(now),
                run: RunId(0),
                kind,
            });
        };
        for (epoch, batches) in [[[4, 2], [0, 1]], [[4, 2], [1, 0]]].iter().enumerate() {
            let number = epoch as u32;
            tell(&mut run, EventKind::EpochStarted { epoch: number });
            for (idx, indices) in batches.iter().enumerate() {
                let batch = BatchId {
                    epoch: number,
                    idx: idx as u32,
                };
                tell(&mut run, EventKind::dispatched(batch, Some(1), *indices));
                assert!(!gathered.update(0, &run, epoch, &Budget::none()));
                assert_eq!(gathered.looked_at.ends.len(), idx + 1);
            }
            assert_eq!(gathered.looked_at.indices, batches.concat());
            assert_eq!(gathered.digests[epoch], Digest::of(&gathered.looked_at));
        }
        assert!(!gathered.digests[0].is_same_order(&gathered.digests[1]));
        gathered.update(0, &run, 0, &Budget::none());
        assert_eq!(gathered.looked_at.rows, [0, 1]);
        assert_eq!(gathered.looked_at.workers, [Some(1), Some(1)]);
        gathered.update(1, &run, 0, &Budget::none());
        assert_eq!(gathered.looked_at.rows, [0, 1]);
        gathered.update(1, &Run::default(), 0, &Budget::none());
        assert!(gathered.digests.is_empty() && gathered.looked_at.is_empty());
    }

    #[test]
    fn samples_yielded_by_several_workers_are_counted() {
        let mut order = Order::default();
        order.push(&[0, 1], None, Some(0));
        order.push(&[0, 1], None, Some(1));
        order.push(&[2, 2], None, Some(0));
        let sharing = Sharing::of(&order);
        assert_eq!(
            sharing,
            Sharing {
                workers: 2,
                yielded: 6,
                different: 3,
                shared: 2
            }
        );
    }
}
