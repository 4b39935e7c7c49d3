//! Curves of quantities over the range of time in the timeline.

use egui::{Color32, Id, Rangef, Stroke, Ui, Vec2b};
use egui_plot::{AxisHints, GridMark, HoverPosition, Line, PlotPoints, Span, VLine};
use loadscope_trace::{Counter, Lane, Nanos, Run};
use loadscope_words::say;

use super::history::History;
use super::static_plot::{AXIS, axis_hints, axis_marks, set_accessible_name, static_plot};
use crate::theme::Palette;
use crate::timeline::axis::TimeAxis;
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item, TimeView};

/// Points per curve, about one per four pixels.
const POINTS: usize = 200;
/// Maximum number of points of a rate curve.
const RATE_POINTS: usize = 120;
/// Height of the axis labels below the last curve, points.
pub const TICKS: f32 = 20.0;

/// Plot of one quantity or several.
pub struct Curve {
    /// Title above the curve.
    pub title: &'static str,
    /// Description with the unit.
    pub about: &'static str,
    unit: Unit,
    lines: Lines,
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Share,
    Batches,
    PerSecond,
}

/// Meaning of a color.
#[derive(Clone, Copy, PartialEq)]
enum LineColor {
    Stall,
    Held,
    Step,
    Fetch,
    Wait,
    Pin,
}

impl LineColor {
    fn color(self, palette: &Palette) -> Color32 {
        match self {
            Self::Stall => palette.stall,
            Self::Held => palette.held,
            Self::Step => palette.step,
            Self::Fetch => palette.fetch,
            Self::Wait => palette.wait,
            Self::Pin => palette.pin,
        }
    }
}

/// Returns all curves for `view`.
pub fn curves(run: &Run, history: &History, view: TimeView) -> Vec<Curve> {
    let of = |name, line_color, counter| {
        let values = run.counter(counter, view.start, view.end, POINTS);
        (name, line_color, values)
    };
    // Buckets with at most one batch would show a steady stream as spikes.
    let buckets = history.yielded(view.start, view.end) / 6;
    let buckets = buckets.clamp(12, RATE_POINTS);
    let (batches, samples) = history.throughput(view.start, view.end, buckets);
    let (outstanding, queues) = lanes(run, view);
    let curve = |title, about, unit, lines| Curve {
        title,
        about,
        unit,
        lines,
    };
    vec![
        curve(
            say!("Trainer waits"),
            say!("share of time without a batch, %"),
            Unit::Share,
            vec![of(say!("waiting"), LineColor::Stall, Counter::Waiting)],
        ),
        curve(
            say!("Throughput"),
            say!("samples yielded per second"),
            Unit::PerSecond,
            vec![(say!("samples"), LineColor::Step, samples)],
        ),
        curve(
            say!("Batches"),
            say!("yielded per second"),
            Unit::PerSecond,
            vec![(say!("batches"), LineColor::Step, batches)],
        ),
        curve(
            "tasks_outstanding",
            say!("batches dispatched and not yet received"),
            Unit::Batches,
            vec![("tasks_outstanding", LineColor::Fetch, outstanding)],
        ),
        curve(say!("Queues"), say!("batches"), Unit::Batches, queues),
        curve(
            say!("Held"),
            say!("finished batches waiting for an earlier one"),
            Unit::Batches,
            vec![of(say!("held"), LineColor::Held, Counter::Held)],
        ),
    ]
}

type Lines = Vec<(&'static str, LineColor, Vec<f64>)>;

/// Returns `tasks_outstanding` and the queues. `tasks_outstanding` is the sum over queues, workers and the pin thread, so each lane is
/// evaluated once.
fn lanes(run: &Run, view: TimeView) -> (Vec<f64>, Lines) {
    let (mut outstanding, mut index) = (vec![0.0; POINTS], vec![0.0; POINTS]);
    let mut lines = Vec::new();
    let add = |sum: &mut Vec<f64>, values: &[f64]| {
        sum.iter_mut().zip(values).for_each(|(sum, n)| *sum += n);
    };
    for (lane, _) in run.lanes() {
        if matches!(lane, Lane::Trainer | Lane::Reorder) {
            continue;
        }
        let values = run.counter(Counter::In(lane), view.start, view.end, POINTS);
        add(&mut outstanding, &values);
        match lane {
            Lane::IndexQueue(_) => add(&mut index, &values),
            Lane::ResultQueue => lines.push((say!("result queue"), LineColor::Fetch, values)),
            Lane::DataQueue => lines.push((say!("data queue (pinned)"), LineColor::Pin, values)),
            _ => {}
        }
    }
    lines.insert(0, (say!("index queues"), LineColor::Wait, index));
    (outstanding, lines)
}

impl Curve {
    /// Returns the lines and their colors, if there are several.
    pub fn legend(&self, palette: &Palette) -> Vec<(&'static str, Color32)> {
        let lines = self.lines.iter().filter(|_| self.lines.len() > 1);
        lines
            .map(|(name, line_color, _)| (*name, line_color.color(palette)))
            .collect()
    }
}

impl Curve {
    fn lines<'a>(&'a self, length: f64, palette: &'a Palette) -> impl Iterator<Item = Line<'a>> {
        self.lines.iter().map(move |(name, line_color, values)| {
            let step = length / values.len() as f64;
            let middles = values
                .iter()
                .enumerate()
                .map(|(k, v)| [(k as f64 + 0.5) * step, *v]);
            // Without these points, wide buckets would leave a gap at both ends.
            let first = values.first().map(|v| [0.0, *v]);
            let last = values.last().map(|v| [length, *v]);
            let points: PlotPoints<'_> = first.into_iter().chain(middles).chain(last).collect();
            let line = Line::new(*name, points)
                .color(line_color.color(palette))
                .width(1.5);
            let is_alone = self.lines.len() == 1 && *line_color != LineColor::Fetch;
            if is_alone { line.fill(0.0) } else { line }
        })
    }
}

/// Start of a drag over a curve.
pub type DragStart = Option<Nanos>;

/// Draws a curve, `height` points high. The last one has the time axis. A click sets the time cursor, a drag selects a range.
pub fn show(
    ui: &mut Ui,
    state: &State,
    curve: &Curve,
    (height, is_last): (f32, bool),
    drag_start: &mut DragStart,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let view = state.shown();
    let length = view.len().0 as f64;
    let unit = curve.unit;
    let top = match unit {
        Unit::Share => 1.0,
        _ => {
            curve
                .lines
                .iter()
                .flat_map(|(.., v)| v)
                .fold(1.0, |a: f64, b| a.max(*b))
                * 1.1
        }
    };
    let width = (ui.available_width() - AXIS).max(1.0);
    let axis = TimeAxis::new(view, Rangef::new(0.0, width), ui.pixels_per_point());
    let ticks = axis.ticks();
    let marks: Vec<GridMark> = axis
        .multiples(ticks.major)
        .map(|t| GridMark {
            value: (t - view.start).0 as f64,
            step_size: length,
        })
        .collect();
    let y_axis = axis_hints(AxisHints::new_y(), palette)
        .formatter(move |mark: GridMark, _: &_| unit.text(mark.value))
        .min_thickness(AXIS);
    let x_axis = axis_hints(AxisHints::new_x(), palette).formatter(move |mark: GridMark, _: &_| {
        axis.label(view.start + Nanos(mark.value.round() as i64), ticks.major)
    });
    let height = height + if is_last { TICKS } else { 0.0 };
    let response = static_plot(("plot", curve.title), height, palette)
        .custom_y_axes(vec![y_axis])
        .custom_x_axes(if is_last { vec![x_axis] } else { Vec::new() })
        .x_grid_spacer(move |_| marks.clone())
        .y_grid_spacer(move |_| axis_marks(top))
        .label_formatter(move |at| label(at, &axis, unit))
        .link_cursor(Id::unique("plots"), Vec2b::new(true, false))
        .show(ui, |plot| {
            // The timeline determines the range of time, and the plots follow it.
            plot.set_plot_bounds_x(0.0..=length);
            plot.set_plot_bounds_y(0.0..=top);
            curve
                .lines(length, palette)
                .for_each(|line| plot.line(line));
            if let Some((start, end)) = selected(state) {
                let x = |t: Nanos| (t - view.start).0 as f64;
                let span = Span::new("", x(start)..=x(end))
                    .fill(palette.strong.gamma_multiply(0.10))
                    .border(Stroke::new(1.0, palette.strong.gamma_multiply(0.6)));
                plot.span(span);
            }
            if state.session.cursor != Cursor::Live {
                let now = (state.now() - view.start).0 as f64;
                plot.vline(VLine::new("", now).color(palette.strong).width(1.0));
            }
            plot.pointer_coordinate()
        });
    set_accessible_name(&response.response, curve.title, curve.about);
    let time = |x: f64| view.start + Nanos(x.round() as i64);
    let at = response.inner.map(|p| time(p.x));
    // A drag is detected some pixels after its start.
    let origin = ui.input(|i| i.pointer.press_origin());
    let pressed = origin.map(|at| time(response.transform.value_from_position(at).x));
    commands.extend(pointer_command(&response.response, at, pressed, drag_start));
}

/// Returns the command of a click or a drag.
fn pointer_command(
    response: &egui::Response,
    at: Option<Nanos>,
    pressed: Option<Nanos>,
    drag_start: &mut DragStart,
) -> Option<Command> {
    let at = at?;
    if response.clicked() {
        return Some(Command::Cursor(Cursor::At(at)));
    }
    if response.drag_started() {
        *drag_start = pressed.or(Some(at));
    }
    if response.drag_stopped() {
        *drag_start = None;
        return None;
    }
    let start = drag_start.filter(|_| response.dragged())?;
    Some(Command::Select(Some(Item::Range(
        start.min(at),
        start.max(at),
    ))))
}

/// Returns the selected range, or the lifetime of the selected batch.
pub fn selected(state: &State) -> Option<(Nanos, Nanos)> {
    match state.session.selection? {
        Item::Range(start, end) => Some((start, end)),
        Item::Batch(row) => {
            let path = state.session.run.path(row);
            let last = path.last()?;
            let end = if last.stage.is_final() {
                last.start
            } else {
                state.session.run.end()
            };
            Some((path.first()?.start, end))
        }
        _ => None,
    }
}

fn label(at: &HoverPosition<'_>, axis: &TimeAxis, unit: Unit) -> Option<String> {
    match at {
        HoverPosition::NearDataPoint {
            plot_name,
            position,
            ..
        } if !plot_name.is_empty() => {
            let t = axis.view.start + Nanos(position.x.round() as i64);
            Some(say!(
                "{plot_name} {}\n{}",
                unit.text(position.y),
                axis.exact(t)
            ))
        }
        _ => None,
    }
}

impl Unit {
    fn text(self, value: f64) -> String {
        match self {
            Self::Share => format::percent(value),
            Self::Batches | Self::PerSecond if value.fract() == 0.0 || value >= 100.0 => {
                format::count(value.round() as u64)
            }
            Self::Batches | Self::PerSecond => format!("{value:.1}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use loadscope_trace::{BatchId, Event, EventKind, RunId, RunInfo, Stage};

    use super::*;

    #[test]
    fn stacked_lanes_add_up_to_tasks_outstanding() {
        let mut run = Run::new(RunInfo::default());
        let batch = BatchId { epoch: 0, idx: 0 };
        for (at, kind) in [
            (0, EventKind::EpochStarted { epoch: 0 }),
            (0, EventKind::dispatched(batch, Some(2), [1])),
            (
                300,
                EventKind::Entered {
                    batch,
                    stage: Stage::Fetching,
                },
            ),
            (
                500,
                EventKind::Entered {
                    batch,
                    stage: Stage::Returning,
                },
            ),
            (
                800,
                EventKind::Entered {
                    batch,
                    stage: Stage::Training,
                },
            ),
            (1_000, EventKind::EpochEnded { epoch: 0 }),
        ] {
            run.apply(&Event {
                at: Nanos(at),
                run: RunId(0),
                kind,
            });
        }
        let view = TimeView::new(Nanos(0), Nanos(1_000));
        let (outstanding, lines) = lanes(&run, view);
        let counter = Counter::TasksOutstanding;
        let whole = run.counter(counter, view.start, view.end, POINTS);
        for (sum, n) in outstanding.iter().zip(whole) {
            assert!((sum - n).abs() < 1e-9);
        }
        let sum: f64 = lines.iter().flat_map(|(.., values)| values).sum();
        // The batch is in a queue during its outstanding time, except for 200 ns.
        assert!((sum / POINTS as f64 - 0.6).abs() < 0.01, "{sum}");
    }
}
