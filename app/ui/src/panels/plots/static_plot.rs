//! Common parts of the plots.

use egui::{Response, Role, Vec2b, WidgetInfo, vec2};
use egui_plot::{AxisHints, GridMark, Plot};
use loadscope_words::say;

use crate::theme::{Palette, mono, size};

/// Width of the axis labels at the left of a plot, points.
pub(super) const AXIS: f32 = 52.0;

/// Creates a plot that only the timeline moves, not the pointer.
pub(super) fn static_plot<'a>(
    id: (&'static str, &'static str),
    height: f32,
    palette: &Palette,
) -> Plot<'a> {
    Plot::new(id)
        .height(height)
        .min_size(vec2(100.0, height))
        .allow_zoom(Vec2b::FALSE)
        .allow_drag(Vec2b::FALSE)
        .allow_scroll(Vec2b::FALSE)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(Vec2b::FALSE)
        .set_margin_fraction(vec2(0.0, 0.0))
        .show_background(false)
        .grid_color(palette.line)
        .cursor_color(palette.weak)
}

pub(super) fn axis_hints<'a>(hints: AxisHints<'a>, palette: &Palette) -> AxisHints<'a> {
    hints
        .tick_label_font(mono(size::SMALL))
        .tick_label_color(palette.weak)
}

/// Sets the accessible name of a plot.
pub(super) fn set_accessible_name(response: &Response, title: &str, about: &str) {
    let text = say!("{title}: {about}");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &text));
}

/// Returns two or three round values from 0 to `top`. A small plot has no room for more.
pub(super) fn axis_marks(top: f64) -> Vec<GridMark> {
    let power = 10f64.powf((top / 2.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|m| m * power);
    let step = steps.into_iter().find(|s| top / s < 3.0).unwrap_or(top);
    let values = (0..=(top / step) as usize).map(|k| k as f64 * step);
    let mark = |value| GridMark {
        value,
        // With the coarsest step, egui labels every mark.
        step_size: top,
    };
    values.map(mark).collect()
}
