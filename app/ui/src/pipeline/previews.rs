//! Small previews of samples from batches with known content.

use std::collections::HashMap;

use egui::{Color32, ColorImage, Rect, TextureHandle, TextureOptions, Ui, Vec2, pos2, vec2};
use loadscope_trace::{FieldData, Pictures, Run};

/// Maximum side of a stored preview, pixels. The limit is enough for a worker's box.
const SIDE: usize = 128;
/// Number of cached previews above which those not drawn in the last frame are dropped.
const MAX_CACHED: usize = 192;

/// Cache of recently drawn previews.
#[derive(Default)]
pub struct Previews {
    run: u64,
    frame: u64,
    /// Address of the pixels, texture and frame of the last drawing, by batch row and sample position.
    made: HashMap<(usize, usize), (usize, TextureHandle, u64)>,
}

impl std::fmt::Debug for Previews {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Previews").finish_non_exhaustive()
    }
}

/// Returns the images of a batch.
fn pictures(run: &Run, row: usize) -> Option<&Pictures> {
    let fields = run.content(row)?.fields.iter();
    let found = fields
        .filter(|field| !field.is_derived())
        .find_map(|field| match &field.data {
            FieldData::Pictures(pictures) => Some(pictures),
            FieldData::Omitted | FieldData::Numbers(_) | FieldData::Text(_) => None,
        })?;
    (found.width > 0 && found.height > 0).then_some(found)
}

/// Returns the number of known images in a batch.
pub fn count(run: &Run, row: usize) -> usize {
    pictures(run, row).map_or(0, Pictures::count)
}

impl Previews {
    /// Starts a frame of this run. Clears the cache if the run changes, and evicts old previews if there are too many.
    pub fn begin(&mut self, run: u64) {
        if self.run != run {
            self.made.clear();
            self.run = run;
        }
        self.frame += 1;
        if self.made.len() > MAX_CACHED {
            let before = self.frame.saturating_sub(1);
            self.made.retain(|_, (.., drawn)| *drawn >= before);
        }
    }

    /// Draws the preview of the sample at `position` of a batch into `room`, as large as possible. Returns false if the image is unknown.
    pub fn draw(
        &mut self,
        ui: &Ui,
        run: &Run,
        (row, position): (usize, usize),
        room: Rect,
    ) -> bool {
        let Some(data) = pictures(run, row) else {
            return false;
        };
        // Failed samples have no image.
        let left_out = run.content(row).map_or(0, |content| {
            content.left_out().filter(|place| *place < position).count()
        });
        let which = position - left_out.min(position);
        let Some(pixels) = data.get(which) else {
            return false;
        };
        let at = pixels.as_ptr() as usize;
        let key = (row, position);
        let is_known = matches!(self.made.get(&key), Some((before, ..)) if *before == at);
        if !is_known {
            let texture = ui.load_texture("sample", small(data, pixels), TextureOptions::LINEAR);
            self.made.insert(key, (at, texture, self.frame));
        }
        let Some((_, texture, drawn)) = self.made.get_mut(&key) else {
            return false;
        };
        *drawn = self.frame;
        let size = texture.size_vec2();
        let size = size * (room.width() / size.x).min(room.height() / size.y);
        let place = Rect::from_center_size(room.center(), size.max(Vec2::splat(1.0)));
        let all = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
        ui.painter().image(texture.id(), place, all, Color32::WHITE);
        true
    }
}

/// Returns the size of an image whose longer side is at most [`SIDE`].
fn reduced(width: usize, height: usize) -> (usize, usize) {
    let longest = width.max(height);
    if longest <= SIDE {
        return (width, height);
    }
    let scale = |side: usize| (side * SIDE / longest).max(1);
    (scale(width), scale(height))
}

/// Returns a reduced image. Each pixel is the mean of the pixels it replaces.
fn small(data: &Pictures, pixels: &[u8]) -> ColorImage {
    let (w, h) = (data.width as usize, data.height as usize);
    let channels = usize::from(data.channels).max(1);
    let (columns, rows) = reduced(w, h);
    let brightest = u32::from(pixels.iter().max().copied().unwrap_or(255).max(1));
    let of = |from: usize, to: usize, all: usize| {
        (
            from * all / to,
            ((from + 1) * all / to).max(from * all / to + 1),
        )
    };
    let mut image = ColorImage::filled([columns, rows], Color32::BLACK);
    for y in 0..rows {
        let (top, bottom) = of(y, rows, h);
        for x in 0..columns {
            let (left, right) = of(x, columns, w);
            let mut sum = [0u32; 3];
            for line in top..bottom.min(h) {
                for column in left..right.min(w) {
                    let first = (line * w + column) * channels;
                    let pixel = pixels.get(first..first + channels).unwrap_or(&[]);
                    let color = match pixel {
                        [r, g, b, ..] => [*r, *g, *b],
                        [grey, ..] => [*grey; 3],
                        [] => [0; 3],
                    };
                    for (sum, part) in sum.iter_mut().zip(color) {
                        *sum += u32::from(part);
                    }
                }
            }
            let many = ((bottom - top) * (right - left)).max(1) as u32;
            // A dark image is brightened until its brightest pixel reaches 255.
            let [r, g, b] = sum.map(|sum| (sum / many * 255 / brightest).min(255) as u8);
            image[(x, y)] = opaque([r, g, b]);
        }
    }
    image
}

/// Returns an opaque color. Image colors are data, not part of the palette.
#[allow(clippy::disallowed_methods)]
fn opaque([r, g, b]: [u8; 3]) -> Color32 {
    Color32::from_rgb(r, g, b)
}

/// Returns at most `count` squares in rows from the upper left corner of `room`, as large as possible within the bounds.
pub fn squares(room: Rect, count: usize, (least, most): (f32, f32)) -> Vec<Rect> {
    const GAP: f32 = 3.0;
    if count == 0 || room.width() < least || room.height() < least {
        return Vec::new();
    }
    let fits = |side: f32| {
        let columns = ((room.width() + GAP) / (side + GAP)) as usize;
        let rows = ((room.height() + GAP) / (side + GAP)) as usize;
        (columns, rows)
    };
    let mut side = most.min(room.height()).min(room.width());
    while side > least && fits(side).0 * fits(side).1 < count {
        side -= 1.0;
    }
    let (columns, rows) = fits(side);
    let place = |k: usize| {
        let at = vec2((k % columns.max(1)) as f32, (k / columns.max(1)) as f32);
        Rect::from_min_size(room.min + at * (side + GAP), Vec2::splat(side))
    };
    (0..count.min(columns * rows)).map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_reduced_by_averaging_pixels() {
        let data = Pictures {
            width: 256,
            height: 2,
            channels: 1,
            pixels: [[0u8, 255].repeat(128), [0u8, 255].repeat(128)].concat(),
        };
        let image = small(&data, data.get(0).expect("one"));
        assert_eq!(image.size, [128, 1]);
        assert!(
            image.pixels.iter().all(|p| (126..=128).contains(&p.r())),
            "{:?}",
            image.pixels[0]
        );
    }

    #[test]
    fn preview_squares_stay_inside_and_do_not_overlap() {
        let room = Rect::from_min_size(pos2(10.0, 20.0), vec2(170.0, 90.0));
        for count in [1, 5, 32, 500] {
            let all = squares(room, count, (16.0, 48.0));
            assert!(!all.is_empty() && all.len() <= count);
            assert!(
                all.iter().all(|r| room.contains_rect(*r)),
                "{count}: {all:?}"
            );
            let overlap = |a: &Rect, b: &Rect| a.shrink(0.5).intersects(*b);
            assert!(all.windows(2).all(|w| !overlap(&w[0], &w[1])));
        }
        assert!(
            squares(
                Rect::from_min_size(room.min, vec2(9.0, 90.0)),
                4,
                (16.0, 48.0)
            )
            .is_empty()
        );
    }
}
