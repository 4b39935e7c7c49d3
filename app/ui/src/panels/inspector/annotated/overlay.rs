//! Annotations drawn over an image.

use egui::{
    Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, StrokeKind, Ui, Vec2, pos2, vec2,
};
use loadscope_insight::content::{Boxed, Sample};
use loadscope_insight::format;
use loadscope_model::prefs::Annotations;
use loadscope_words::say;

use crate::theme::{Palette, sans, size};

/// Draws boxes, names and keypoints. Returns the description of the box under the pointer.
pub fn draw(
    ui: &Ui,
    rect: Rect,
    sample: &Sample,
    annotations: Annotations,
    pointer: Option<Pos2>,
) -> Option<String> {
    let painter = ui.painter_at(rect);
    let scale = vec2(
        rect.width() / sample.size.0 as f32,
        rect.height() / sample.size.1 as f32,
    );
    let at = |x: f64, y: f64| rect.min + vec2(x as f32, y as f32) * scale;
    let place = |boxed: &Boxed| {
        let [left, top, right, bottom] = boxed.corners;
        Rect::from_two_pos(at(left, top), at(right, bottom))
    };
    let under = pointer.and_then(|pointer| {
        let hit = sample.boxes.iter().enumerate();
        let hit = hit.filter(|(_, boxed)| place(boxed).expand(2.0).contains(pointer));
        // The smallest box is chosen. Otherwise, larger ones would cover it.
        hit.min_by(|(_, a), (_, b)| place(a).area().total_cmp(&place(b).area()))
    });
    let hovered = under.map(|(n, _)| n);
    if annotations.boxes {
        for (n, boxed) in sample.boxes.iter().enumerate() {
            let color = color_of(boxed, n);
            let wide = if hovered == Some(n) { 2.5 } else { 1.5 };
            let rect = place(boxed);
            // A colored line on a dark one is visible on any image.
            let dark = Stroke::new(wide + 1.5, Color32::from_black_alpha(110));
            painter.rect_stroke(rect, 0.0, dark, StrokeKind::Middle);
            painter.rect_stroke(rect, 0.0, Stroke::new(wide, color), StrokeKind::Middle);
        }
    }
    if annotations.keypoints {
        points(&painter, sample, at);
    }
    if annotations.boxes && annotations.names {
        let mut taken: Vec<Rect> = Vec::new();
        for (n, boxed) in sample.boxes.iter().enumerate() {
            if let Some(title) = boxed.title() {
                name(
                    &painter,
                    rect,
                    place(boxed),
                    &title,
                    color_of(boxed, n),
                    &mut taken,
                );
            }
        }
    }
    under.map(|(_, boxed)| describe(boxed))
}

/// Returns true if any box has a class name or number.
pub fn has_names(sample: &Sample) -> bool {
    sample.boxes.iter().any(|boxed| boxed.title().is_some())
}

/// Describes the annotations in words: `, with 2 boxes (cat, dog)`.
pub fn accessible_text(sample: &Sample) -> String {
    let mut parts = Vec::new();
    if !sample.boxes.is_empty() {
        let count = format::plural(sample.boxes.len() as u64, say!(n: "box"), say!(n: "boxes"));
        let names: Vec<String> = sample
            .boxes
            .iter()
            .filter_map(Boxed::title)
            .take(8)
            .collect();
        parts.push(match names.as_slice() {
            [] => count,
            names => say!("{count} ({})", names.join(say!(", "))),
        });
    }
    if !sample.masks.is_empty() {
        parts.push(format::plural(
            sample.masks.len() as u64,
            say!(n: "mask"),
            say!(n: "masks"),
        ));
    }
    if sample.classes.is_some() {
        parts.push(say!("a class mask").to_owned());
    }
    if !sample.keypoints.is_empty() {
        let objects = sample.keypoints.len() as u64;
        parts.push(say!(
            "keypoints of {}",
            format::plural(objects, say!(n: "object"), say!(n: "objects"))
        ));
    }
    if !sample.captions.is_empty() {
        parts.push(format::plural(
            sample.captions.len() as u64,
            say!(n: "caption"),
            say!(n: "captions"),
        ));
    }
    match parts.is_empty() {
        true => String::new(),
        false => say!(", with {}", parts.join(say!(", "))),
    }
}

/// Returns the color of the box's class, or of its position if it has no class.
fn color_of(boxed: &Boxed, n: usize) -> Color32 {
    Palette::class(boxed.label.unwrap_or(n as i64))
}

fn points(painter: &Painter, sample: &Sample, at: impl Fn(f64, f64) -> Pos2) {
    for (n, object) in sample.keypoints.iter().enumerate() {
        let color = Palette::class(n as i64);
        for point in object.iter().filter(|point| point.visibility > 0.0) {
            let centre = at(point.x, point.y);
            let ring = Stroke::new(1.0, Color32::from_black_alpha(160));
            if point.visibility >= 2.0 {
                painter.circle(centre, 2.5, color, ring);
            } else {
                // Hidden keypoints are hollow.
                painter.circle_stroke(centre, 2.5, Stroke::new(1.2, color));
            }
        }
    }
}

/// Draws the class name at a corner of its box that no other name covers.
fn name(
    painter: &Painter,
    picture: Rect,
    boxed: Rect,
    title: &str,
    color: Color32,
    taken: &mut Vec<Rect>,
) {
    let font: FontId = sans(size::SMALL);
    let galley = painter.layout_no_wrap(title.to_owned(), font, Color32::BLACK);
    let room = galley.size() + vec2(4.0, 0.0);
    // A small image has room for only a few names.
    if room.x > picture.width() || taken.len() > (picture.height() / room.y) as usize {
        return;
    }
    let above = boxed.left_top() - vec2(0.0, room.y);
    let inside = boxed.left_top();
    let free = [above, inside, boxed.left_bottom() - vec2(0.0, room.y)]
        .into_iter()
        .map(|corner| {
            let corner = corner.clamp(picture.min, (picture.max - room).max(picture.min));
            Rect::from_min_size(pos2(corner.x.round(), corner.y.round()), room)
        })
        .find(|place| taken.iter().all(|other| !other.intersects(*place)));
    let Some(place) = free else { return };
    painter.rect_filled(place, 2.0, color);
    let middle = place.left_center() + Vec2::new(2.0, 0.0);
    let corner = Align2::LEFT_CENTER.anchor_size(middle, galley.size()).min;
    painter.galley(corner, galley, Color32::BLACK);
    taken.push(place);
}

/// Returns, for example, `dog · 48, 240 – 195, 371 · 147 × 131`.
fn describe(boxed: &Boxed) -> String {
    let [left, top, right, bottom] = boxed.corners;
    let place = say!(
        "{left:.0}, {top:.0} – {right:.0}, {bottom:.0} · {:.0} × {:.0}",
        right - left,
        bottom - top
    );
    match boxed.title() {
        Some(title) => format!("{title} · {place}"),
        None => place,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_labels_describe_boxes_and_masks() {
        let boxed = |name: &str| Boxed {
            name: Some(name.to_owned()),
            corners: [48.0, 240.0, 195.0, 371.0],
            ..Boxed::default()
        };
        let sample = Sample {
            boxes: vec![boxed("dog"), boxed("cat")],
            masks: vec![(0, 0)],
            ..Sample::default()
        };
        assert_eq!(
            accessible_text(&sample),
            ", with 2 boxes (dog, cat), 1 mask"
        );
        assert_eq!(accessible_text(&Sample::default()), "");
        assert_eq!(
            describe(&sample.boxes[0]),
            "dog · 48, 240 – 195, 371 · 147 × 131"
        );
    }
}
