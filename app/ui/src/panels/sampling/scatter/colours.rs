//! The colours of the points, and the drop-down that chooses what they mean.

use egui::{Color32, ColorImage, Rect, Role, Ui, Vec2, WidgetInfo, vec2};
use loadscope_insight::sampling::analysis::Answers;
use loadscope_insight::sampling::colouring::Colouring;
use loadscope_insight::sampling::raster::Raster;
use loadscope_words::say;

use crate::theme::Palette;

/// A picture of as many points as there are at each pixel, in the colours of their groups.
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
                let colour = Palette::class(i64::from(group) - 1);
                palette
                    .canvas
                    .lerp_to_gamma(colour, 0.6 + 0.4 * raster.ink(count))
            }
        }
    };
    let pixels = (0..raster.counts.len()).map(shade);
    ColorImage::new([raster.width, raster.height], pixels.collect())
}

/// The drop-down above the upper left corner: what points are coloured by. What was chosen now.
pub fn choice(ui: &mut Ui, rect: Rect, answers: &Answers, now: Colouring) -> Option<Colouring> {
    const SIZE: Vec2 = vec2(150.0, 22.0);
    if rect.width() < SIZE.x + 120.0 {
        return None;
    }
    let place = Rect::from_min_size(rect.left_top() - vec2(0.0, SIZE.y + 5.0), SIZE);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place));
    let mut chosen = None;
    let combo = egui::ComboBox::from_id_salt("colouring")
        .width(SIZE.x)
        .selected_text(now.label());
    let shown = combo.show_ui(&mut child, |ui| {
        for by in Colouring::ALL {
            let why_not = by.obstacle(answers);
            ui.add_enabled_ui(why_not.is_none(), |ui| {
                let response = ui.selectable_label(by == now, by.label());
                if response.clicked() {
                    chosen = Some(by);
                    ui.close();
                }
                if let Some(why) = why_not {
                    response.on_disabled_hover_text(why);
                }
            });
        }
    });
    let tip = say!("What the points are coloured by");
    shown
        .response
        .widget_info(|| WidgetInfo::labeled(Role::ComboBox, true, tip));
    shown.response.on_hover_text(tip);
    chosen
}
