//! Snapshots of the window: the texts of each state, and an image of each state in one theme and size.

use std::env;
use std::fs;
use std::path::PathBuf;

use eframe::egui::epaint::TextShape;
use eframe::egui::{Rect, Shape, Vec2};
use egui_kittest::{Harness, SnapshotOptions};

use crate::fixture::repository;

/// Words of names of variants: another theme, size or language of a state that has an image.
const VARIANTS: [&str; 5] = ["light", "small", "760", "1920", "zh"];
/// Words of names of the image of a state.
const USUAL: [&str; 2] = ["dark", "1100"];

/// Images, and the snapshots that draw the same parts with other contents, or in another size or language. Those have texts only.
const SHOWN_BY: [(&str, &str); 33] = [
    ("debug_light", "debug_large"),
    ("diagnose", "chinese_diagnose_dark"),
    ("diagnose_proof", "diagnose_proof-middle"),
    (
        "exchange_spdl_dark",
        "exchange_lotus exchange_profiler_dark",
    ),
    ("help", "chinese_help"),
    ("loaders-ranks-timeline", "loaders-timeline"),
    ("options_dark-1100", "chinese_options"),
    (
        "pipeline_64",
        "pipeline_16 pipeline_16-wide pipeline_64-wide pipeline_digits",
    ),
    ("pipeline_boxes", "pipeline_boxes-off"),
    ("pipeline_gone", "pipeline_gone-16"),
    (
        "pipeline_held",
        "pipeline_any-order pipeline_end pipeline_held-wide pipeline_huge pipeline_one pipeline_start pipeline_tiny",
    ),
    (
        "pipeline_inspector-batch",
        "pipeline_inspector-long pipeline_inspector-missing pipeline_inspector-nothing pipeline_inspector-range",
    ),
    ("pipeline_inspector-enlarged", "pipeline_inspector-picture"),
    (
        "pipeline_inspector-queue",
        "pipeline_inspector-sampler pipeline_inspector-trainer",
    ),
    ("pipeline_pinned", "pipeline_tiny-pinned"),
    (
        "pipeline_selected",
        "pipeline_lane pipeline_sampler-selected",
    ),
    (
        "pipeline_table",
        "pipeline_table-narrow pipeline_table-scrolled pipeline_table-usual pipeline_table-waited",
    ),
    (
        "pipeline_variables",
        "pipeline_variables-16 pipeline_variables-alone pipeline_variables-narrow",
    ),
    ("plots_dark", "plots_empty plots_narrow plots_zoomed"),
    ("presentation_dark", "presentation_large"),
    ("quiz_choice", "chinese_quiz"),
    ("samples_dark", "samples_huge samples_usual"),
    ("sampling_by_epoch-dark", "sampling_by_rank-dark"),
    (
        "sampling_iterable",
        "sampling_empty sampling_iterable-recorded sampling_refused",
    ),
    (
        "sampling_shuffled",
        "sampling_sorted sampling_stopped-early sampling_weighted",
    ),
    (
        "states_messages-failed",
        "states_messages-empty travel_messages_dark",
    ),
    ("states_table-failed", "states_table-empty"),
    ("timeline_large", "timeline_deep"),
    ("timeline_run", "timeline_control"),
    ("timeline_samples", "timeline_inside"),
    (
        "timeline_selected",
        "timeline_lane timeline_narrow timeline_wide",
    ),
    ("travel_search-list_dark", "travel_search-empty_dark"),
    ("welcome_dark", "chinese_welcome"),
];

/// A window with snapshots.
pub trait Picture {
    /// Compares texts and image with those in `tests/snapshots`. Variants have texts only. `UPDATE_SNAPSHOTS=true` writes both.
    fn picture(&mut self, name: impl Into<String>);

    /// Compares the texts with those in `tests/snapshots`, and the image with that of the options, also for a variant.
    fn picture_with(&mut self, name: impl Into<String>, options: &SnapshotOptions);
}

/// Returns true for the snapshot of a variant, as in `options_light-760`.
fn is_variant(name: &str) -> bool {
    name.split(['-', '_']).any(|word| VARIANTS.contains(&word)) || image_of(name).is_some()
}

/// Returns the image that shows the parts of a snapshot in [`SHOWN_BY`].
fn image_of(name: &str) -> Option<&'static str> {
    let found = SHOWN_BY
        .iter()
        .find(|(_, names)| names.split(' ').any(|n| n == name));
    found.map(|(image, _)| *image)
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

fn file(name: &str) -> PathBuf {
    repository("tests/snapshots").join(format!("{name}.txt"))
}

/// Returns true if the tests should write their snapshots.
fn writes() -> bool {
    let told = env::var("UPDATE_SNAPSHOTS").unwrap_or_default();
    matches!(told.as_str(), "true" | "1" | "yes" | "on" | "force")
}

fn compare(name: &str, texts: &[String]) {
    let path = file(name);
    let now = texts.join("\n") + "\n";
    let before = fs::read_to_string(&path).unwrap_or_default();
    if now == before {
        return;
    }
    if writes() {
        fs::write(&path, now).expect("the folder of the pictures is writable");
        return;
    }
    let differ = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    let (a, b) = differ.unwrap_or_default();
    panic!(
        "the texts of the picture {name} are others: {a:?} was there, {b:?} is now, of {} lines and {} before. \
         If that is meant, draw it anew with UPDATE_SNAPSHOTS=true",
        now.lines().count(),
        before.lines().count(),
    );
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

/// Returns the name of the state that a snapshot shows, without theme, size and language.
fn state(name: &str) -> String {
    let words = name.split(['-', '_']);
    let of_state = words.filter(|word| !VARIANTS.contains(word) && !USUAL.contains(word));
    of_state.collect::<Vec<_>>().join("_")
}

#[test]
fn every_image_has_texts_and_every_state_has_an_image() {
    if writes() {
        // Not all of them exist yet.
        return;
    }
    let names = |folder: &str, end: &str| {
        let entries = fs::read_dir(repository(folder)).expect("the folder is there");
        let names = entries.filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let name = name.strip_suffix(end)?;
            // Failed tests leave `name.new` and `name.diff`.
            (!name.contains('.')).then(|| name.to_owned())
        });
        names.collect::<Vec<String>>()
    };
    let mut pictures = names("tests/snapshots", ".png");
    pictures.extend(names("screenshots", ".png"));
    let texts = names("tests/snapshots", ".txt");
    let shown = SHOWN_BY.iter().flat_map(|(_, names)| names.split(' '));
    let images = pictures.iter().map(String::as_str);
    let states: Vec<String> = images.chain(shown.clone()).map(state).collect();
    for name in shown {
        let is_needed = texts.iter().any(|t| t == name) && !pictures.iter().any(|p| p == name);
        assert!(is_needed, "{name} has an image or no texts");
    }
    for name in &texts {
        let has_image = match image_of(name) {
            Some(image) => pictures.iter().any(|picture| picture == image),
            None if is_variant(name) => states.contains(&state(name)),
            None => pictures.contains(name),
        };
        assert!(has_image, "{name} has no image");
    }
    for name in &pictures {
        assert!(texts.contains(name), "{name} has no texts");
    }
}
