//! Samples that the workers of an iterable dataset yield, and duplicates among workers.

use super::order::Order;

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
    use super::*;

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
