//! Masks from polygons and run lengths, identical to those of COCO's tools.

use loadscope_words::say;

/// Maximum number of outline points of all objects of an image, about five per pixel of a large image.
const MAX_POINTS: f64 = 5e7;
/// Maximum number of pixels of a mask, the same as that of an image.
const MAX_PIXELS: u64 = 2 * 89_478_485;
/// Maximum number of pixels of all masks of an image.
const MAX_ALL_PIXELS: u64 = 1 << 30;
/// Resolution of the polygon outlines, points per pixel.
const SCALE: f64 = 5.0;

/// Reason why a mask is invalid.
pub(super) type Reason = String;

/// A mask with one byte per pixel, row-major.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    pub width: usize,
    pub height: usize,
    pub pixels: Vec<u8>,
}

/// Remaining budget of outline points of an image.
#[derive(Clone, Copy, Debug)]
pub(super) struct PointsLeft(f64);

impl Default for PointsLeft {
    fn default() -> Self {
        Self(MAX_POINTS)
    }
}

/// Checks the size of `count` masks before their memory is allocated.
pub(super) fn check_size(width: usize, height: usize, count: usize) -> Result<(), Reason> {
    let pixels = (width as u64).saturating_mul(height as u64);
    if pixels > MAX_PIXELS {
        return Err(say!("a mask of {width}×{height} pixels is too large"));
    }
    if pixels.saturating_mul(count as u64) > MAX_ALL_PIXELS {
        return Err(say!(
            "{count} masks of {width}×{height} pixels are too large"
        ));
    }
    Ok(())
}

impl Mask {
    /// Creates a mask without a set pixel.
    pub fn empty(width: usize, height: usize) -> Result<Self, Reason> {
        check_size(width, height, 1)?;
        Ok(Self {
            width,
            height,
            pixels: vec![0; width * height],
        })
    }

    /// Draws a polygon with the corners x, y, x, y …
    pub fn draw(&mut self, corners: &[f64], left: &mut PointsLeft) -> Result<(), Reason> {
        let crossings = crossings(corners, self.width, self.height, left)?;
        let mut runs = crossings.chunks(2);
        let end = self.width * self.height;
        runs.try_for_each(|run| match run {
            [begin, stop] => {
                self.fill(*begin, *stop);
                Ok(())
            }
            [begin] => {
                self.fill(*begin, end);
                Ok(())
            }
            _ => Err(say!("a run without a start").to_owned()),
        })
    }

    /// Draws run lengths in column-major order. Unset and set pixels alternate, starting with unset ones.
    pub fn draw_runs(&mut self, runs: impl IntoIterator<Item = u64>) -> Result<(), Reason> {
        let all = (self.width * self.height) as u64;
        let (mut at, mut is_set) = (0u64, false);
        for run in runs {
            let end = at.saturating_add(run);
            if end > all {
                return Err(say!(
                    "its runs cover more than the {all} pixels of {}×{}",
                    self.width,
                    self.height
                ));
            }
            if is_set {
                self.fill(at as usize, end as usize);
            }
            (at, is_set) = (end, !is_set);
        }
        if at != all {
            return Err(say!(
                "its runs cover {at} of the {all} pixels of {}×{}",
                self.width,
                self.height
            ));
        }
        Ok(())
    }

    /// Sets the pixels `begin..end` in column-major order.
    fn fill(&mut self, begin: usize, end: usize) {
        let (width, height) = (self.width, self.height);
        if height == 0 || begin >= end {
            return;
        }
        let (mut x, mut y) = (begin / height, begin % height);
        let mut left = end - begin;
        while left > 0 && x < width {
            let count = left.min(height - y);
            let column = self.pixels.get_mut(y * width + x..).unwrap_or_default();
            column
                .iter_mut()
                .step_by(width)
                .take(count)
                .for_each(|pixel| *pixel = 1);
            left -= count;
            (x, y) = (x + 1, 0);
        }
    }
}

/// Returns the pixels, in ascending column-major order, at which the columns enter and leave a polygon.
fn crossings(
    corners: &[f64],
    width: usize,
    height: usize,
    left: &mut PointsLeft,
) -> Result<Vec<usize>, Reason> {
    let corners: Vec<(i64, i64)> = (corners.as_chunks::<2>().0.iter())
        .map(|[x, y]| (fine(*x), fine(*y)))
        .collect();
    let Some(first) = corners.first() else {
        return Ok(Vec::new());
    };
    let next = corners.iter().skip(1).chain([first]);
    let edges: Vec<Edge> = corners
        .iter()
        .zip(next)
        .map(|(from, to)| Edge::new(*from, *to))
        .collect();
    let points: f64 = edges.iter().map(|edge| edge.steps() as f64 + 1.0).sum();
    left.0 -= points;
    if left.0 < 0.0 {
        return Err(
            say!("its polygons are too long, or a vertex is too far outside the image").to_owned(),
        );
    }
    let mut found = Vec::new();
    let mut before: Option<(i64, i64)> = None;
    let mut outline = |(x, y): (i64, i64)| {
        if let Some((x0, y0)) = before.replace((x, y))
            && x != x0
        {
            // A boundary between fine columns counts only if it is also a boundary between pixels.
            let column = coarse(if x < x0 { x } else { x - 1 });
            if column.floor() == column && column >= 0.0 && column <= width as f64 - 1.0 {
                let row = coarse(y.min(y0)).clamp(0.0, height as f64).ceil();
                found.push(column as usize * height + row as usize);
            }
        }
    };
    edges.iter().for_each(|edge| edge.walk(&mut outline));
    found.sort_unstable();
    Ok(found)
}

/// Scales a coordinate to the outline resolution. Rounds like C: adds a half, then truncates.
fn fine(coordinate: f64) -> i64 {
    i64::from((SCALE * coordinate + 0.5) as i32)
}

/// Scales a coordinate back to pixels.
fn coarse(coordinate: i64) -> f64 {
    (coordinate as f64 + 0.5) / SCALE - 0.5
}

/// Side of a polygon.
struct Edge {
    /// First point of the line, the same for both directions of the side.
    start: (i64, i64),
    delta: (i64, i64),
    is_flipped: bool,
}

impl Edge {
    fn new(from: (i64, i64), to: (i64, i64)) -> Self {
        let (width, height) = ((to.0 - from.0).abs(), (to.1 - from.1).abs());
        // Both directions have the same pixels: the line starts at the left, or at the top if it is steep.
        let is_flipped = (width >= height && from.0 > to.0) || (width < height && from.1 > to.1);
        let (start, end) = if is_flipped { (to, from) } else { (from, to) };
        Self {
            start,
            delta: (end.0 - start.0, end.1 - start.1),
            is_flipped,
        }
    }

    fn is_flat(&self) -> bool {
        self.delta.0.abs() >= self.delta.1.abs()
    }

    fn steps(&self) -> i64 {
        self.delta.0.abs().max(self.delta.1.abs())
    }

    /// Calls `each` with the points of the side, including both ends.
    fn walk(&self, each: &mut impl FnMut((i64, i64))) {
        let (x, y) = self.start;
        let steps = self.steps();
        if steps == 0 {
            // A repeated corner adds only its own point.
            return each(self.start);
        }
        let (slope, other) = match self.is_flat() {
            true => (self.delta.1 as f64 / steps as f64, y),
            false => (self.delta.0 as f64 / steps as f64, x),
        };
        for step in 0..=steps {
            let at = if self.is_flipped { steps - step } else { step };
            let across = i64::from((other as f64 + slope * at as f64 + 0.5) as i32);
            each(match self.is_flat() {
                true => (x + at, across),
                false => (across, y + at),
            });
        }
    }
}

/// Decodes the run lengths of a compressed mask. Each number has digits of five bits and is the difference from the number two positions
/// before.
pub(super) fn runs(text: &[u8]) -> Result<Vec<u64>, Reason> {
    let mut runs: Vec<i64> = Vec::new();
    let mut bytes = text.iter();
    while let Some(first) = bytes.next() {
        let (mut number, mut shift, mut byte) = (0i64, 0u32, *first);
        loop {
            let Some(digit) = byte.checked_sub(48).filter(|digit| *digit < 64) else {
                return Err(say!("{:?} is not a digit of its counts", char::from(byte)));
            };
            if shift > 55 {
                return Err(say!("a number of its counts is too long").to_owned());
            }
            number |= i64::from(digit & 0x1f) << shift;
            shift += 5;
            if digit & 0x20 == 0 {
                if digit & 0x10 != 0 {
                    number |= -1 << shift;
                }
                break;
            }
            byte = *bytes.next().ok_or(say!("its counts end inside a number"))?;
        }
        // The first three numbers are not differences.
        if let Some(before) = runs
            .len()
            .checked_sub(2)
            .filter(|at| *at > 0)
            .and_then(|at| runs.get(at))
        {
            number = number.saturating_add(*before);
        }
        if number < 0 {
            return Err(say!("a run of its counts is negative").to_owned());
        }
        runs.push(number);
    }
    Ok(runs.into_iter().map(i64::unsigned_abs).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(mask: &Mask) -> Vec<String> {
        let line = |row: &[u8]| {
            row.iter()
                .map(|p| if *p == 1 { '#' } else { '.' })
                .collect()
        };
        mask.pixels.chunks(mask.width).map(line).collect()
    }

    #[test]
    fn a_drawn_square_is_filled_and_clipped() {
        let mut mask = Mask::empty(6, 4).unwrap();
        let left = &mut PointsLeft::default();
        mask.draw(&[1.0, 1.0, 4.0, 1.0, 4.0, 3.0, 1.0, 3.0], left)
            .unwrap();
        assert_eq!(rows(&mask), ["......", ".###..", ".###..", "......"]);
        // The part outside the mask is cut off.
        mask.draw(&[-9.0, 3.0, 99.0, 3.0, 99.0, 99.0, -9.0, 99.0], left)
            .unwrap();
        assert_eq!(rows(&mask)[3], "######");
        mask.draw(&[], left).unwrap();
        let far = mask.draw(&[0.0, 0.0, 1e9, 1e9], left).unwrap_err();
        assert!(far.contains("too far"), "{far}");
    }

    #[test]
    fn too_many_long_outlines_are_refused() {
        let mut mask = Mask::empty(4, 4).unwrap();
        let left = &mut PointsLeft::default();
        // Each outline is within the limit, but their sum is not.
        let long = [0.0, 0.0, 1e6, 0.0, 1e6, 1.0];
        let drawn = (0..100).take_while(|_| mask.draw(&long, left).is_ok());
        assert_eq!(drawn.count(), 4);
        assert!(check_size(4000, 3000, 40).is_ok());
        assert!(check_size(4000, 3000, 400).is_err());
    }

    #[test]
    fn mask_runs_fill_column_by_column() {
        let mut mask = Mask::empty(3, 2).unwrap();
        mask.draw_runs([1, 2, 3]).unwrap();
        assert_eq!(rows(&mask), [".#.", "#.."]);
        assert!(
            mask.draw_runs([1, 2])
                .unwrap_err()
                .contains("cover 3 of the")
        );
        assert!(
            mask.draw_runs([1, u64::MAX])
                .unwrap_err()
                .contains("cover more")
        );
        assert!(Mask::empty(usize::MAX, 2).is_err());
    }

    #[test]
    fn damaged_run_counts_are_refused() {
        assert_eq!(runs(b"123"), Ok(vec![1, 2, 3]));
        for (text, says) in [
            (&b"\x7f"[..], "is not a digit"),
            (b"P", "inside a number"),
            (b"@", "is negative"),
            (b"PPPPPPPPPPPPPPPPPPPP0", "too long"),
        ] {
            let error = runs(text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
