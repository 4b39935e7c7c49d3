//! Which stations there are, and how much they must hold.

use egui::{Pos2, Rect, Vec2, pos2};

/// Which stations there are, and how much they must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Workers; 0: the main thread fetches.
    pub workers: usize,
    /// Places in an index queue.
    pub prefetch: usize,
    /// There is a result queue.
    pub results: bool,
    /// There is a pin thread.
    pub pin: bool,
    /// There is a queue behind the pin thread.
    pub pinned: bool,
    /// Places in the reorder buffer; 0: there is none.
    pub window: usize,
    /// Batches are yielded in the order of the sampler, for which those that came early are held.
    pub in_order: bool,
    /// Digits of the highest batch index.
    pub digits: usize,
}

impl Plan {
    /// Places that the reorder buffer shows: without an order to keep there is nothing to wait for in it.
    pub fn slots(&self) -> usize {
        if self.in_order { self.window } else { 0 }
    }

    /// True if one process loads and trains.
    pub fn is_one_process(&self) -> bool {
        self.workers == 0
    }

    /// Width of a chip that holds any batch index.
    pub fn chip_width(&self) -> f32 {
        (self.digits as f32 * 6.7 + 10.0).max(28.0)
    }
}

/// A rectangle of `size` around `centre`, on whole points.
pub fn around(centre: Pos2, size: Vec2) -> Rect {
    let min = centre - size * 0.5;
    Rect::from_min_size(pos2(min.x.round(), min.y.round()), size)
}
