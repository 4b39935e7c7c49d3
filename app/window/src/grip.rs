//! What the hand holds on to.

use egui::Id;

/// The view under way while W, S, A or D is held.
#[derive(Default)]
pub(crate) struct Drive {
    /// Since when, s.
    since: Option<f64>,
}

impl Drive {
    /// A tap ends before this, s.
    const TAP: f64 = 0.2;
    /// After so long it goes as fast as it will, s.
    const RAMP: f64 = 1.5;
    /// Doublings of the zoom, and widths of the screen, a second: at first and at last.
    pub const ZOOM: (f64, f64) = (1.5, 6.0);
    pub const PAN: (f64, f64) = (0.4, 2.5);

    /// How far to go in a frame of `elapsed` at `now`, between the slowest and the fastest pace. Nothing while it may be a tap.
    pub fn distance(&mut self, now: f64, elapsed: f64, (slow, fast): (f64, f64)) -> f64 {
        let held = now - *self.since.get_or_insert(now);
        if held < Self::TAP {
            return 0.0;
        }
        let ramp = ((held - Self::TAP) / Self::RAMP).min(1.0);
        (slow + (fast - slow) * ramp * ramp) * elapsed
    }
}

/// Groups edits made during one drag or focus into one undo step.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Grip {
    pub pressed: bool,
    pub focused: Option<Id>,
}
