//! Textures of images and masks, created once for the displayed batch.

use std::collections::HashMap;

use egui::{Color32, ColorImage, TextureHandle, TextureId, TextureOptions, Ui};
use loadscope_insight::content::Sample;
use loadscope_trace::{BatchContent, FieldData, Pictures};

use crate::theme::Palette;

/// Opacity of a mask, 0 to 255.
const MASK_ALPHA: u8 = 120;

/// Textures of one batch. They are dropped together when another batch is displayed.
#[derive(Default)]
pub struct Textures {
    /// Row of the batch and the address of its fields, which distinguishes batches of different runs.
    of: Option<(usize, usize)>,
    made: HashMap<(usize, usize, Kind), TextureHandle>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Picture,
    Masks,
}

impl Textures {
    /// Drops the textures of another batch.
    pub fn keep(&mut self, at: usize, content: &BatchContent) {
        let of = Some((at, content.fields.as_ptr() as usize));
        if self.of != of {
            self.of = of;
            self.made.clear();
        }
    }

    /// Returns the texture of the image.
    pub fn picture(
        &mut self,
        ui: &Ui,
        content: &BatchContent,
        sample: &Sample,
    ) -> Option<TextureId> {
        let (field, which) = sample.picture;
        self.texture(ui, (field, which, Kind::Picture), || {
            let data = pictures(content, field)?;
            let channels = usize::from(data.channels).max(1);
            let pixels = data.get(which)?.chunks_exact(channels);
            let colors = pixels.map(|pixel| match pixel {
                [r, g, b, ..] => opaque(*r, *g, *b),
                [grey, ..] => opaque(*grey, *grey, *grey),
                [] => Color32::BLACK,
            });
            image(data, colors.collect())
        })
    }

    /// Returns the texture of all masks in the colors of their classes. Returns `None` without masks.
    pub fn masks(&mut self, ui: &Ui, content: &BatchContent, sample: &Sample) -> Option<TextureId> {
        if sample.masks.is_empty() && sample.classes.is_none() {
            return None;
        }
        let (field, which) = sample.picture;
        self.texture(ui, (field, which, Kind::Masks), || {
            let first = sample.classes.or_else(|| sample.masks.first().copied())?;
            let data = pictures(content, first.0)?;
            let mut colors = vec![Color32::TRANSPARENT; data.width as usize * data.height as usize];
            if let Some((field, which)) = sample.classes {
                for (pixel, color) in layer(content, field, which)?.zip(&mut colors) {
                    // 0 is the background. 255 marks pixels without a class.
                    if pixel != 0 {
                        *color = see_through(Palette::class(i64::from(pixel)));
                    }
                }
            }
            for (n, (field, which)) in sample.masks.iter().enumerate() {
                let label = sample.boxes.get(n).and_then(|boxed| boxed.label);
                let own = see_through(Palette::class(label.unwrap_or(n as i64)));
                for (pixel, color) in layer(content, *field, *which)?.zip(&mut colors) {
                    if pixel != 0 {
                        *color = own;
                    }
                }
            }
            image(data, colors)
        })
    }

    fn texture(
        &mut self,
        ui: &Ui,
        key: (usize, usize, Kind),
        make: impl FnOnce() -> Option<ColorImage>,
    ) -> Option<TextureId> {
        if let Some(made) = self.made.get(&key) {
            return Some(made.id());
        }
        let options = match key.2 {
            Kind::Picture => TextureOptions::LINEAR,
            Kind::Masks => TextureOptions::NEAREST,
        };
        let texture = ui.load_texture("annotated picture", make()?, options);
        let id = texture.id();
        self.made.insert(key, texture);
        Some(id)
    }
}

fn pictures(content: &BatchContent, field: usize) -> Option<&Pictures> {
    match &content.fields.get(field)?.data {
        FieldData::Pictures(data) => Some(data),
        FieldData::Omitted | FieldData::Numbers(_) | FieldData::Text(_) => None,
    }
}

/// Returns one value per pixel.
fn layer(content: &BatchContent, field: usize, which: usize) -> Option<impl Iterator<Item = u8>> {
    let data = pictures(content, field)?;
    let step = usize::from(data.channels).max(1);
    Some(data.get(which)?.iter().copied().step_by(step))
}

/// Maximum side that every graphics card supports, pixels. Larger images are not drawn.
const LARGEST: usize = 2048;

fn image(data: &Pictures, colors: Vec<Color32>) -> Option<ColorImage> {
    let size = [data.width as usize, data.height as usize];
    let fits = size.iter().all(|side| (1..=LARGEST).contains(side));
    (fits && colors.len() == size[0] * size[1]).then(|| ColorImage::new(size, colors))
}

/// Returns an opaque color. Image colors are data, not part of the palette.
#[allow(clippy::disallowed_methods)]
fn opaque(r: u8, g: u8, b: u8) -> Color32 {
    Color32::from_rgb(r, g, b)
}

fn see_through(color: Color32) -> Color32 {
    color.gamma_multiply_u8(MASK_ALPHA)
}
