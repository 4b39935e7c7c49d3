//! Drawing of the stacks below the spans of a zoomed lane: callers above, the calls in them below.

use egui::{Color32, Mesh, Pos2, Rect, Stroke, StrokeKind, Ui, pos2};
use loadscope_insight::code::{CodeChoice, Frame, NumberedFunction, Place};
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_trace::{Activity, Lane, Nanos, Run, place};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::canvas::{Canvas, Label, MOST_LABELS, SpanColors, label_width};
use super::lanes::LaneBox;
use super::scene::{Part, Scene};
use super::stacks::ROW;
use super::tooltip;
use crate::kit::titles::title;
use crate::panels::code::{frame_color, phase_color};

/// Paints the stacks below a lane.
pub(super) fn paint(
    mesh: &mut Mesh,
    labels: &mut Vec<Label>,
    canvas: &Canvas<'_>,
    colors: &SpanColors,
    lane: &LaneBox,
) {
    let Some(flame) = canvas.stacks.of(lane.lane) else {
        return;
    };
    let view = canvas.axis.view;
    let least = canvas.axis.ns_per_point() as i64;
    for row in 0..canvas.stacks.rows {
        flame.visit(row, (view.start.0, view.end.0), least, |frame| {
            let Some(function) = canvas.stacks.functions.get(frame.function) else {
                return;
            };
            let room = room(&canvas.axis, canvas.top, lane, row, frame);
            let (color, is_dimmed) = color(canvas, colors, lane.lane, frame, function, row);
            let ink = canvas.palette.text_on(color);
            mesh.add_colored_rect(room, color);
            let name = function.short_name();
            let place = place(&function.function.file, frame.line);
            let long = format!("{name} {place}").trim_end().to_owned();
            let mut texts = [long, name.to_owned()].into_iter();
            if labels.len() < MOST_LABELS
                && let Some(text) = texts.find(|text| label_width(text) <= room.width())
            {
                labels.push(Label {
                    at: pos2(room.left() + 4.0, room.center().y),
                    text,
                    color: match is_dimmed {
                        true => ink.lerp_to_gamma(color, 0.4),
                        false => ink,
                    },
                });
            }
        });
    }
}

/// Returns the area of a frame on the screen.
fn room(axis: &TimeAxis, top: f32, lane: &LaneBox, row: usize, frame: &Frame) -> Rect {
    let top = top + lane.rows_bottom() + row as f32 * ROW;
    let left = axis.x(Nanos(frame.start)).max(axis.range.min);
    let right = axis.x(Nanos(frame.end)).min(axis.range.max);
    // A gap of one point separates neighbors.
    Rect::from_min_max(
        pos2(left, top + 1.0),
        pos2((right - 1.0).max(left), top + ROW),
    )
}

/// Returns the color of a frame, and true if it is dimmed: a shade of its span for phases and functions of the user, gray for
/// libraries.
fn color(
    canvas: &Canvas<'_>,
    colors: &SpanColors,
    lane: Lane,
    frame: &Frame,
    function: &NumberedFunction,
    row: usize,
) -> (Color32, bool) {
    let middle = Nanos(frame.start.midpoint(frame.end));
    let span = span_at(canvas.run, lane, middle);
    let (activity, batch) = span.unwrap_or((Activity::Queued, None));
    let work = colors.of(activity, batch);
    let frame = match function.phase {
        Some(phase) => phase_color(canvas.palette, work, phase),
        None => frame_color(canvas.palette, work, function.is_user, row),
    };
    let is_dimmed = work != canvas.palette.activity(activity);
    match !function.is_user && is_dimmed {
        true => (canvas.palette.dimmed(frame), true),
        false => (frame, is_dimmed),
    }
}

fn span_at(run: &Run, lane: Lane, at: Nanos) -> Option<(Activity, Option<usize>)> {
    let lanes = match lane {
        Lane::Main => &[Lane::Main, Lane::Trainer][..],
        _ => &[lane],
    };
    let rows = lanes.iter().flat_map(|lane| run.rows_of(*lane));
    let spans = rows.filter_map(|spans| spans.all().get(spans.index_after(at)));
    let mut here = spans.filter(|span| span.start <= at && span.activity != Activity::Waiting);
    here.next().map(|span| (span.activity, span.batch()))
}

/// Frame under the pointer.
pub(super) struct Pointed {
    room: Rect,
    name: String,
    place: Place,
    length: Nanos,
    is_phase: bool,
}

/// Returns the frame under the pointer.
pub(super) fn under(
    pointer: Pos2,
    part: &Part<'_>,
    lane: &LaneBox,
    scene: &Scene<'_>,
) -> Option<Pointed> {
    let flame = scene.stacks.of(lane.lane)?;
    let below = pointer.y - part.top - lane.rows_bottom();
    if below < 0.0 || !scene.axis.range.contains(pointer.x) {
        return None;
    }
    let row = (below / ROW) as usize;
    let frame = flame.frame_at(row, scene.axis.time(pointer.x).0)?;
    let numbered = scene.stacks.functions.get(frame.function)?;
    Some(Pointed {
        room: room(&scene.axis, part.top, lane, row, frame),
        name: numbered.title(),
        place: flame.place(row, frame, &scene.stacks.functions)?,
        length: Nanos(frame.end - frame.start),
        is_phase: numbered.phase.is_some(),
    })
}

impl Pointed {
    /// Returns the command that shows the line in the code panel, after a click on the frame has selected its batch.
    pub(super) fn command(&self, state: &State) -> Command {
        Command::Code(CodeChoice {
            line: (!self.is_phase).then(|| self.place.clone()),
            ..state.session.code.for_another_item()
        })
    }

    /// Outlines the frame and shows its tooltip.
    pub(super) fn show(&self, ui: &Ui, response: &egui::Response, scene: &Scene<'_>) {
        let stroke = Stroke::new(1.0, scene.palette.strong);
        let painter = ui.painter_at(ui.clip_rect());
        painter.rect_stroke(self.room, 0.0, stroke, StrokeKind::Inside);
        tooltip::show_below(response, self.room, |ui| {
            title(ui, &*self.name);
            if self.is_phase {
                ui.label(say!("{} in this phase of the training step", self.length));
                return;
            }
            ui.label(format!("{}:{}", self.place.file, self.place.line));
            ui.label(say!("{} in this call", self.length));
        });
    }
}
