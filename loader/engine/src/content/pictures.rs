//! Small images from image tensors.

use loadscope_trace::Pictures;
use tch::Kind;

use super::ContentLimits;
use super::numbers::{Elements, Stats};

/// Position of the pixels in a batch of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    count: usize,
    height: usize,
    width: usize,
    channels: usize,
    /// True if channels vary slowest (PyTorch's usual order), false if fastest.
    planar: bool,
}

impl Layout {
    /// Recognizes `[B, 1|3, H, W]`, `[B, H, W, 1|3]` and `[B, H, W]`, with H and W of at least 4.
    pub(super) fn of(shape: &[i64]) -> Option<Self> {
        let sizes: Vec<usize> = shape
            .iter()
            .map(|&size| usize::try_from(size).ok())
            .collect::<Option<_>>()?;
        let layout = |count, channels, height, width, planar| {
            (count > 0 && matches!(channels, 1 | 3) && height >= 4 && width >= 4).then_some(Self {
                count,
                height,
                width,
                channels,
                planar,
            })
        };
        match *sizes.as_slice() {
            [count, height, width] => layout(count, 1, height, width, true),
            [count, a, b, c] => {
                layout(count, a, b, c, true).or_else(|| layout(count, c, a, b, false))
            }
            _ => None,
        }
    }

    /// Recognizes a single image: `[1|3, H, W]` or `[H, W, 1|3]`, with H and W of at least 4.
    pub(super) fn of_one(shape: &[i64]) -> Option<Self> {
        let [a, b, c] = *shape else { return None };
        Self::of(&[1, a, b, c])
    }

    /// Recognizes a single mask: `[H, W]`.
    pub(super) fn of_mask(shape: &[i64]) -> Option<Self> {
        let [height, width] = *shape else {
            return None;
        };
        Self::of(&[1, height, width])
    }

    /// Returns the index of a pixel's value in the tensor.
    fn offset(&self, picture: usize, y: usize, x: usize, channel: usize) -> usize {
        let start = picture * self.height * self.width * self.channels;
        start
            + if self.planar {
                (channel * self.height + y) * self.width + x
            } else {
                (y * self.width + x) * self.channels + channel
            }
    }
}

/// Shrinks images to at most `limits.side` pixels per side.
///
/// A pixel is the average of four points of its area. At half size, these points are the whole area. The cost does not depend
/// on the size of the images.
pub(super) fn shrink(
    elements: &Elements,
    layout: Layout,
    sizing: Sizing,
    to_byte: impl Fn(f64) -> f64,
    limits: &ContentLimits,
) -> Pictures {
    let side = match sizing {
        Sizing::Small => limits.side,
        Sizing::Annotated | Sizing::Classes => limits.annotated_side,
    };
    let side = (side.max(1) as usize).min(1024);
    let taps = match sizing {
        Sizing::Small | Sizing::Annotated => taps,
        Sizing::Classes => middles,
    };
    let longer = layout.width.max(layout.height);
    let fit = |size: usize| {
        if longer <= side {
            size
        } else {
            (size * side / longer).max(1)
        }
    };
    let (width, height) = (fit(layout.width), fit(layout.height));
    let count = layout.count.min(limits.samples);

    let columns = taps(layout.width, width);
    let rows = taps(layout.height, height);
    let mut pixels = Vec::with_capacity(count * width * height * layout.channels);
    if elements.kind() == Kind::Uint8 {
        let bytes = elements.bytes();
        (0..count).for_each(|picture| means(bytes, layout, picture, &rows, &columns, &mut pixels));
        return kept(pixels, width, height, layout);
    }
    let offsets = (0..count).flat_map(|picture| {
        let columns = &columns;
        rows.iter().flat_map(move |&[top, bottom]| {
            columns.iter().flat_map(move |&[left, right]| {
                (0..layout.channels).map(move |channel| {
                    let at = |y, x| layout.offset(picture, y, x, channel);
                    [
                        at(top, left),
                        at(top, right),
                        at(bottom, left),
                        at(bottom, right),
                    ]
                })
            })
        })
    });
    elements.for_each(offsets, |four| {
        // The values are divided before the addition, because the sum of huge numbers may overflow.
        let mean = four.iter().map(|&value| value * 0.25).sum::<f64>();
        pixels.push((to_byte(mean) + 0.5) as u8);
    });
    kept(pixels, width, height, layout)
}

fn kept(pixels: Vec<u8>, width: usize, height: usize, layout: Layout) -> Pictures {
    Pictures {
        width: width as u32,
        height: height as u32,
        channels: layout.channels as u8,
        pixels,
    }
}

/// Shrinks an image of bytes in integer arithmetic. 64 images take a third of the time.
fn means(
    bytes: &[u8],
    layout: Layout,
    picture: usize,
    rows: &[[usize; 2]],
    columns: &[[usize; 2]],
    pixels: &mut Vec<u8>,
) {
    let channels = layout.channels;
    for two_rows in rows {
        let begin = pixels.len();
        pixels.resize(begin + columns.len() * channels, 0);
        for channel in 0..channels {
            let row = |y| {
                bytes
                    .get(layout.offset(picture, y, 0, channel)..)
                    .unwrap_or_default()
            };
            let [top, bottom] = two_rows.map(row);
            let step = if layout.planar { 1 } else { channels };
            let places = pixels[begin + channel..].iter_mut().step_by(channels);
            for (place, two_columns) in places.zip(columns) {
                let at = |row: &[u8], x: usize| u32::from(row.get(x * step).copied().unwrap_or(0));
                let sum: u32 = (two_columns.iter().map(|&x| at(top, x) + at(bottom, x))).sum();
                *place = ((sum + 2) / 4) as u8;
            }
        }
    }
}

/// Method of shrinking images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sizing {
    /// Many images of one size, side by side.
    Small,
    /// One image with boxes.
    Annotated,
    /// Mask in the size of images with boxes. Its values are class numbers, which have no average.
    Classes,
}

/// Returns, for each of `to` pixels, the middle one of the `from` pixels that it covers, twice.
fn middles(from: usize, to: usize) -> Vec<[usize; 2]> {
    (0..to)
        .map(|i| [((2 * i + 1) * from / (2 * to)).min(from - 1); 2])
        .collect()
}

/// Returns, for each of `to` pixels, two of the `from` pixels that it covers: at a quarter and at three quarters.
fn taps(from: usize, to: usize) -> Vec<[usize; 2]> {
    (0..to)
        .map(|i| [4 * i + 1, 4 * i + 3].map(|quarter| (quarter * from / (4 * to)).min(from - 1)))
        .collect()
}

/// Clamps class numbers to a byte.
pub(super) fn class(value: f64) -> f64 {
    match value.is_nan() {
        true => 0.0,
        false => value.clamp(0.0, 255.0),
    }
}

/// Returns the mapping to 0..=255. Bytes stay as they are, and other values are scaled from minimum to maximum.
///
/// NaN becomes 0, also in an average.
pub(super) fn scale(kind: Kind, stats: &Stats) -> impl Fn(f64) -> f64 + use<> {
    let (low, high) = match kind {
        Kind::Uint8 => (0.0, 255.0),
        Kind::Bool => (0.0, 1.0),
        _ => (stats.min.unwrap_or(0.0), stats.max.unwrap_or(1.0)),
    };
    // Both limits are halved before the subtraction, because the difference of two huge numbers may overflow.
    let half_range = high / 2.0 - low / 2.0;
    let (half_low, factor) = (low / 2.0, 255.0 / half_range);
    move |value| {
        if value.is_nan() || half_range <= 0.0 {
            return 0.0;
        }
        ((value * 0.5 - half_low) * factor).clamp(0.0, 255.0)
    }
}
