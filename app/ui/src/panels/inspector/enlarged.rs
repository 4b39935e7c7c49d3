//! One image of a batch, as large as the panel, with pixel values and sample cost.

use egui::{Button, Image, RichText, Role, Sense, Ui, Vec2, WidgetInfo, vec2};
use loadscope_trace::{Field, Pictures, Run};
use loadscope_words::say;

use super::pictures::{FieldImages, PictureCache, enlarged};
use crate::kit::empty::remark;
use crate::kit::rows::fact;
use crate::theme::{mono, size, space};
use loadscope_insight::format;
use loadscope_model::command::{Action, Command};

/// Shows image `which` of a field, with buttons for its neighbors.
pub fn show(
    ui: &mut Ui,
    cache: &mut PictureCache,
    run: &Run,
    shown: &FieldImages<'_>,
    field: &Field,
    which: usize,
    commands: &mut Vec<Command>,
) {
    let (at, k) = shown.key;
    let data = shown.data;
    let before = which.checked_sub(1).map(|which| (k, which));
    let after = (which + 1 < data.count()).then_some((k, which + 1));
    buttons(ui, before, after, commands);
    if let Some((texture, part)) = cache.part(ui, shown, which) {
        let size = enlarged(data, ui.available_width(), ui.pixels_per_point());
        let image = Image::new((texture, size)).uv(part).sense(Sense::hover());
        let response =
            ui.add(image.alt_text(say!("enlarged {}", shown.captions.accessible_text(which))));
        let pixel = response.hover_pos().map(|at| at - response.rect.min);
        let value = pixel.and_then(|offset| under(data, which, offset, size));
        response.on_hover_ui_at_pointer(|ui| {
            if let Some(text) = value {
                ui.label(RichText::new(text).font(mono(size::SMALL)));
            }
        });
    }
    if let Some(name) = shown.captions.names.get(which) {
        fact(ui, say!("Label"), name.as_str());
    }
    if let Some(index) = shown.captions.indices.get(which) {
        fact(ui, say!("Index"), index.to_string());
    }
    let kept = (u64::from(data.width), u64::from(data.height));
    let original = original(field, data).unwrap_or(kept);
    fact(ui, say!("Size, pixels"), sides(original));
    if let Some(sample) = run.samples(at).nth(which) {
        fact(ui, say!("Fetch time"), sample.wall.to_string());
    }
    remarks(ui, data, original, kept);
    ui.add_space(2.0 * space::GAP);
}

/// Explains differences between the displayed, the recorded and the original image.
fn remarks(ui: &mut Ui, data: &Pictures, original: (u64, u64), kept: (u64, u64)) {
    smaller(ui, original, kept);
    let brightest = data.pixels.iter().max().copied().unwrap_or(255);
    if brightest < 128 {
        let times = 255.0 / f64::from(brightest.max(1));
        remark(
            ui,
            &say!("Shown {times:.0} times as bright. Saved unchanged."),
        );
    }
}

/// Shows buttons for the neighbors, for saving and for returning to all images. A neighbor is a field and a position in it.
pub(super) fn buttons(
    ui: &mut Ui,
    before: Option<(usize, usize)>,
    after: Option<(usize, usize)>,
    commands: &mut Vec<Command>,
) {
    let named = |ui: &mut Ui, text: &str, name: &str, enabled: bool| {
        let response = ui.add_enabled(enabled, Button::new(text));
        response.widget_info(|| WidgetInfo::labeled(Role::Button, enabled, name));
        response.on_hover_text(name).clicked()
    };
    ui.horizontal(|ui| {
        if named(ui, "‹", say!("Previous image"), before.is_some()) {
            commands.push(Command::Enlarge(before));
        }
        if named(ui, "›", say!("Next image"), after.is_some()) {
            commands.push(Command::Enlarge(after));
        }
        let info = Action::SavePicture.info();
        if named(ui, say!("Save…"), info.name, true) {
            commands.push(Action::SavePicture.into());
        }
        if named(ui, say!("Back"), say!("Back to all images"), true) {
            commands.push(Command::Enlarge(None));
        }
    });
}

/// Shows a note if the recorded image is smaller than the original.
pub(super) fn smaller(ui: &mut Ui, original: (u64, u64), kept: (u64, u64)) {
    if original != kept {
        let text = say!("Recorded at {} pixels", sides(kept));
        remark(ui, &text);
    }
}

/// Returns, for example, `48 × 36`.
pub(super) fn sides((width, height): (u64, u64)) -> String {
    format!("{} × {}", format::count(width), format::count(height))
}

/// Describes the pixel at `offset` from the upper left corner.
fn under(data: &Pictures, which: usize, offset: Vec2, size: Vec2) -> Option<String> {
    let place = offset / size * vec2(data.width as f32, data.height as f32);
    if offset.min_elem() < 0.0 {
        return None;
    }
    let (x, y) = (place.x as usize, place.y as usize);
    if x >= data.width as usize || y >= data.height as usize {
        return None;
    }
    let channels = usize::from(data.channels);
    let start = (y * data.width as usize + x) * channels;
    let values = data.get(which)?.get(start..start + channels)?;
    let values: Vec<String> = values.iter().map(u8::to_string).collect();
    Some(say!("x {x}, y {y} · {}", values.join(" ")))
}

/// Returns the original width and height from the shape of the tensor.
fn original(field: &Field, data: &Pictures) -> Option<(u64, u64)> {
    let sizes: Vec<u64> = field
        .shape
        .iter()
        .map(|s| u64::try_from(*s).unwrap_or(0))
        .collect();
    let channels = u64::from(data.channels);
    match *sizes.as_slice() {
        [_, height, width] => Some((width, height)),
        [_, c, height, width] if c == channels => Some((width, height)),
        [_, height, width, c] if c == channels => Some((width, height)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::FieldData;

    use super::*;

    #[test]
    fn a_hovered_pixel_shows_its_position_and_values() {
        let data = Pictures {
            width: 2,
            height: 2,
            channels: 3,
            pixels: (0..24).collect(),
        };
        let at = |x, y| under(&data, 1, vec2(x, y), vec2(200.0, 200.0));
        assert_eq!(at(150.0, 10.0).as_deref(), Some("x 1, y 0 · 15 16 17"));
        assert_eq!(at(0.0, 199.0).as_deref(), Some("x 0, y 1 · 18 19 20"));
        assert_eq!((at(200.0, 0.0), at(-1.0, 5.0)), (None, None));
        assert_eq!(under(&data, 9, vec2(1.0, 1.0), vec2(9.0, 9.0)), None);
    }

    #[test]
    fn the_original_image_size_is_read_from_the_shape() {
        let data = Pictures {
            width: 48,
            height: 36,
            channels: 3,
            pixels: Vec::new(),
        };
        let size = |shape: &[i64]| {
            let field = Field::new("", "", shape, FieldData::Omitted);
            original(&field, &data)
        };
        assert_eq!(size(&[8, 3, 168, 224]), Some((224, 168)));
        assert_eq!(size(&[8, 168, 224, 3]), Some((224, 168)));
        assert_eq!(size(&[8, 168, 224]), Some((224, 168)));
        assert_eq!(size(&[8]), None);
    }
}
