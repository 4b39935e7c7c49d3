//! Sheets (windows in the middle of the screen, above all others) and the background and focus of overlays.

use egui::{Align2, Frame, Id, Margin, Stroke, Ui, Window};

use crate::theme::Palette;

/// Free space to the left and right of a sheet together, points.
const SIDE_MARGINS: f32 = 48.0;

/// Shows a sheet with this title. Returns false if the user closes it.
pub fn sheet(ui: &Ui, title: &str, contents: impl FnOnce(&mut Ui)) -> bool {
    let mut is_open = true;
    Window::new(title)
        .open(&mut is_open)
        .collapsible(false)
        .resizable(false)
        .anchor(Align2::CENTER_CENTER, [0.0, 0.0])
        .show(ui.ctx(), contents);
    is_open
}

/// Returns the maximum width of the contents of a sheet, points.
pub fn max_width(ui: &Ui) -> f32 {
    ui.ctx().content_rect().width() - SIDE_MARGINS
}

/// Returns true in the pass in which the widget `id` appears. A widget that was absent in the previous pass appears again.
pub fn just_appeared(ui: &Ui, id: Id) -> bool {
    let pass = ui.ctx().cumulative_pass_nr();
    let key = id.with("last shown");
    let last = ui.data_mut(|d| {
        let last = d.get_temp::<u64>(key);
        d.insert_temp(key, pass);
        last
    });
    last.is_none_or(|last| last + 1 < pass)
}

/// Returns the background of an overlay.
pub fn overlay_frame(palette: &Palette) -> Frame {
    Frame::NONE
        .fill(palette.panel)
        .stroke(Stroke::new(1.0, palette.weak))
        .corner_radius(4)
        .inner_margin(Margin::symmetric(12, 8))
        .outer_margin(Margin::symmetric(0, 2))
}
