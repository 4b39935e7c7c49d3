//! Boxes and capacities that the layout of the pipeline depends on.

use egui::{Pos2, Rect, Vec2, pos2};

/// Stage boxes of the pipeline and their capacities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of workers. 0: the main process fetches.
    pub workers: usize,
    /// Places in an index queue.
    pub prefetch: usize,
    /// True if there is a result queue.
    pub results: bool,
    /// True if there is a pin thread.
    pub pin: bool,
    /// True if there is a queue after the pin thread.
    pub pinned: bool,
    /// Places in the reorder buffer. 0: there is none.
    pub window: usize,
    /// True if batches are yielded in sampler order, so that early ones are held.
    pub in_order: bool,
    /// Number of digits of the highest batch index.
    pub digits: usize,
}

impl Plan {
    /// Returns the number of visible places in the reorder buffer. With `in_order=False`, nothing waits in it.
    pub fn slots(&self) -> usize {
        if self.in_order { self.window } else { 0 }
    }

    /// Returns true if one process loads and trains.
    pub fn is_one_process(&self) -> bool {
        self.workers == 0
    }

    /// Returns the width of a chip that can contain any batch index, points.
    pub fn chip_width(&self) -> f32 {
        (self.digits as f32 * 6.7 + 10.0).max(28.0)
    }
}

/// Returns a rectangle of `size` around `centre`, aligned to whole points.
pub fn centred_rect(centre: Pos2, size: Vec2) -> Rect {
    let min = centre - size * 0.5;
    Rect::from_min_size(pos2(min.x.round(), min.y.round()), size)
}
