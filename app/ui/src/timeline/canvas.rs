//! Input for painting the lanes, and the labels, colors and bars of spans.

use egui::{Color32, Mesh, Pos2, Rangef, Rect};
use loadscope_insight::waits::LongWaits;
use loadscope_model::view::Item;
use loadscope_trace::{Activity, Lane, Nanos, Run, Shares};

use super::axis::TimeAxis;
use super::lanes::Lanes;
use super::layout::Drawn;
use super::stacks::Stacks;
use crate::theme::Palette;

/// Input for painting the lanes.
pub struct Canvas<'a> {
    /// Run that the lanes show.
    pub run: &'a Run,
    /// Conversion of time to pixels.
    pub axis: TimeAxis,
    /// Lanes with their positions.
    pub lanes: &'a Lanes,
    /// Top of the first lane, points.
    pub top: f32,
    /// Visible vertical range, points.
    pub visible: Rangef,
    /// Colors of the current theme.
    pub palette: &'static Palette,
    /// The selected item, which is highlighted.
    pub selection: Option<Item>,
    /// The waits that are long enough to be red.
    pub long: &'a LongWaits,
    /// Sampled stacks below the lanes.
    pub stacks: &'a Stacks,
}

/// Text in a span.
#[derive(Clone, Debug)]
pub struct Label {
    /// Left end, at half the height.
    pub at: Pos2,
    /// Text of the label, such as a batch.
    pub text: String,
    /// Color of the text.
    pub color: Color32,
}

/// Maximum number of labels. Text is expensive, and users do not read more.
pub(super) const MOST_LABELS: usize = 400;

/// Width of a letter of a label, points.
const LETTER: f32 = 6.6;

/// Returns the approximate width of a label with its margin, points.
pub(super) fn label_width(text: &str) -> f32 {
    text.len() as f32 * LETTER + 8.0
}

/// Colors of the activities on one lane, which depend on the selection.
pub(super) struct SpanColors {
    full: [Color32; Activity::ALL.len()],
    dimmed: [Color32; Activity::ALL.len()],
    /// Colors of waits that are too short to be red: normal and dimmed.
    short: [Color32; 2],
    selection: Option<Item>,
    lane_in_focus: bool,
}

impl SpanColors {
    pub fn new(canvas: &Canvas<'_>, shows: impl Fn(Lane) -> bool) -> Self {
        let full = Activity::ALL.map(|a| canvas.palette.activity(a));
        Self {
            full,
            dimmed: full.map(|color| canvas.palette.dimmed(color)),
            short: [
                canvas.palette.wait,
                canvas.palette.dimmed(canvas.palette.wait),
            ],
            selection: canvas.selection,
            lane_in_focus: matches!(canvas.selection, Some(Item::Lane(lane)) if shows(lane)),
        }
    }

    /// Returns the color of an activity. `batch` is `None` for several batches together.
    pub fn of(&self, activity: Activity, batch: Option<usize>) -> Color32 {
        let in_focus = match self.selection {
            None | Some(Item::Range(..) | Item::Sampler) => true,
            Some(Item::Batch(row)) => batch == Some(row),
            Some(Item::Lane(_)) => self.lane_in_focus,
            Some(Item::Activity(selected)) => selected == activity,
        };
        let colors = if in_focus { &self.full } else { &self.dimmed };
        colors[activity as usize]
    }

    /// Returns the color of a wait that is too short to be red.
    pub fn of_short_wait(&self, batch: Option<usize>) -> Color32 {
        let is_dimmed = self.of(Activity::Waiting, batch) != self.full[Activity::Waiting as usize];
        self.short[usize::from(is_dimmed)]
    }

    /// Returns the color of text on `ground`. It is dimmed together with its span.
    pub fn text(&self, palette: &Palette, ground: Color32) -> Color32 {
        let text = palette.text_on(ground);
        if self.full.contains(&ground) || self.short[0] == ground {
            text
        } else {
            text.lerp_to_gamma(ground, 0.4)
        }
    }
}

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
