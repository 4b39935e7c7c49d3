//! Grid of point counts by position and index. It shows ten million points on a screen of a million pixels.

use std::ops::Range;

use super::overlay::Overlay;

/// Visible part of an order.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// Positions in the order, from left to right.
    pub positions: Range<f64>,
    /// Indices, from bottom to top.
    pub indices: Range<f64>,
}

impl Window {
    /// Returns the window of all positions and indices.
    pub fn whole(positions: usize, indices: u64) -> Self {
        Self {
            positions: 0.0..positions.max(1) as f64,
            indices: 0.0..indices.max(1) as f64,
        }
    }

    /// Zooms by `factor` (above 1: closer) around (`x`, `y`), which are shares from the left and bottom. The result stays inside `whole`.
    #[must_use]
    pub fn zoomed(&self, factor: (f64, f64), x: f64, y: f64, whole: &Self) -> Self {
        let axis = |now: &Range<f64>, all: &Range<f64>, factor: f64, at: f64| {
            let length = ((now.end - now.start) / factor).clamp(8f64.min(all.end), all.end);
            let pivot = now.start + (now.end - now.start) * at;
            let start = (pivot - length * at).clamp(0.0, all.end - length);
            start..start + length
        };
        Self {
            positions: axis(&self.positions, &whole.positions, factor.0, x),
            indices: axis(&self.indices, &whole.indices, factor.1, y),
        }
    }

    /// Moves by shares of the visible part. The result stays inside `whole`.
    #[must_use]
    pub fn moved(&self, x: f64, y: f64, whole: &Self) -> Self {
        let axis = |now: &Range<f64>, all: &Range<f64>, by: f64| {
            let length = now.end - now.start;
            let start = (now.start + by * length).clamp(0.0, (all.end - length).max(0.0));
            start..start + length
        };
        Self {
            positions: axis(&self.positions, &whole.positions, x),
            indices: axis(&self.indices, &whole.indices, y),
        }
    }

    /// Returns the visible positions.
    pub fn visible(&self, positions: usize) -> Range<usize> {
        let start = (self.positions.start.max(0.0) as usize).min(positions);
        let end = (self.positions.end.max(0.0).ceil() as usize).clamp(start, positions);
        start..end
    }
}

/// Point counts per pixel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Raster {
    /// Width, pixels.
    pub width: usize,
    /// Height, pixels.
    pub height: usize,
    /// Number of points at each pixel, row by row from the top.
    pub counts: Vec<u16>,
    /// Largest count.
    pub max: u16,
    /// Group of the last point at each pixel, from 1. Empty if points have no groups.
    pub groups: Vec<u16>,
}

impl Raster {
    /// Draws the points of `indices` in `window` on `pixels` (width, height), each as a square of `dot` pixels.
    pub fn of(indices: &[u64], window: &Window, pixels: (usize, usize), dot: usize) -> Self {
        Self::grouped(
            indices,
            window,
            pixels,
            dot,
            None::<fn(usize, u64) -> Option<u32>>,
        )
    }

    /// Draws points with groups. `group` returns the group for a position and an index.
    pub fn grouped(
        indices: &[u64],
        window: &Window,
        pixels: (usize, usize),
        dot: usize,
        mut group: Option<impl FnMut(usize, u64) -> Option<u32>>,
    ) -> Self {
        let mut raster = Self::blank(pixels, group.is_some());
        raster.draw(indices, 0, (window, dot), &mut group);
        raster
    }

    /// Draws several orders. The group of a point is the position of its order.
    pub fn overlaid(
        overlay: &Overlay,
        window: &Window,
        pixels: (usize, usize),
        dot: usize,
    ) -> Self {
        let mut raster = Self::blank(pixels, true);
        for (k, layer) in overlay.layers().enumerate() {
            let mut group = Some(|_: usize, _: u64| Some(k as u32));
            for (start, piece) in layer.pieces() {
                raster.draw(piece, start, (window, dot), &mut group);
            }
        }
        raster
    }

    fn blank((width, height): (usize, usize), is_grouped: bool) -> Self {
        let (width, height) = (width.max(1), height.max(1));
        Self {
            width,
            height,
            counts: vec![0; width * height],
            max: 0,
            groups: vec![0; if is_grouped { width * height } else { 0 }],
        }
    }

    /// Draws `indices`. `start` is the position of the first one.
    fn draw(
        &mut self,
        indices: &[u64],
        start: usize,
        (window, dot): (&Window, usize),
        group: &mut Option<impl FnMut(usize, u64) -> Option<u32>>,
    ) {
        let (width, height) = (self.width, self.height);
        // Colors repeat before this number of groups.
        let number = |group: u32| (group % 60_000) as u16 + 1;
        let per = |pixels: usize, range: &Range<f64>| pixels as f64 / (range.end - range.start);
        let (across, up) = (per(width, &window.positions), per(height, &window.indices));
        let visible = window.visible(start + indices.len());
        let first = visible.start.max(start);
        let seen = first - start..visible.end.max(first) - start;
        let (low, half) = (window.indices.start, (dot / 2) as isize);
        let (counts, groups) = (&mut self.counts, &mut self.groups);
        for (k, &index) in indices[seen].iter().enumerate() {
            // Center of the cell of a position and an index.
            let x = ((first + k) as f64 + 0.5 - window.positions.start) * across;
            let y = height as f64 - (index as f64 + 0.5 - low) * up;
            if !(0.0..width as f64).contains(&x) || !(0.0..height as f64).contains(&y) {
                continue;
            }
            let of = group
                .as_mut()
                .and_then(|group| group(first + k, index))
                .map(number);
            if dot <= 1 {
                let at = y as usize * width + x as usize;
                counts[at] = counts[at].saturating_add(1);
                self.max = self.max.max(counts[at]);
                if let Some(of) = of {
                    groups[at] = of;
                }
                continue;
            }
            let span = |at: f64, pixels: usize| {
                let start = (at as isize - half).max(0) as usize;
                start..(start + dot).min(pixels)
            };
            for row in span(y, height) {
                for count in &mut counts[row * width..][span(x, width)] {
                    *count = count.saturating_add(1);
                    self.max = self.max.max(*count);
                }
                if let Some(of) = of {
                    groups[row * width..][span(x, width)].fill(of);
                }
            }
        }
    }

    /// Returns the opacity of a pixel, 0 to 1. It grows with the count, and a single point is clearly visible.
    pub fn ink(&self, count: u16) -> f32 {
        // With little overlap, each point must be visible. With much overlap, the count matters.
        let single = if self.max <= 4 { 0.75 } else { 0.25 };
        match (count, self.max) {
            (0, _) => 0.0,
            (_, 1) => 1.0,
            (n, max) => single + (1.0 - single) * f32::from(n - 1) / f32::from(max - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn points_are_drawn_at_their_position_and_index() {
        let whole = Window::whole(4, 4);
        let raster = Raster::of(&[0, 1, 3, 9], &whole, (4, 4), 1);
        #[rustfmt::skip]
        assert_eq!(raster.counts, [
            0, 0, 1, 0,
            0, 0, 0, 0,
            0, 1, 0, 0,
            1, 0, 0, 0,
        ]);
        assert_eq!((raster.max, raster.ink(0), raster.ink(1)), (1, 0.0, 1.0));
        let by_index = |_: usize, index: u64| (index > 0).then_some(index as u32);
        let grouped = Raster::grouped(&[0, 1, 3, 9], &whole, (4, 4), 1, Some(by_index));
        assert_eq!(grouped.counts, raster.counts);
        #[rustfmt::skip]
        assert_eq!(grouped.groups, [
            0, 0, 4, 0,
            0, 0, 0, 0,
            0, 2, 0, 0,
            0, 0, 0, 0,
        ]);
        let mut overlay = Overlay::default();
        overlay.take(5, &[0, 1]);
        overlay.take(6, &[3, 2]);
        let both = Raster::overlaid(&overlay, &Window::whole(2, 4), (2, 4), 1);
        #[rustfmt::skip]
        assert_eq!(both.groups, [
            2, 0,
            0, 2,
            0, 1,
            1, 0,
        ]);
        let large = Raster::of(&[0], &Window::whole(1, 1), (5, 5), 3);
        assert_eq!(
            large.counts.iter().map(|c| usize::from(*c)).sum::<usize>(),
            9
        );
    }

    proptest! {
        #[test]
        fn every_point_is_drawn_once(indices in prop::collection::vec(0..300u64, 1..500), width in 1..200usize, height in 1..200usize) {
            let raster = Raster::of(&indices, &Window::whole(indices.len(), 300), (width, height), 1);
            let drawn: usize = raster.counts.iter().map(|c| usize::from(*c)).sum();
            prop_assert_eq!(drawn, indices.len());
        }

        #[test]
        fn zooming_and_moving_stay_inside(steps in prop::collection::vec((0.2..5.0f64, 0.0..1.0f64, -2.0..2.0f64), 1..20), n in 1..100_000usize) {
            let whole = Window::whole(n, n as u64);
            let mut window = whole.clone();
            for (factor, at, by) in steps {
                window = window.zoomed((factor, 1.0), at, at, &whole).moved(by, by, &whole);
                prop_assert!(window.positions.start >= 0.0 && window.positions.end <= n as f64 + 1e-6);
                prop_assert!(window.positions.end > window.positions.start);
                prop_assert!(window.visible(n).end <= n);
            }
        }
    }
}
