//! Input that spans several frames: held keys and dragged widgets.

use egui::Id;

/// Movement of the view while W, S, A or D is held.
#[derive(Default)]
pub(crate) struct HeldKeys {
    /// Start time, s.
    since: Option<f64>,
}

impl HeldKeys {
    /// Maximum duration of a tap, s.
    const TAP: f64 = 0.2;
    /// Duration of the acceleration to full speed, s.
    const RAMP: f64 = 1.5;
    /// Initial and final speed: zoom in doublings per second, pan in view widths per second.
    pub const ZOOM: (f64, f64) = (1.5, 6.0);
    pub const PAN: (f64, f64) = (0.4, 2.5);

    /// Returns the distance for a frame of `elapsed` seconds at time `now`, between the two speeds. 0 during a possible tap.
    pub fn distance(&mut self, now: f64, elapsed: f64, (slow, fast): (f64, f64)) -> f64 {
        let held = now - *self.since.get_or_insert(now);
        if held < Self::TAP {
            return 0.0;
        }
        let ramp = ((held - Self::TAP) / Self::RAMP).min(1.0);
        (slow + (fast - slow) * ramp * ramp) * elapsed
    }
}

/// Grouping of edits made during one drag or focus into one undo step.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct InputFocus {
    pub pressed: bool,
    pub focused: Option<Id>,
}
