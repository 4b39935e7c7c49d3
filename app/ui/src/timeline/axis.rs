//! Conversion between time and pixels. Times are whole nanoseconds. Floating point appears only in the last step to a pixel.

use egui::Rangef;
use loadscope_insight::format::clock;
use loadscope_trace::Nanos;

use loadscope_model::view::TimeView;

/// Horizontal time axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeAxis {
    /// Visible range.
    pub view: TimeView,
    /// Left and right edge, points.
    pub range: Rangef,
    /// Physical pixels per point.
    pub pixels_per_point: f32,
    points_per_ns: f64,
}

const SECOND: i64 = 1_000_000_000;

/// Clock steps from ten seconds to half a day, in seconds, each with its number of minor steps.
const CLOCK: [(i64, i64); 14] = [
    (10, 5),
    (15, 3),
    (30, 3),
    (60, 4),
    (120, 4),
    (300, 5),
    (600, 5),
    (900, 3),
    (1_800, 3),
    (3_600, 4),
    (7_200, 4),
    (10_800, 3),
    (21_600, 3),
    (43_200, 4),
];

/// Tick distances of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// Time between two labeled ticks.
    pub major: Nanos,
    /// Time between two unlabeled ticks. `None` if it would be below 1 ns.
    pub minor: Option<Nanos>,
}

impl TimeAxis {
    /// Minimum distance between two labels, points.
    pub const LABEL_EVERY: f32 = 90.0;
    /// Width of a digit of the axis, and the space around a label, points.
    const DIGIT: f32 = 6.7;
    const AIR: f32 = 20.0;

    /// Creates an axis that shows `view` in `range`.
    pub fn new(view: TimeView, range: Rangef, pixels_per_point: f32) -> Self {
        let range = Rangef::new(range.min, range.max.max(range.min + 1.0));
        Self {
            view,
            range,
            pixels_per_point,
            points_per_ns: f64::from(range.span()) / view.len().0 as f64,
        }
    }

    /// Returns the width of the axis, points.
    pub fn width(&self) -> f32 {
        self.range.span()
    }

    /// Returns the number of nanoseconds per point.
    pub fn ns_per_point(&self) -> f64 {
        self.view.len().0 as f64 / f64::from(self.width())
    }

    /// Returns the width of `time`, points.
    pub fn points(&self, time: Nanos) -> f32 {
        (time.0 as f64 * self.points_per_ns) as f32
    }

    /// Returns the position of `t`, on an edge between physical pixels. Distant instants are clamped to slightly outside the screen.
    pub fn x(&self, t: Nanos) -> f32 {
        let width = f64::from(self.width());
        let offset =
            ((t - self.view.start).0 as f64 * self.points_per_ns).clamp(-width, 2.0 * width);
        let scale = f64::from(self.pixels_per_point);
        (floor((f64::from(self.range.min) + offset) * scale + 0.5) as f64 / scale) as f32
    }

    /// Returns the time at `x`.
    pub fn time(&self, x: f32) -> Nanos {
        let offset = f64::from(x - self.range.min) * self.ns_per_point();
        self.view.start + Nanos(offset.round() as i64)
    }

    /// Returns true if `t` is on the screen.
    pub fn shows(&self, t: Nanos) -> bool {
        (self.view.start..=self.view.end).contains(&t)
    }

    /// Returns ticks at 1, 2 or 5 times a power of ten, or at round clock times, with enough space for their labels.
    pub fn ticks(&self) -> Ticks {
        let fits = |step: &i64| {
            let points = *step as f64 / self.ns_per_point();
            let label = self.label(self.view.end, Nanos(*step)).chars().count() as f32;
            let room = Self::LABEL_EVERY.max(label * Self::DIGIT + Self::AIR);
            points >= f64::from(room)
        };
        let (major, parts) = self
            .steps()
            .find(|(step, _)| fits(step))
            .unwrap_or((i64::MAX, 1));
        Ticks {
            major: Nanos(major),
            minor: (major % parts == 0).then_some(Nanos(major / parts)),
        }
    }

    /// Returns the visible multiples of `step` from time zero.
    pub fn multiples(&self, step: Nanos) -> impl Iterator<Item = Nanos> {
        let step = step.0.max(1);
        let first = -(-self.view.start.0.max(0)).div_euclid(step);
        let last = self.view.end.0.div_euclid(step);
        // No screen has more ticks. A wrong step must not hang the window.
        (first..=last)
            .take(10_000)
            .map(move |k| Nanos(k.saturating_mul(step)))
    }

    /// Formats `t` with the decimals that ticks `step` apart need, in the unit that suits the whole screen.
    pub fn label(&self, t: Nanos, step: Nanos) -> String {
        if self.is_clock() {
            return clock(t, 9_usize.saturating_sub(zeros(step.0)));
        }
        let (unit, digits) = match self.largest() {
            v if v >= 1_000_000_000 => ("s", 9),
            v if v >= 1_000_000 => ("ms", 6),
            v if v >= 1_000 => ("µs", 3),
            _ => ("ns", 0),
        };
        let power = 10_u64.pow(digits);
        let decimals = (digits as usize).saturating_sub(zeros(step.0));
        let value = t.0.unsigned_abs();
        let sign = if t.0 < 0 { "−" } else { "" };
        let (whole, rest) = (value / power, value % power);
        if decimals == 0 {
            return format!("{sign}{whole}\u{2009}{unit}");
        }
        let rest = format!("{rest:0width$}", width = digits as usize);
        format!("{sign}{whole}.{}\u{2009}{unit}", &rest[..decimals])
    }

    fn largest(&self) -> u64 {
        let (start, end) = (self.view.start.0, self.view.end.0);
        end.unsigned_abs().max(start.unsigned_abs())
    }

    /// Returns true from one hour on, where hours, minutes and seconds are easier to read.
    fn is_clock(&self) -> bool {
        self.largest() >= 3_600 * SECOND.unsigned_abs()
    }

    /// Returns the possible steps, each with its number of minor steps.
    fn steps(&self) -> impl Iterator<Item = (i64, i64)> {
        let is_clock = self.is_clock();
        let decimal = nice_steps()
            .take_while(move |step| !is_clock || *step < 10 * SECOND)
            .map(|step| (step, if leading_digit(step) == 2 { 4 } else { 5 }));
        let of_clock = CLOCK.map(|(seconds, parts)| (seconds * SECOND, parts));
        let days = nice_steps()
            .take(12)
            .map(|days| (days * 86_400 * SECOND, 4));
        let long = of_clock.into_iter().chain(days).filter(move |_| is_clock);
        decimal.chain(long)
    }

    /// Formats `t` with the precision of one pixel.
    pub fn exact(&self, t: Nanos) -> String {
        let fine = self.ns_per_point() / f64::from(self.pixels_per_point);
        let step = nice_steps()
            .take_while(|s| *s as f64 <= fine)
            .last()
            .unwrap_or(1);
        let zeros = zeros(step) as u32;
        let zeros = if self.is_clock() { zeros.min(9) } else { zeros };
        self.label(Nanos(t.0 - t.0.rem_euclid(10_i64.pow(zeros))), Nanos(step))
    }
}

/// Returns the largest integer at or below `x`. The standard `floor` is a function call if the target includes old processors.
#[inline]
pub(super) fn floor(x: f64) -> i64 {
    let whole = x as i64;
    whole - i64::from(whole as f64 > x)
}

/// Returns 1, 2, 5, 10, 20, …
fn nice_steps() -> impl Iterator<Item = i64> {
    (0..18).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_i64.pow(power)))
}

fn leading_digit(mut n: i64) -> i64 {
    while n >= 10 {
        n /= 10;
    }
    n
}

/// Returns the number of zeros at the end of a nice step.
fn zeros(step: i64) -> usize {
    step.max(1).ilog10() as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(start: i64, end: i64) -> TimeAxis {
        TimeAxis::new(
            TimeView::new(Nanos(start), Nanos(end)),
            Rangef::new(120.0, 1120.0),
            1.0,
        )
    }

    fn labels(axis: &TimeAxis) -> Vec<String> {
        let ticks = axis.ticks();
        let all = axis.multiples(ticks.major);
        all.map(|t| axis.label(t, ticks.major).replace('\u{2009}', " "))
            .collect()
    }

    #[test]
    fn labels_are_round_and_far_enough_apart() {
        assert_eq!(
            labels(&axis(0, 500_000_000))[..3],
            ["0 ms", "50 ms", "100 ms"]
        );
        assert_eq!(
            labels(&axis(-9, 2_000_000_000))[..3],
            ["0.0 s", "0.2 s", "0.4 s"]
        );
        assert_eq!(
            labels(&axis(12_000_000_000, 12_000_500_000))[0],
            "12.00000 s"
        );
        assert_eq!(labels(&axis(0, 200))[..2], ["0 ns", "20 ns"]);
        assert_eq!(axis(0, 500).ticks().minor, Some(Nanos(10)));
    }

    #[test]
    fn labels_from_an_hour_on_are_clock_times() {
        let hour = 3_600 * SECOND;
        assert_eq!(
            labels(&axis(0, 10 * hour))[..3],
            ["0:00:00", "1:00:00", "2:00:00"]
        );
        assert_eq!(
            labels(&axis(2 * hour - 1, 2 * hour + 150 * SECOND))[..2],
            ["2:00:00", "2:00:15"]
        );
        assert_eq!(
            labels(&axis(2 * hour, 2 * hour + SECOND))[..2],
            ["2:00:00.0", "2:00:00.1"]
        );
        assert_eq!(
            labels(&axis(0, 80 * 24 * hour))[..2],
            ["0:00:00", "10 d 0:00:00"]
        );
        let exact = axis(0, 10 * hour).exact(Nanos(3 * hour + 1_500_000_000));
        assert_eq!(exact, "3:00:01");
    }

    #[test]
    fn exact_labels_have_pixel_resolution() {
        let axis = axis(0, 2_000_000_000);
        assert_eq!(axis.exact(Nanos(1_234_567_890)), "1.234\u{2009}s");
        assert_eq!(
            axis.label(Nanos(-50_000_000), Nanos(10_000_000)),
            "−0.05\u{2009}s"
        );
    }

    #[test]
    fn far_times_are_drawn_just_outside_the_axis() {
        let axis = axis(0, 1_000);
        assert!(axis.x(Nanos::MAX) <= 3_200.0 && axis.x(Nanos(i64::MIN)) >= -1_000.0);
    }

    proptest! {
        #[test]
        fn time_to_pixel_and_back_is_within_half_a_pixel(start in 0..1_000_000_000_000i64, len in 200..1_000_000_000_000i64, share in 0.0..1.0f64) {
            let axis = axis(start, start + len);
            let t = Nanos(start + (share * len as f64) as i64);
            let error = (axis.time(axis.x(t)) - t).0.abs() as f64;
            // The tolerance is half a pixel plus the rounding error of f32 at these coordinates.
            prop_assert!(error <= axis.ns_per_point() * 0.51 + 1.0, "{error} ns");
        }

        #[test]
        fn tick_labels_keep_their_minimum_distance(start in 0..90_000_000_000_000i64, len in 200..9_000_000_000_000_000i64) {
            let axis = axis(start, start + len);
            let ticks = axis.ticks();
            prop_assert!(axis.points(ticks.major) >= TimeAxis::LABEL_EVERY * 0.999);
            prop_assert!(axis.multiples(ticks.major).count() <= 12);
        }
    }
}
