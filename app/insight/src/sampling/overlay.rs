//! Overlay of several orders: epochs of a run, or ranks of an epoch.

use std::collections::VecDeque;
use std::sync::Arc;

/// An order of the overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Number of the epoch or rank.
    pub number: u32,
    /// Full pieces of its indices.
    pieces: Vec<Arc<Vec<u64>>>,
    /// Indices after the full pieces.
    rest: Vec<u64>,
    len: usize,
    /// Exclusive upper bound of its indices.
    bound: u64,
}

/// Several orders. A clone is cheap, because it shares the full pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    layers: VecDeque<Layer>,
    points: usize,
    /// Largest number so far.
    newest: Option<u32>,
    /// True if orders were dropped because of the limit of points.
    is_cut: bool,
}

impl Layer {
    /// Minimum number of indices per piece.
    const PIECE: usize = 1 << 16;

    /// Returns the indices in pieces, each with its position.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[u64])> {
        let pieces = self.pieces.iter().map(|piece| piece.as_slice());
        let mut start = 0;
        pieces.chain([self.rest.as_slice()]).map(move |piece| {
            let at = start;
            start += piece.len();
            (at, piece)
        })
    }

    /// Returns the number of indices.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no indices.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn append(&mut self, indices: &[u64]) {
        let largest = indices.iter().copied().max();
        self.bound = self
            .bound
            .max(largest.map_or(0, |index| index.saturating_add(1)));
        self.rest.extend_from_slice(indices);
        self.len += indices.len();
        if self.rest.len() >= Self::PIECE {
            self.pieces.push(Arc::new(std::mem::take(&mut self.rest)));
        }
    }
}

impl Overlay {
    /// Maximum number of orders, because more colors are not distinguishable.
    pub const MOST: usize = 8;

    /// Maximum number of indices in all orders: 32 MB, which take a few seconds to draw.
    const MAX_POINTS: usize = 4_000_000;

    /// Appends indices to the order with this number. Above the limits, the earliest order is dropped.
    pub fn take(&mut self, number: u32, indices: &[u64]) {
        // An earlier order can still grow after a later one has started. A dropped order is not added again.
        let known = self.layers.iter().rposition(|of| of.number == number);
        if known.is_none() && self.newest.is_some_and(|newest| number <= newest) {
            return;
        }
        if known.is_none() {
            self.newest = Some(number);
            self.layers.push_back(Layer {
                number,
                ..Layer::default()
            });
        }
        let place = known.unwrap_or(self.layers.len() - 1);
        self.layers[place].append(indices);
        self.points += indices.len();
        while self.layers.len() > Self::MOST || self.points > Self::MAX_POINTS {
            let Some(first) = self.layers.pop_front() else {
                return;
            };
            self.points -= first.len();
            self.is_cut |= self.points + first.len() > Self::MAX_POINTS;
        }
    }

    /// Adds an order. The first order above the limits and all later ones are skipped.
    pub fn take_first(&mut self, number: u32, indices: &[u64]) {
        if self.is_cut || self.layers.len() >= Self::MOST {
            return;
        }
        match self.points + indices.len() > Self::MAX_POINTS {
            true => self.is_cut = true,
            false => self.take(number, indices),
        }
    }

    /// Returns the position of the order with this number, which determines its color.
    pub fn place(&self, number: u32) -> Option<u32> {
        let place = self.layers.iter().position(|of| of.number == number);
        place.and_then(|place| u32::try_from(place).ok())
    }

    /// Returns the numbers of the first and last order.
    pub fn ends(&self) -> Option<(u32, u32)> {
        Some((self.layers.front()?.number, self.layers.back()?.number))
    }

    /// Returns the exclusive upper bound of all indices.
    pub fn bound(&self) -> u64 {
        self.layers.iter().map(|of| of.bound).max().unwrap_or(0)
    }

    /// Returns the orders in order of addition.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Layer> {
        self.layers.iter()
    }

    /// Returns the length of the longest order.
    pub fn longest(&self) -> usize {
        self.layers.iter().map(Layer::len).max().unwrap_or(0)
    }

    /// Returns the number of indices in all orders.
    pub fn points(&self) -> usize {
        self.points
    }

    /// Returns true if orders were dropped because of the limit of points.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(layer: &Layer) -> Vec<u64> {
        layer
            .pieces()
            .flat_map(|(_, piece)| piece)
            .copied()
            .collect()
    }

    proptest! {
        #[test]
        fn the_latest_increasing_orders_keep_all_indices(pieces in prop::collection::vec((0..30u32, 0..40_000usize), 0..40)) {
            let pieces: Vec<(u32, Vec<u64>)> = pieces
                .into_iter()
                .enumerate()
                .map(|(k, (number, len))| (number, (0..len as u64).map(|i| i + k as u64).collect()))
                .collect();
            let mut overlay = Overlay::default();
            for (number, indices) in &pieces {
                overlay.take(*number, indices);
            }
            // An order counts if its number is larger than all earlier ones. The latest orders stay, with all their indices.
            let mut begun: Vec<u32> = Vec::new();
            for (number, _) in &pieces {
                if begun.last().is_none_or(|last| number > last) {
                    begun.push(*number);
                }
            }
            let of = |number: &u32| pieces.iter().filter(|(n, _)| n == number).flat_map(|(_, i)| i.clone()).collect();
            let stay = &begun[begun.len().saturating_sub(Overlay::MOST)..];
            let wanted: Vec<(u32, Vec<u64>)> = stay.iter().map(|number| (*number, of(number))).collect();
            let got: Vec<(u32, Vec<u64>)> = overlay.layers().map(|l| (l.number, all(l))).collect();
            prop_assert_eq!(&got, &wanted);
            let largest = wanted.iter().flat_map(|(_, of)| of).max();
            prop_assert_eq!(overlay.bound(), largest.map_or(0, |index| index + 1));
            prop_assert_eq!(overlay.ends(), stay.first().copied().zip(stay.last().copied()));
            for layer in overlay.layers() {
                let mut next = 0;
                for (at, piece) in layer.pieces() {
                    prop_assert_eq!(at, next);
                    next += piece.len();
                }
                prop_assert_eq!(next, layer.len());
            }
        }
    }

    /// Regression test: of eight ranks with 1.25 million indices each, the last three stayed, in the colors of the first.
    #[test]
    fn the_first_ranks_stay_when_points_exceed_the_limit() {
        let mut overlay = Overlay::default();
        let indices = vec![7; 1_250_000];
        for rank in 0..8 {
            overlay.take_first(rank, &indices);
        }
        // A later, shorter order does not fill the gap.
        overlay.take_first(8, &[1]);
        assert_eq!((overlay.ends(), overlay.is_cut()), (Some((0, 2)), true));
        assert_eq!(
            [0, 2, 3].map(|n| overlay.place(n)),
            [Some(0), Some(2), None]
        );
        assert_eq!((overlay.points(), overlay.bound()), (3_750_000, 8));
        let mut many = Overlay::default();
        (0..20).for_each(|rank| many.take_first(rank, &[rank.into()]));
        assert_eq!((many.ends(), many.is_cut()), (Some((0, 7)), false));
    }

    #[test]
    fn the_latest_orders_are_kept() {
        let mut overlay = Overlay::default();
        for epoch in 0..20 {
            overlay.take(epoch, &[1, 2, 3]);
        }
        let numbers: Vec<u32> = overlay.layers().map(|layer| layer.number).collect();
        assert_eq!(numbers, (12..20).collect::<Vec<_>>());
        assert_eq!((overlay.points(), overlay.is_cut()), (24, false));
        // An order above the limit leaves the overlay empty.
        overlay.take(20, &vec![0; Overlay::MAX_POINTS + 1]);
        assert_eq!((overlay.layers().len(), overlay.points()), (0, 0));
        assert!(overlay.is_cut());
        overlay.take(3, &[1]);
        assert_eq!(overlay.layers().len(), 0, "it has left long ago");
        overlay.take(21, &[1]);
        overlay.take(22, &[4, 5]);
        overlay.take(21, &[2]);
        let orders: Vec<Vec<u64>> = overlay.layers().map(all).collect();
        assert_eq!(orders, [vec![1, 2], vec![4, 5]]);
    }
}
