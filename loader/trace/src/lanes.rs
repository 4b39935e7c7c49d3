//! Rows of all lanes.

use std::collections::BTreeMap;

use crate::rows::Rows;
use crate::{Lane, Nanos};

/// Rows of all used lanes. Every event needs two lookups, so lanes are found by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    /// Rows in order of first use.
    rows: Vec<Rows>,
    /// Positions in `rows`, sorted by lane.
    order: BTreeMap<Lane, u32>,
    /// Positions in `rows` by [`number`], or [`Lanes::UNUSED`].
    numbered: Vec<u32>,
}

/// Returns the number of a lane, used as an index.
fn number(lane: Lane) -> usize {
    match lane {
        Lane::Trainer => 0,
        Lane::Reorder => 1,
        Lane::DataQueue => 2,
        Lane::Pin => 3,
        Lane::ResultQueue => 4,
        Lane::Main => 5,
        Lane::Worker(w) => 6 + 2 * usize::from(w),
        Lane::IndexQueue(w) => 7 + 2 * usize::from(w),
    }
}

impl Lanes {
    const UNUSED: u32 = u32::MAX;

    fn at(&self, lane: Lane) -> Option<usize> {
        let at = *self.numbered.get(number(lane))?;
        (at != Self::UNUSED).then_some(at as usize)
    }

    pub fn get(&self, lane: &Lane) -> Option<&Rows> {
        let rows = &self.rows[self.at(*lane)?];
        (!rows.is_empty()).then_some(rows)
    }

    pub fn get_mut(&mut self, lane: &Lane) -> Option<&mut Rows> {
        self.at(*lane).map(|at| &mut self.rows[at])
    }

    /// Returns the rows of a lane. Creates the lane if necessary.
    pub fn get_or_insert(&mut self, lane: Lane) -> &mut Rows {
        let at = match self.at(lane) {
            Some(at) => at,
            None => self.add(lane),
        };
        &mut self.rows[at]
    }

    #[cold]
    fn add(&mut self, lane: Lane) -> usize {
        let (number, at) = (number(lane), self.rows.len());
        if self.numbered.len() <= number {
            self.numbered.resize(number + 1, Self::UNUSED);
        }
        self.numbered[number] = at as u32;
        self.order.insert(lane, at as u32);
        self.rows.push(Rows::default());
        at
    }

    /// Returns all lanes, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&Lane, &Rows)> {
        let lanes = self.order.iter();
        let lanes = lanes.map(|(lane, at)| (lane, &self.rows[*at as usize]));
        lanes.filter(|(_, rows)| !rows.is_empty())
    }

    /// Hides spans that began after `at`. Spans that ended later become open.
    pub fn hide_after(&mut self, at: Nanos) {
        self.rows.iter_mut().for_each(|rows| rows.hide_after(at));
    }

    pub fn values(&self) -> impl Iterator<Item = &Rows> {
        self.rows.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_found_and_listed_in_order() {
        let all = [
            Lane::IndexQueue(u16::MAX),
            Lane::Worker(3),
            Lane::Main,
            Lane::IndexQueue(0),
            Lane::Trainer,
            Lane::Worker(u16::MAX),
            Lane::ResultQueue,
            Lane::Pin,
            Lane::Reorder,
            Lane::DataQueue,
            Lane::Worker(0),
        ];
        let mut lanes = Lanes::default();
        for (at, lane) in all.into_iter().enumerate() {
            assert!(lanes.get(&lane).is_none());
            for _ in 0..=at {
                lanes
                    .get_or_insert(lane)
                    .open(Nanos(0), 0, crate::Activity::Queued);
            }
            lanes.get_or_insert(lane);
        }
        for (at, lane) in all.iter().enumerate() {
            assert_eq!(lanes.get(lane).map(Rows::len), Some(at + 1), "{lane}");
            assert_eq!(lanes.get_mut(lane).map(|r| r.len()), Some(at + 1));
        }
        assert!(lanes.get(&Lane::Worker(1)).is_none());
        let mut sorted = all;
        sorted.sort_unstable();
        assert!(lanes.iter().map(|(lane, _)| *lane).eq(sorted));
    }
}
