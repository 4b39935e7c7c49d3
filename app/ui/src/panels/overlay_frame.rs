//! Background of overlays.

use egui::{Frame, Margin, Stroke};

use crate::theme::Palette;

/// Returns the background of an overlay.
pub fn overlay_frame(palette: &Palette) -> Frame {
    Frame::NONE
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, palette.weak))
        .corner_radius(4)
        .inner_margin(Margin::symmetric(12, 8))
        .outer_margin(Margin::symmetric(0, 2))
}
