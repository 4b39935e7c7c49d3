//! Images of a batch with sharp pixels. Each batch has one texture, and enlargement is by whole multiples without smoothing.

use egui::{
    Align2, Color32, ColorImage, Rect, Role, Sense, Stroke, StrokeKind, TextureHandle, TextureId,
    TextureOptions, Ui, Vec2, WidgetInfo, pos2, vec2,
};
use loadscope_trace::Pictures;
use loadscope_words::say;

use crate::kit::empty::remark;
use crate::theme::{Palette, mono, sans, size};
use loadscope_model::command::Command;

/// Captions below the images.
#[derive(Debug, Default)]
pub struct Captions {
    /// Class names or labels. Empty if there are none.
    pub names: Vec<String>,
    /// Dataset indices. Empty if unknown.
    pub indices: Vec<u64>,
}

impl Captions {
    /// Returns the accessible name of an image: `image of sample 28, four`.
    pub fn accessible_text(&self, k: usize) -> String {
        let index = self.indices.get(k);
        let index = index.map_or_else(|| say!("sample {k}"), |i| say!("sample {i}"));
        match self.names.get(k) {
            Some(name) => say!("image of {index}, {name}"),
            None => say!("image of {index}"),
        }
    }
}

/// Images of a field.
pub struct FieldImages<'a> {
    /// Batch row and field.
    pub key: (usize, usize),
    /// Recorded pixels of all images of the field.
    pub data: &'a Pictures,
    /// Captions below the images.
    pub captions: &'a Captions,
}

impl FieldImages<'_> {
    fn fits(&self) -> bool {
        self.data.width.max(self.data.height) as usize <= SHEET
    }
}

/// Texture of the displayed batch.
#[derive(Default)]
pub struct PictureCache {
    /// Batch row and field, address of the pixels, and their sheet. The address distinguishes batches of different runs.
    sheet: Option<((usize, usize), usize, Sheet)>,
}

struct Sheet {
    texture: TextureHandle,
    columns: usize,
    count: usize,
}

/// Maximum number of images.
const MAX_IMAGES: usize = 256;
/// Approximate side of a small image after enlargement, points.
const SIDE: f32 = 64.0;
/// Space between images, points.
const GAP: f32 = 8.0;
/// Minimum width of a cell, enough for a class name, points.
const NARROWEST: f32 = 48.0;
/// Maximum side of a texture that every graphics card supports, pixels.
const SHEET: usize = 2048;

impl PictureCache {
    /// Shows all images with their captions. A click enlarges one.
    pub fn grid(
        &mut self,
        ui: &mut Ui,
        shown: &FieldImages<'_>,
        enlarged: Option<(usize, usize)>,
        commands: &mut Vec<Command>,
    ) {
        let (key, data, captions) = (shown.key, shown.data, shown.captions);
        if data.count() == 0 {
            remark(ui, say!("No images"));
            return;
        }
        if !shown.fits() {
            remark(ui, say!("The images are too large to show"));
            return;
        }
        let sheet = self.sheet(ui, key, data);
        let small = best_size(data, ui.available_width(), ui.pixels_per_point());
        let cell = vec2(small.x.max(NARROWEST), small.y + caption_height(captions));
        let gap = GAP;
        let columns = (((ui.available_width() + gap) / (cell.x + gap)) as usize).max(1);
        let rows = sheet.count.div_ceil(columns);
        let pitch = cell + Vec2::splat(gap);
        let all = vec2(ui.available_width(), rows as f32 * pitch.y - gap);
        let (area, _) = ui.allocate_exact_size(all, Sense::hover());
        for k in 0..sheet.count {
            let offset = vec2((k % columns) as f32, (k / columns) as f32) * pitch;
            let rect = Rect::from_min_size(area.min + offset, cell);
            if ui.is_rect_visible(rect) {
                let this = Some((key.1, k));
                if sheet.one(ui, rect, k, shown, small, enlarged == this) {
                    commands.push(Command::Enlarge(this.filter(|_| enlarged != this)));
                }
            }
        }
        let left = data.count() - sheet.count;
        if left > 0 {
            remark(ui, &say!("and {left} more"));
        }
    }

    /// Returns the texture with image `which`, and its position in the texture.
    pub fn part(
        &mut self,
        ui: &Ui,
        shown: &FieldImages<'_>,
        which: usize,
    ) -> Option<(TextureId, Rect)> {
        if !shown.fits() || which >= MAX_IMAGES {
            return None;
        }
        let sheet = self.sheet(ui, shown.key, shown.data);
        (which < sheet.count).then(|| (sheet.texture.id(), sheet.part(which, shown.data)))
    }

    fn sheet(&mut self, ui: &Ui, key: (usize, usize), data: &Pictures) -> &Sheet {
        let pixels = data.pixels.as_ptr() as usize;
        if !matches!(&self.sheet, Some((k, p, _)) if *k == key && *p == pixels) {
            self.sheet = None;
        }
        let (_, _, sheet) = self
            .sheet
            .get_or_insert_with(|| (key, pixels, Sheet::new(ui, data)));
        sheet
    }
}

impl std::fmt::Debug for PictureCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PictureCache").finish_non_exhaustive()
    }
}

fn caption_height(captions: &Captions) -> f32 {
    let lines = usize::from(!captions.names.is_empty()) + usize::from(!captions.indices.is_empty());
    lines as f32 * 14.0
}

/// Returns the size at which the images fill the width best.
fn best_size(data: &Pictures, width: f32, pixels_per_point: f32) -> Vec2 {
    let sides = [SIDE, SIDE - 8.0, SIDE - 16.0];
    let sizes = sides.map(|side| enlarged(data, side, pixels_per_point));
    let filled = |size: &Vec2| {
        let pitch = size.x.max(NARROWEST) + GAP;
        ((width + GAP) / pitch).floor() * pitch
    };
    let best = sizes.into_iter().max_by(|a, b| {
        // If two sizes are equally good, the larger one wins, because it comes first.
        filled(a)
            .total_cmp(&filled(b))
            .then(std::cmp::Ordering::Greater)
    });
    best.unwrap_or(Vec2::splat(SIDE))
}

/// Returns the size of an image whose longer side is about `side`. Enlargement is by a whole multiple of its pixels.
pub fn enlarged(data: &Pictures, side: f32, pixels_per_point: f32) -> Vec2 {
    let size = vec2(data.width as f32, data.height as f32) / pixels_per_point;
    let factor = side / size.max_elem();
    let factor = if factor >= 1.0 {
        factor.floor()
    } else {
        factor
    };
    size * factor
}

impl Sheet {
    /// Copies all images into one texture, next to each other.
    fn new(ui: &Ui, data: &Pictures) -> Self {
        let (w, h) = (data.width as usize, data.height as usize);
        let count = data.count().min(MAX_IMAGES);
        let square = (count as f64).sqrt().ceil() as usize;
        let columns = square.min(SHEET / w.max(1)).max(1);
        let count = count.min(columns * (SHEET / h.max(1)));
        let mut image =
            ColorImage::filled([columns * w, count.div_ceil(columns) * h], Color32::BLACK);
        let brightest = data.pixels.iter().max().copied().unwrap_or(255).max(1);
        // Dark images are brightened until the brightest pixel reaches 255.
        let lift = |v: u8| (u32::from(v) * 255 / u32::from(brightest)) as u8;
        let channels = usize::from(data.channels);
        for k in 0..count {
            let Some(pixels) = data.get(k) else { break };
            let (left, top) = (k % columns * w, k / columns * h);
            for (at, pixel) in pixels.chunks_exact(channels.max(1)).enumerate() {
                let color = match pixel {
                    [r, g, b, ..] => [*r, *g, *b].map(lift),
                    [grey, ..] => [lift(*grey); 3],
                    [] => [0; 3],
                };
                image[(left + at % w, top + at / w)] = opaque(color);
            }
        }
        // Enlarged pixels stay sharp. Large images are reduced, which needs smoothing.
        let is_small = data.width.max(data.height) as f32 <= SIDE * ui.pixels_per_point();
        let smoothing = if is_small {
            TextureOptions::NEAREST
        } else {
            TextureOptions::LINEAR
        };
        Self {
            texture: ui.load_texture("pictures of a batch", image, smoothing),
            columns,
            count,
        }
    }

    /// Returns the position of image `k` in the texture.
    fn part(&self, k: usize, data: &Pictures) -> Rect {
        let one = vec2(data.width as f32, data.height as f32) / self.texture.size_vec2();
        let at = vec2((k % self.columns) as f32, (k / self.columns) as f32) * one;
        Rect::from_min_size(at.to_pos2(), one)
    }

    /// Draws an image of the grid. Returns true if it was clicked.
    fn one(
        &self,
        ui: &Ui,
        rect: Rect,
        k: usize,
        shown: &FieldImages<'_>,
        small: Vec2,
        is_enlarged: bool,
    ) -> bool {
        let palette = Palette::of(ui.ctx());
        let captions = shown.captions;
        let left = (rect.left() + (rect.width() - small.x) * 0.5).round();
        let picture = Rect::from_min_size(pos2(left, rect.top().round()), small);
        let part = self.part(k, shown.data);
        ui.painter()
            .image(self.texture.id(), picture, part, Color32::WHITE);
        let name = captions.names.get(k);
        let index = captions.indices.get(k).map(u64::to_string);
        let mut y = picture.bottom() + 1.0;
        let painter = ui.painter_at(rect);
        for (text, font, color) in [
            (name, sans(size::SMALL), palette.text),
            (index.as_ref(), mono(size::SMALL), palette.weak),
        ] {
            if let Some(text) = text {
                let at = pos2(rect.center().x, y);
                painter.text(at, Align2::CENTER_TOP, text, font, color);
                y += 13.0;
            }
        }
        let response = ui.interact(rect, ui.scope_id().with(("picture", k)), Sense::click());
        let spoken = captions.accessible_text(k);
        response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_enlarged, &spoken));
        let outline = match (is_enlarged, response.hovered() || response.has_focus()) {
            (true, _) => Some(Stroke::new(2.0, palette.strong)),
            (false, true) => Some(Stroke::new(1.0, palette.text)),
            (false, false) => None,
        };
        if let Some(outline) = outline {
            ui.painter()
                .rect_stroke(picture, 0.0, outline, StrokeKind::Outside);
        }
        let tip = format!("{spoken}\n{}", say!("Click to enlarge"));
        response.on_hover_text(tip).clicked()
    }
}

/// Returns an opaque color. Image colors are data, not part of the palette.
#[allow(clippy::disallowed_methods)]
fn opaque([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}
