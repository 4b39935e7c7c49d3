//! Coloring of an order's points.

use loadscope_words::say;

use super::order_analysis::OrderAnalysis;
use super::overlay::Overlay;

/// Property that determines the color of a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coloring {
    /// One color. Dense areas have more contrast with the background.
    #[default]
    Nothing,
    /// Class of the sample.
    Class,
    /// Worker that fetches the sample.
    Worker,
    /// Batch of the sample.
    Batch,
    /// Rank that receives the sample, with an overlay of all ranks.
    Rank,
    /// Epoch, with an overlay of the latest ones.
    Epoch,
}

impl Coloring {
    /// All colorings.
    pub const ALL: [Self; 6] = [
        Self::Nothing,
        Self::Class,
        Self::Worker,
        Self::Batch,
        Self::Rank,
        Self::Epoch,
    ];

    /// Returns the translated name.
    pub fn label(self) -> &'static str {
        match self {
            Self::Nothing => say!("One color"),
            Self::Class => say!("Colour by class"),
            Self::Worker => say!("Colour by worker"),
            Self::Batch => say!("Colour by batch"),
            Self::Rank => say!("Colour by rank"),
            Self::Epoch => say!("Colour by epoch"),
        }
    }

    /// Returns the reason why the coloring is not possible for this order. Returns `None` if it is possible.
    pub fn obstacle(self, answers: &OrderAnalysis) -> Option<&'static str> {
        match self {
            Self::Nothing | Self::Batch => None,
            Self::Class if answers.labels.is_some() => None,
            Self::Class => Some(say!("The classes of the samples are unknown")),
            Self::Worker if answers.order.workers.iter().any(Option::is_some) => None,
            Self::Worker => Some(say!("num_workers=0: the main process fetches every batch")),
            Self::Rank => several(&answers.by_rank, say!("Only one rank")),
            Self::Epoch => several(&answers.epochs, say!("Only one epoch so far")),
        }
    }

    /// Returns the coloring, or one color if it is not possible. The choice stays for the next order.
    #[must_use]
    pub fn effective(self, answers: &OrderAnalysis) -> Self {
        match self.obstacle(answers) {
            None => self,
            Some(_) => Self::Nothing,
        }
    }

    /// Returns the orders to overlay. `None` means the analyzed order only.
    pub fn overlay(self, answers: &OrderAnalysis) -> Option<&Overlay> {
        match self {
            Self::Nothing | Self::Class | Self::Worker | Self::Batch => None,
            Self::Rank => Some(&answers.by_rank),
            Self::Epoch => Some(&answers.epochs),
        }
    }

    /// Returns a function from position and index to the point's group. The function must be called with nondecreasing positions.
    pub fn groups(self, answers: &OrderAnalysis) -> impl FnMut(usize, u64) -> Option<u32> + '_ {
        let ends = &answers.order.ends;
        let mut batch = 0;
        move |position, index| {
            if matches!(self, Self::Worker | Self::Batch)
                && ends.get(batch).is_some_and(|end| *end <= position)
            {
                // Usually the next batch. After a jump, a binary search finds the batch.
                batch += 1;
                if ends.get(batch).is_some_and(|end| *end <= position) {
                    batch += ends[batch..].partition_point(|end| *end <= position);
                }
            }
            match self {
                Self::Nothing | Self::Rank | Self::Epoch => None,
                Self::Class => answers.labels.as_ref()?.get(index),
                Self::Worker => answers.order.workers.get(batch).copied()?.map(u32::from),
                Self::Batch => u32::try_from(batch).ok(),
            }
        }
    }
}

/// Returns the reason why there is nothing to overlay.
fn several(overlay: &Overlay, alone: &'static str) -> Option<&'static str> {
    match overlay.layers().len() {
        0 | 1 if overlay.is_cut() => Some(say!("Too many indices to overlay")),
        0 | 1 => Some(alone),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::analysis::{Question, answer};
    use super::super::order::Order;
    use super::*;
    use crate::background::Progress;

    fn answers() -> OrderAnalysis {
        let mut order = Order::default();
        for (batch, worker) in [[0u64, 1, 2], [3, 4, 5], [6, 7, 8]].iter().zip([0, 1, 0]) {
            order.push(batch, None, Some(worker));
        }
        let question = Question {
            recorded: Some(Arc::new(order)),
            len: Some(9),
            labels: (0..8).map(|index| (index, index as u32 % 2)).collect(),
            ..Question::default()
        };
        let answer = answer(&question, &Progress::default()).expect("wanted");
        answer.expect("an order that came")
    }

    #[test]
    fn each_point_has_the_group_that_it_belongs_to() {
        let answers = answers();
        let of = |by: Coloring, positions: &[usize]| -> Vec<Option<u32>> {
            let mut group = by.groups(&answers);
            positions.iter().map(|at| group(*at, *at as u64)).collect()
        };
        let all: Vec<usize> = (0..9).collect();
        assert_eq!(
            of(Coloring::Batch, &all),
            [0, 0, 0, 1, 1, 1, 2, 2, 2].map(Some)
        );
        assert_eq!(
            of(Coloring::Worker, &all),
            [0, 0, 0, 1, 1, 1, 0, 0, 0].map(Some)
        );
        assert_eq!(
            of(Coloring::Batch, &[0, 7, 8]),
            [0, 2, 2].map(Some),
            "after a jump"
        );
        let classes = of(Coloring::Class, &all);
        assert_eq!(classes[..4], [0, 1, 0, 1].map(Some));
        assert_eq!(classes[8], None, "it is not known");
        assert_eq!(of(Coloring::Nothing, &all), [None; 9]);
    }

    #[test]
    fn an_unavailable_coloring_has_a_reason() {
        let mut answers = answers();
        let alone = Coloring::ALL.map(|by| by.obstacle(&answers).is_some());
        assert_eq!(alone, [false, false, false, false, true, true]);
        assert_eq!(Coloring::Rank.effective(&answers), Coloring::Nothing);
        for number in [0, 1] {
            answers.epochs.take(number, &[0, 1]);
            answers.by_rank.take(number, &[number.into()]);
        }
        assert!(
            Coloring::ALL
                .iter()
                .all(|by| by.obstacle(&answers).is_none())
        );
        assert_eq!(Coloring::Rank.effective(&answers), Coloring::Rank);
        assert_eq!(Coloring::Epoch.overlay(&answers), Some(&answers.epochs));
        answers.labels = None;
        assert!(Coloring::Class.obstacle(&answers).is_some());
    }
}
