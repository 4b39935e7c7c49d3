//! Stacked bars for time ranges with too many spans to draw.

use egui::{Color32, Mesh, Rangef, Rect};
use loadscope_insight::waits::LongWaits;
use loadscope_trace::{Activity, Nanos, Shares};

use super::canvas::Canvas;
use super::layout::Drawn;
use super::span_colors::SpanColors;

/// Draws stacked shares. `rows` is the number of rows that fill the height.
pub(super) fn bars(
    mesh: &mut Mesh,
    canvas: &Canvas<'_>,
    span_colors: &SpanColors,
    drawn: &[Drawn],
    edges: Rangef,
    rows: usize,
) {
    let pixel = 1.0 / canvas.axis.pixels_per_point;
    // An activity narrower than a pixel fills only its part of the pixel. Otherwise, a microsecond would look like a millisecond.
    let shortest = canvas.axis.ns_per_point() * f64::from(pixel);
    // Nearly every bar starts at the end of the previous one.
    let mut edge = (Nanos::MAX, 0.0);
    for item in drawn {
        let Drawn::Shares { start, end, shares } = item else {
            continue;
        };
        let left = match edge {
            (at, x) if at == *start => x,
            _ => canvas.axis.x(*start),
        };
        edge = (*end, canvas.axis.x(*end));
        let right = edge.1.max(left + pixel);
        let whole = ((*end - *start).0 as f64).max(shortest) * rows as f64;
        let rect = Rect::from_x_y_ranges(left..=right, edges);
        let colors = |activity| span_colors.of(activity, None);
        let short = short_waits(canvas.long, *start, *end, shares);
        stack(
            mesh,
            rect,
            shares,
            whole,
            pixel,
            colors,
            (short, span_colors.of_short_wait(None)),
        );
    }
}

/// Returns the waiting time from `start` to `end` in waits that are too short to be red.
pub(super) fn short_waits(long: &LongWaits, start: Nanos, end: Nanos, shares: &Shares) -> Nanos {
    let waited = shares.time_in(Activity::Waiting);
    match waited {
        Nanos::ZERO => waited,
        _ => (waited - long.between(start, end)).max(Nanos::ZERO),
    }
}

/// Draws one bar. Each activity is as high as its share of `whole` ns, but at least one pixel. Short waits, `short`, have
/// their own color.
pub(super) fn stack(
    mesh: &mut Mesh,
    rect: Rect,
    shares: &Shares,
    whole: f64,
    pixel: f32,
    color: impl Fn(Activity) -> Color32,
    (short, of_short): (Nanos, Color32),
) {
    let mut y = rect.bottom();
    let mut bar = |time: Nanos, color| {
        let height = (time.0 as f64 / whole) as f32 * rect.height();
        let top = (y - height.max(pixel)).max(rect.top());
        mesh.add_colored_rect(Rect::from_x_y_ranges(rect.x_range(), top..=y), color);
        y = top;
    };
    for (activity, time) in shares.iter() {
        if activity == Activity::Waiting && short > Nanos::ZERO {
            bar(short, of_short);
            if time > short {
                bar(time - short, color(activity));
            }
        } else {
            bar(time, color(activity));
        }
    }
}
