//! Colors of the points, and the drop-down that selects their meaning.

use egui::{Color32, ColorImage, Rect, Role, Sense, Ui, Vec2, WidgetInfo, pos2, vec2};
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::coloring::Coloring;
use loadscope_insight::sampling::raster::Raster;
use loadscope_words::say;

use crate::kit::dropdown;
use crate::theme::{Palette, sans, size};

/// Draws the number of points per pixel, in the colors of their groups.
pub fn picture(raster: &Raster, palette: &Palette) -> ColorImage {
    let shades: Vec<Color32> = (0..=raster.max)
        .map(|n| match raster.ink(n) {
            0.0 => Color32::TRANSPARENT,
            ink => palette.canvas.lerp_to_gamma(palette.text, ink),
        })
        .collect();
    let shade = |at: usize| {
        let count = raster.counts[at];
        match raster.groups.get(at).copied().unwrap_or_default() {
            0 => shades[usize::from(count)],
            group => {
                let color = group_color(palette, u32::from(group) - 1);
                palette
                    .canvas
                    .lerp_to_gamma(color, 0.6 + 0.4 * raster.ink(count))
            }
        }
    };
    let pixels = (0..raster.counts.len()).map(shade);
    ColorImage::new([raster.width, raster.height], pixels.collect())
}

/// Returns the color of a group. It is darker in the light theme.
pub fn group_color(palette: &Palette, group: u32) -> Color32 {
    let color = Palette::class(i64::from(group));
    match palette.dark {
        true => color,
        false => color.lerp_to_gamma(Color32::BLACK, 0.35),
    }
}

/// Shows the colors of overlaid ranks or epochs next to the drop-down, as many as fit. `beside` is the width of the buttons on the right,
/// points.
pub fn legend(ui: &Ui, rect: Rect, answers: &OrderAnalysis, by: Coloring, beside: f32) {
    const SQUARE: f32 = 9.0;
    const GAP: f32 = 12.0;
    let Some(overlay) = by.overlay(answers) else {
        return;
    };
    let palette = Palette::of(ui);
    let painter = ui.painter();
    let y = rect.top() - 5.0 - CHOICE.y / 2.0;
    let mut x = rect.left() + CHOICE.x + GAP;
    let end = rect.right() - beside - GAP;
    let name = |number: u32| match by {
        Coloring::Rank => say!("rank {}", number),
        _ => say!("epoch {}", number),
    };
    let lay = |text: String| painter.layout_no_wrap(text, sans(size::SMALL), palette.text);
    let widths = overlay
        .layers()
        .map(|layer| lay(name(layer.number)).size().x + SQUARE + 17.0);
    let is_short = x + widths.sum::<f32>() > end;
    for (k, layer) in overlay.layers().enumerate() {
        let name = name(layer.number);
        // The drop-down already says what the numbers mean.
        let text = lay(if is_short {
            layer.number.to_string()
        } else {
            name.clone()
        });
        if x + SQUARE + 5.0 + text.size().x > end {
            return;
        }
        let square = Rect::from_center_size(pos2(x + SQUARE / 2.0, y), Vec2::splat(SQUARE));
        painter.rect_filled(square, 2.0, group_color(palette, k as u32));
        let width = text.size().x;
        let all = Rect::from_min_size(square.min, vec2(SQUARE + 5.0 + width, SQUARE));
        let response = ui.interact(all, ui.scope_id().with(("legend", k)), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &name));
        x += SQUARE + 5.0;
        painter.galley(pos2(x, y - text.size().y / 2.0), text, palette.text);
        x += width + GAP;
    }
}

/// Size of the drop-down, points.
const CHOICE: Vec2 = vec2(150.0, 22.0);

/// Shows the drop-down for the coloring above the upper left corner. Returns a new choice.
pub fn choice(ui: &mut Ui, rect: Rect, answers: &OrderAnalysis, now: Coloring) -> Option<Coloring> {
    if rect.width() < CHOICE.x + 120.0 {
        return None;
    }
    let place = Rect::from_min_size(rect.left_top() - vec2(0.0, CHOICE.y + 5.0), CHOICE);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place));
    let mut chosen = None;
    let combo = egui::ComboBox::from_id_salt("colouring")
        .width(CHOICE.x)
        .selected_text(now.label());
    let shown = dropdown::show(&mut child, combo, |ui| {
        for by in Coloring::ALL {
            let why_not = by.obstacle(answers);
            ui.add_enabled_ui(why_not.is_none(), |ui| {
                let response = dropdown::item(ui, by == now, by.label());
                if response.clicked() {
                    chosen = Some(by);
                }
                if let Some(why) = why_not {
                    response.on_disabled_hover_text(why);
                }
            });
        }
    });
    let tip = say!("Colour of the points");
    shown.widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, tip));
    shown.on_hover_text(tip);
    chosen
}
