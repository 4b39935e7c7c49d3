//! Several orders that are laid over each other: the epochs of a run, the ranks of an epoch.

use std::collections::VecDeque;
use std::sync::Arc;

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// Number of the epoch, or the rank.
    pub number: u32,
    /// Its indices, piece after piece.
    pieces: Vec<Arc<Vec<u64>>>,
    /// Those after the pieces.
    rest: Vec<u64>,
    len: usize,
}

/// Orders that are laid over each other. A copy is cheap: it shares all but the ends of the orders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    layers: VecDeque<Layer>,
    points: usize,
    /// The largest number so far.
    newest: Option<u32>,
    /// Some were left out, since there are too many points.
    is_cut: bool,
}

impl Layer {
    /// Indices in a piece, at least.
    const PIECE: usize = 1 << 16;

    /// Its indices from the first, in pieces, with the position of each piece.
    pub fn pieces(&self) -> impl Iterator<Item = (usize, &[u64])> {
        let pieces = self.pieces.iter().map(|piece| piece.as_slice());
        let mut start = 0;
        pieces.chain([self.rest.as_slice()]).map(move |piece| {
            let at = start;
            start += piece.len();
            (at, piece)
        })
    }

    /// Number of its indices.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if it has no index.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn take(&mut self, indices: &[u64]) {
        self.rest.extend_from_slice(indices);
        self.len += indices.len();
        if self.rest.len() >= Self::PIECE {
            self.pieces.push(Arc::new(std::mem::take(&mut self.rest)));
        }
    }
}

impl Overlay {
    /// So many orders are laid over each other at most: of more, the colours could not be told apart.
    pub const MOST: usize = 8;

    /// All together have at most so many indices: a few seconds' worth of drawing, 32 MB.
    const MOST_POINTS: usize = 4_000_000;

    /// What comes next in the order with this number. Where there are too many orders, the earliest leaves.
    pub fn take(&mut self, number: u32, indices: &[u64]) {
        // One of before may go on after another has begun. What has left does not come back.
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
        self.layers[place].take(indices);
        self.points += indices.len();
        while self.layers.len() > Self::MOST || self.points > Self::MOST_POINTS {
            let Some(first) = self.layers.pop_front() else {
                return;
            };
            self.points -= first.len();
            self.is_cut |= self.points + first.len() > Self::MOST_POINTS;
        }
    }

    /// The orders, in the order in which they came.
    pub fn layers(&self) -> impl ExactSizeIterator<Item = &Layer> {
        self.layers.iter()
    }

    /// The length of the longest.
    pub fn longest(&self) -> usize {
        self.layers.iter().map(Layer::len).max().unwrap_or(0)
    }

    /// Indices of all of them.
    pub fn points(&self) -> usize {
        self.points
    }

    /// True if some were left out, since there are too many points.
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
        fn each_order_has_what_came_for_it(pieces in prop::collection::vec((0..5u32, 0..40_000usize), 0..20)) {
            let mut overlay = Overlay::default();
            let mut wanted: Vec<(u32, Vec<u64>)> = Vec::new();
            let mut sorted = pieces.clone();
            sorted.sort_by_key(|(number, _)| *number);
            for (k, (number, len)) in sorted.into_iter().enumerate() {
                let indices: Vec<u64> = (0..len as u64).map(|i| i + k as u64).collect();
                overlay.take(number, &indices);
                match wanted.last_mut() {
                    Some((last, of)) if *last == number => of.extend(&indices),
                    _ => wanted.push((number, indices)),
                }
            }
            let got: Vec<(u32, Vec<u64>)> = overlay.layers().map(|l| (l.number, all(l))).collect();
            prop_assert_eq!(&got, &wanted);
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

    #[test]
    fn the_latest_orders_stay() {
        let mut overlay = Overlay::default();
        for epoch in 0..20 {
            overlay.take(epoch, &[1, 2, 3]);
        }
        let numbers: Vec<u32> = overlay.layers().map(|layer| layer.number).collect();
        assert_eq!(numbers, (12..20).collect::<Vec<_>>());
        assert_eq!((overlay.points(), overlay.is_cut()), (24, false));
        // One that is too large for itself leaves nothing.
        overlay.take(20, &vec![0; Overlay::MOST_POINTS + 1]);
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
