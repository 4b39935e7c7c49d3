//! Samples until they are taken.

use std::collections::HashMap;

use super::samples::{NodeId, Samples, StackSamples};

/// Largest distance of a sample from its place in the grid of its entry, ns.
const TOLERANCE: u64 = 1_000_000;

/// Largest number of entries. Later samples count as skipped.
const MAX_ENTRIES: usize = 1 << 20;

/// Samples since the previous `take`.
#[derive(Default)]
pub struct Record {
    pub samples: Samples,
    /// Last entry of each process.
    last: HashMap<u32, usize>,
}

impl Record {
    /// Adds a sample.
    pub fn add(&mut self, period: u64, pid: u32, at: u64, node: NodeId) {
        let entries = &mut self.samples.samples;
        if let Some(last) = self.last.get(&pid).and_then(|last| entries.get_mut(*last)) {
            let wanted = last
                .at
                .saturating_add(period.saturating_mul(last.count.into()));
            if last.node == node && at.abs_diff(wanted) <= TOLERANCE {
                last.count = last.count.saturating_add(1);
                return;
            }
        }
        if entries.len() >= MAX_ENTRIES {
            self.samples.skipped += 1;
            return;
        }
        self.last.insert(pid, entries.len());
        entries.push(StackSamples {
            pid,
            at,
            node,
            count: 1,
        });
    }

    /// Removes and returns the samples.
    pub fn take(&mut self) -> Samples {
        self.last.clear();
        std::mem::take(&mut self.samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_samples_in_the_grid_are_one_entry() {
        let mut record = Record::default();
        let ms = 1_000_000;
        let samples = [
            (7, 100, 1),
            (8, 100, 1),
            (7, 110, 1),
            (8, 111, 1),
            (7, 122, 1),
            (7, 132, 2),
            (7, 142, 2),
        ];
        for (pid, at, node) in samples {
            record.add(10 * ms, pid, at * ms, NodeId(node));
        }
        let entry = |pid, at, node, count| StackSamples {
            pid,
            at: at * ms,
            node: NodeId(node),
            count,
        };
        let wanted = [
            entry(7, 100, 1, 2),
            entry(8, 100, 1, 2),
            entry(7, 122, 1, 1),
            entry(7, 132, 2, 2),
        ];
        assert_eq!(record.take().samples, wanted);
        record.add(10 * ms, 7, 152 * ms, NodeId(2));
        assert_eq!(record.take().samples, [entry(7, 152, 2, 1)]);
    }

    #[test]
    fn the_number_of_entries_has_a_limit() {
        let mut record = Record::default();
        for at in 0..MAX_ENTRIES as u64 + 3 {
            record.add(
                TOLERANCE * 10,
                7,
                at * TOLERANCE * 10,
                NodeId(u32::from(at % 2 == 0)),
            );
        }
        let taken = record.take();
        assert_eq!((taken.samples.len(), taken.skipped), (MAX_ENTRIES, 3));
    }
}
