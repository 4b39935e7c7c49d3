//! Images with their annotations: boxes, masks, keypoints, class names and captions.

mod overlay;
mod texture;

use egui::{Label, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, vec2};
use loadscope_insight::content::{Annotated, Sample};
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::prefs::Annotations;
use loadscope_trace::{BatchContent, FieldData};
use loadscope_words::say;

use super::enlarged;
use super::pictures::Captions;
use crate::kit::rows::fact;
use crate::kit::titles::section_with;
use crate::theme::{Palette, mono, size, space};
use texture::Textures;

/// Maximum number of images.
const MAX_IMAGES: usize = 64;
/// Minimum width of an image in the grid, points.
const NARROWEST: f32 = 116.0;
/// Maximum height of an image in the grid, as a multiple of its width.
const HIGHEST: f32 = 1.5;

/// Textures of the displayed batch.
#[derive(Default)]
pub struct AnnotatedCache {
    textures: Textures,
}

impl std::fmt::Debug for AnnotatedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnnotatedCache").finish_non_exhaustive()
    }
}

/// Form of an image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// In the grid.
    Small,
    /// In the grid, and also enlarged above it.
    Marked,
    /// As large as the panel.
    Enlarged,
}

/// Images to show, with options.
pub struct AnnotatedImages<'a> {
    /// Row of the batch.
    pub at: usize,
    /// Content of the batch.
    pub content: &'a BatchContent,
    /// Annotated images.
    pub annotated: &'a Annotated,
    /// Labels and indices of the samples.
    pub captions: &'a Captions,
    /// Annotations to draw.
    pub annotations: Annotations,
    /// Field and position of the enlarged image.
    pub enlarged: Option<(usize, usize)>,
}

impl AnnotatedCache {
    /// Shows all images. A click enlarges one.
    pub fn show(&mut self, ui: &mut Ui, shown: &AnnotatedImages<'_>, commands: &mut Vec<Command>) {
        section_with(ui, say!("Images"), |ui| toggles(ui, shown, commands));
        self.textures.keep(shown.at, shown.content);
        let samples = &shown.annotated.samples;
        let large = samples
            .iter()
            .position(|s| Some(s.picture) == shown.enlarged);
        if let Some(k) = large {
            self.enlarged(ui, shown, k, commands);
        }
        let wide = ui.available_width();
        let columns = ((wide + space::GAP) / (NARROWEST + space::GAP)) as usize;
        let columns = columns.clamp(1, samples.len().max(1));
        let width = (wide - (columns - 1) as f32 * space::GAP) / columns as f32;
        for (line, row) in samples
            .chunks(columns)
            .enumerate()
            .take(MAX_IMAGES.div_ceil(columns))
        {
            ui.horizontal_top(|ui| {
                ui.spacing_mut().item_spacing = Vec2::splat(space::GAP);
                for (n, sample) in row.iter().enumerate() {
                    let k = line * columns + n;
                    let size = fitting(sample, vec2(width, width * HIGHEST));
                    ui.vertical(|ui| {
                        ui.set_width(width);
                        let is_enlarged = large == Some(k);
                        let shape = match is_enlarged {
                            true => Shape::Marked,
                            false => Shape::Small,
                        };
                        if self.one(ui, shown, (k, shape), size) {
                            let this = (!is_enlarged).then_some(sample.picture);
                            commands.push(Command::Enlarge(this));
                        }
                        below(ui, shown, k, 1);
                    });
                }
            });
            ui.add_space(space::GAP);
        }
    }

    /// Shows one image as large as the panel, with its details.
    fn enlarged(
        &mut self,
        ui: &mut Ui,
        shown: &AnnotatedImages<'_>,
        k: usize,
        commands: &mut Vec<Command>,
    ) {
        let samples = &shown.annotated.samples;
        let Some(sample) = samples.get(k) else { return };
        let place = |k: Option<usize>| k.and_then(|k| samples.get(k)).map(|s| s.picture);
        enlarged::buttons(ui, place(k.checked_sub(1)), place(Some(k + 1)), commands);
        let room = fitting(
            sample,
            vec2(ui.available_width(), 2.0 * ui.available_width()),
        );
        if self.one(ui, shown, (k, Shape::Enlarged), room) {
            commands.push(Command::Enlarge(None));
        }
        below(ui, shown, k, usize::MAX);
        let size = (sample.size.0 as u64, sample.size.1 as u64);
        fact(ui, say!("Size, pixels"), enlarged::sides(size));
        if !sample.boxes.is_empty() {
            fact(ui, say!("Boxes"), format::count(sample.boxes.len() as u64));
        }
        let field = shown.content.fields.get(sample.picture.0);
        if let Some(FieldData::Pictures(data)) = field.map(|field| &field.data) {
            enlarged::smaller(ui, size, (data.width.into(), data.height.into()));
        }
        ui.add_space(2.0 * space::GAP);
    }

    /// Draws an image with its annotations. Returns true if it was clicked.
    fn one(
        &mut self,
        ui: &mut Ui,
        shown: &AnnotatedImages<'_>,
        (k, shape): (usize, Shape),
        room: Vec2,
    ) -> bool {
        let Some(sample) = shown.annotated.samples.get(k) else {
            return false;
        };
        let (rect, response) = ui.allocate_exact_size(room, Sense::click());
        let marked = shape == Shape::Marked;
        let spoken = match shape {
            Shape::Enlarged => say!("enlarged "),
            Shape::Small | Shape::Marked => "",
        };
        let name = shown.captions.accessible_text(k);
        let spoken = format!("{spoken}{name}{}", overlay::accessible_text(sample));
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, marked, &spoken));
        if !ui.is_rect_visible(rect) {
            return response.clicked();
        }
        let full = Rect::from_min_max(egui::Pos2::ZERO, egui::pos2(1.0, 1.0));
        let white = egui::Color32::WHITE;
        if let Some(texture) = self.textures.picture(ui, shown.content, sample) {
            ui.painter().image(texture, rect, full, white);
        }
        if shown.annotations.masks
            && let Some(texture) = self.textures.masks(ui, shown.content, sample)
        {
            ui.painter().image(texture, rect, full, white);
        }
        let pointer = response.hover_pos();
        let hovered = overlay::draw(ui, rect, sample, shown.annotations, pointer);
        let palette = Palette::of(ui.ctx());
        let outline = match (marked, response.hovered() || response.has_focus()) {
            (true, _) => Some(Stroke::new(2.0, palette.strong)),
            (false, true) => Some(Stroke::new(1.0, palette.text)),
            (false, false) => None,
        };
        if let Some(outline) = outline {
            let painter = ui.painter();
            painter.rect_stroke(rect, 0.0, outline, StrokeKind::Outside);
        }
        let clicked = response.clicked();
        if let Some(text) = hovered {
            response.on_hover_text_at_pointer(RichText::new(text).font(mono(size::SMALL)));
        }
        clicked
    }
}

/// Returns the largest size that fits `room` with the image's aspect ratio.
fn fitting(sample: &Sample, room: Vec2) -> Vec2 {
    let size = vec2(sample.size.0 as f32, sample.size.1 as f32);
    let factor = (room.x / size.x).min(room.y / size.y);
    (size * factor).max(Vec2::splat(8.0))
}

/// Shows the index, the label and at most `most` captions.
fn below(ui: &mut Ui, shown: &AnnotatedImages<'_>, k: usize, most: usize) {
    let palette = Palette::of(ui.ctx());
    let Some(sample) = shown.annotated.samples.get(k) else {
        return;
    };
    ui.spacing_mut().item_spacing.y = 1.0;
    let index = shown.captions.indices.get(k);
    let name = shown.captions.names.get(k);
    let words = match (index, name) {
        (Some(index), Some(name)) => Some(format!("{index} · {name}")),
        (Some(index), None) => Some(index.to_string()),
        (None, name) => name.cloned(),
    };
    if let Some(words) = words {
        let text = RichText::new(words).font(mono(size::SMALL));
        ui.add(Label::new(text.color(palette.weak)).truncate());
    }
    let left = sample.captions.len().saturating_sub(most);
    for caption in sample.captions.iter().take(most) {
        let text = RichText::new(caption).size(size::SMALL).color(palette.text);
        ui.add(Label::new(text).wrap());
    }
    if left > 0 {
        let text = say!(
            "and {}",
            format::plural(
                left as u64,
                say!(n: "more caption"),
                say!(n: "more captions")
            )
        );
        ui.label(RichText::new(text).size(size::SMALL).color(palette.weak));
    }
}

/// Shows a toggle for each available kind of annotation.
fn toggles(ui: &mut Ui, shown: &AnnotatedImages<'_>, commands: &mut Vec<Command>) {
    let samples = &shown.annotated.samples;
    let any = |has: fn(&Sample) -> bool| samples.iter().any(has);
    let now = shown.annotations;
    let choices = [
        (
            say!("Names"),
            now.names,
            Annotations {
                names: !now.names,
                ..now
            },
            any(overlay::has_names),
        ),
        (
            say!("Keypoints"),
            now.keypoints,
            Annotations {
                keypoints: !now.keypoints,
                ..now
            },
            any(|s| !s.keypoints.is_empty()),
        ),
        (
            say!("Masks"),
            now.masks,
            Annotations {
                masks: !now.masks,
                ..now
            },
            any(|s| !s.masks.is_empty() || s.classes.is_some()),
        ),
        (
            say!("Boxes"),
            now.boxes,
            Annotations {
                boxes: !now.boxes,
                ..now
            },
            any(|s| !s.boxes.is_empty()),
        ),
    ];
    for (name, is_on, other, is_there) in choices {
        if is_there {
            let text = RichText::new(name).size(size::SMALL);
            let tip = say!("Draws the {} over the images", name.to_lowercase());
            if ui
                .selectable_label(is_on, text)
                .on_hover_text(tip)
                .clicked()
            {
                commands.push(Command::Annotate(other));
            }
        }
    }
}
