//! Texts in the window: all visible ones, cut ones and overlapping ones. Snapshots compare them, and an image of each state.

use eframe::egui::epaint::TextShape;
use eframe::egui::{Rect, Shape, Vec2};
use egui_kittest::{Harness, SnapshotOptions};

use crate::snapshots::{compare, is_variant};

/// A window with snapshots.
pub trait Picture {
    /// Compares texts and image with those in `tests/snapshots`. Variants have texts only. `UPDATE_SNAPSHOTS=true` writes both.
    fn picture(&mut self, name: impl Into<String>);

    /// Compares the texts with those in `tests/snapshots`, and the image with that of the options, also for a variant.
    fn picture_with(&mut self, name: impl Into<String>, options: &SnapshotOptions);
}

impl<State> Picture for Harness<'_, State> {
    fn picture(&mut self, name: impl Into<String>) {
        let name = name.into();
        match is_variant(&name) {
            true => compare(&name, &texts(self)),
            false => self.picture_with(name, &SnapshotOptions::new()),
        }
    }

    fn picture_with(&mut self, name: impl Into<String>, options: &SnapshotOptions) {
        let name = name.into();
        let texts = texts(self);
        self.snapshot_options(name.as_str(), options);
        compare(&name, &texts);
    }
}

/// Returns the visible rows of text, in painting order.
pub fn texts<State>(harness: &Harness<'_, State>) -> Vec<String> {
    texts_in(harness, harness.ctx.content_rect())
}

/// Returns the visible rows of text in a part of the window.
pub fn texts_in<State>(harness: &Harness<'_, State>, part: Rect) -> Vec<String> {
    let mut all = Vec::new();
    for clipped in &harness.output().shapes {
        collect(&clipped.shape, clipped.clip_rect.intersect(part), &mut all);
    }
    all
}

fn collect(shape: &Shape, seen: Rect, into: &mut Vec<String>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|s| collect(s, seen, into)),
        Shape::Text(text) => into.extend(rows(text, seen)),
        _ => {}
    }
}

fn rows(text: &TextShape, seen: Rect) -> impl Iterator<Item = String> {
    let rows = text.galley.rows.iter();
    rows.filter_map(move |row| {
        let written = row.row.text();
        let place = row.rect().translate(text.pos.to_vec2());
        // For rotated text, only the start position is reliable.
        let is_seen = seen.intersects(place) || text.angle != 0.0;
        (is_seen && !written.trim().is_empty()).then_some(written)
    })
}

/// Returns texts that are cut off at the left or right.
pub fn cut<State>(window: &Harness<'_, State>) -> Vec<String> {
    fn look(shape: &Shape, clip: Rect, into: &mut Vec<String>) {
        match shape {
            Shape::Vec(shapes) => shapes.iter().for_each(|s| look(s, clip, into)),
            Shape::Text(text) if text.angle == 0.0 => into.extend(of_text(text, clip)),
            _ => {}
        }
    }
    fn of_text(text: &TextShape, clip: Rect) -> Vec<String> {
        let rows = text.galley.rows.iter().filter(|row| {
            let place = row.rect().translate(text.pos.to_vec2());
            // Text that is scrolled out of view is not cut off.
            let is_seen = clip.contains(place.center()) && place.height() <= clip.height();
            let is_cut = place.left() < clip.left() - 1.0 || place.right() > clip.right() + 1.0;
            is_seen && is_cut && !row.row.text().trim().is_empty()
        });
        rows.map(|row| row.row.text()).collect()
    }
    let screen = window.ctx.content_rect();
    let mut all = Vec::new();
    for clipped in &window.output().shapes {
        look(
            &clipped.shape,
            clipped.clip_rect.intersect(screen),
            &mut all,
        );
    }
    all
}

/// Returns pairs of texts that overlap.
pub fn overlapping<State>(window: &Harness<'_, State>) -> Vec<(String, String)> {
    let screen = window.ctx.content_rect();
    let mut seen: Vec<(Rect, String)> = Vec::new();
    let mut pairs = Vec::new();
    for clipped in &window.output().shapes {
        let mut here = Vec::new();
        // Text under an opaque background is no longer visible.
        for ground in grounds(&clipped.shape) {
            let ground = ground.intersect(clipped.clip_rect);
            seen.retain(|(place, _)| !ground.intersects(*place));
        }
        places(
            &clipped.shape,
            clipped.clip_rect.intersect(screen),
            &mut here,
        );
        for (place, text) in here {
            // Glyphs leave a small margin around them.
            let inner = place.shrink2(Vec2::new(4.0, place.height() * 0.25));
            let over = |(other, said): &&(Rect, String)| inner.intersects(*other) && *said != text;
            if let Some((_, said)) = seen.iter().find(over) {
                pairs.push((said.clone(), text.clone()));
            }
            seen.push((inner, text));
        }
    }
    pairs
}

fn grounds(shape: &Shape) -> Vec<Rect> {
    match shape {
        Shape::Vec(shapes) => shapes.iter().flat_map(grounds).collect(),
        Shape::Rect(rect) if rect.fill.a() == 255 => vec![rect.rect],
        _ => Vec::new(),
    }
}

fn places(shape: &Shape, seen: Rect, into: &mut Vec<(Rect, String)>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|s| places(s, seen, into)),
        Shape::Text(text) if text.angle == 0.0 => {
            into.extend(text.galley.rows.iter().filter_map(|row| {
                // A row that continues after another text begins with blank space.
                let glyphs = &row.row.glyphs;
                let (first, last) = glyphs.first().zip(glyphs.last())?;
                let across = (row.pos.x + first.pos.x)..=(row.pos.x + last.max_x());
                let place = Rect::from_x_y_ranges(across, row.rect().y_range());
                let place = place.translate(text.pos.to_vec2()).intersect(seen);
                let written = row.row.text();
                (place.is_positive() && !written.trim().is_empty()).then_some((place, written))
            }));
        }
        _ => {}
    }
}

#[test]
fn a_changed_number_changes_the_stored_texts() {
    let of = |number: u32| {
        let mut harness = Harness::new_ui(move |ui| {
            ui.label(format!("{number} batches"));
            ui.scope(|ui| {
                ui.set_clip_rect(Rect::NOTHING);
                ui.label("out of sight");
            });
        });
        harness.run();
        texts(&harness)
    };
    assert_eq!(of(3), ["3 batches"]);
    assert_eq!(of(4), ["4 batches"]);
}
