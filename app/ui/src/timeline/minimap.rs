//! Minimap: the trainer's waits in the whole run, and the window on the screen.

use std::sync::Arc;

use egui::{
    Align2, CursorIcon, Mesh, PointerButton, Rangef, Rect, Response, Role, Sense, Shape, Stroke,
    StrokeKind, Ui, WidgetInfo, pos2,
};
use loadscope_insight::format;
use loadscope_trace::{Activity, Lane, Nanos, Track};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::canvas::{short_waits, stack};
use super::input::{Drag, Requests, WindowHandle};
use super::layout::{Drawn, Grid, lay_out};
use super::paint::lane_ground;
use super::past;
use super::scene::{Scene, Version};
use super::search_hits;
use crate::theme::{self, size, space};
use loadscope_model::view::TimeView;

/// Distance from an edge of the window at which it can be dragged, points.
const REACH: f32 = 5.0;
/// Minimum width of the window, so that it remains visible and draggable, points.
const NARROWEST: f32 = 6.0;

/// Returns the window of `view` on an axis that shows the whole run.
pub fn window(whole: &TimeAxis, view: TimeView) -> Rangef {
    let left = whole.x(view.start).clamp(whole.range.min, whole.range.max);
    let right = whole.x(view.end).clamp(whole.range.min, whole.range.max);
    let missing = (NARROWEST - (right - left)).max(0.0) / 2.0;
    Rangef::new(left - missing, right + missing)
}

/// Returns the part of the minimap at `x`.
pub fn handle_at(window: Rangef, x: f32) -> WindowHandle {
    // In a narrow window, the outer halves of the edges remain.
    let inner = REACH.min(window.span() / 4.0);
    if (window.min - REACH..window.min + inner).contains(&x) {
        WindowHandle::Left
    } else if (window.max - inner..window.max + REACH).contains(&x) {
        WindowHandle::Right
    } else if window.contains(x) {
        WindowHandle::Inside
    } else {
        WindowHandle::Outside
    }
}

/// Returns `view` after `handle` was dragged to `to`. For a moved window, the drag started at `from`.
pub fn moved(handle: WindowHandle, view: TimeView, from: Nanos, to: Nanos) -> TimeView {
    match handle {
        WindowHandle::Left => TimeView::new(to.min(view.end - TimeView::NARROWEST), view.end),
        WindowHandle::Right => TimeView::new(view.start, to),
        WindowHandle::Inside => view.shifted(to - from),
        WindowHandle::Outside => view.shifted(to - Nanos(view.start.0.midpoint(view.end.0))),
    }
}

/// Painted strip, cached until something changes.
#[derive(Default)]
pub(super) struct Cache {
    key: Option<(TimeAxis, Rangef, Version, usize, bool)>,
    mesh: Arc<Mesh>,
}

/// Draws the strip and handles dragging the window.
pub(super) fn show(
    ui: &Ui,
    rect: Rect,
    scene: &Scene<'_>,
    cache: &mut Cache,
    drag: &mut Option<Drag>,
    requests: &mut Requests,
) {
    let whole = TimeAxis::new(scene.whole, scene.axis.range, scene.axis.pixels_per_point);
    let strip = Rect::from_x_y_ranges(whole.range, rect.shrink2([0.0, 3.0].into()).y_range());
    let painter = ui.painter_at(rect);
    let middle = rect.center().y;
    let palette = scene.palette;
    let length = match scene.state.hides_future() {
        true => scene.state.session.run.end(),
        false => scene.state.extent().1,
    };
    let length = format::length(length);
    let length = painter.text(
        pos2(strip.left() - 8.0, middle),
        Align2::RIGHT_CENTER,
        length,
        theme::mono(size::SMALL),
        palette.weak,
    );
    let name = match scene.state.session.loaders.are_many() {
        true => say!("session"),
        false if scene.state.hides_future() => say!("so far"),
        false => say!("whole run"),
    };
    let name = painter.layout_no_wrap(name.to_owned(), theme::sans(size::SMALL), palette.weak);
    let left = rect.left() + space::MARGIN;
    // If there is no room for the name, the number is enough.
    if left + name.size().x + 4.0 <= length.left() {
        painter.galley(pos2(left, middle - name.size().y / 2.0), name, palette.weak);
    }
    painter.add(Shape::mesh(painted(scene, &whole, strip, cache)));
    let found = search_hits::visible(scene, &whole);
    search_hits::paint_ticks(&painter, strip, &whole, scene, &found);

    let frame = window(&whole, scene.axis.view);
    if scene.state.session.view.is_some() || scene.whole != scene.state.whole() {
        let veil = palette.canvas.gamma_multiply(0.62);
        for outside in [
            Rangef::new(strip.left(), frame.min),
            Rangef::new(frame.max, strip.right()),
        ] {
            if outside.span() > 0.0 {
                painter.rect_filled(Rect::from_x_y_ranges(outside, strip.y_range()), 0.0, veil);
            }
        }
        let frame = Rect::from_x_y_ranges(frame, rect.shrink2([0.0, 1.0].into()).y_range());
        painter.rect_stroke(
            frame,
            2.0,
            Stroke::new(1.0, palette.text),
            StrokeKind::Inside,
        );
    }
    let response = ui.interact(
        strip,
        ui.scope_id().with("minimap"),
        Sense::click_and_drag(),
    );
    response.widget_info(|| {
        WidgetInfo::labeled(Role::GraphicsObject, true, say!("Minimap of the whole run"))
    });
    handle_input(ui, &response, &whole, frame, scene, drag, requests);
}

/// Drags the window or one of its edges, and moves the window to a click outside.
fn handle_input(
    ui: &Ui,
    response: &Response,
    whole: &TimeAxis,
    frame: Rangef,
    scene: &Scene<'_>,
    drag: &mut Option<Drag>,
    requests: &mut Requests,
) {
    let view = scene.axis.view;
    let Some(pointer) = response.interact_pointer_pos().or(response.hover_pos()) else {
        return;
    };
    let at = whole.time(pointer.x);
    if response.drag_started_by(PointerButton::Primary) {
        let from = ui.input(|i| i.pointer.press_origin()).unwrap_or(pointer);
        *drag = Some(Drag::Window(
            handle_at(frame, from.x),
            view,
            whole.time(from.x),
        ));
    }
    if let Some(Drag::Window(handle, view, from)) = *drag
        && response.dragged_by(PointerButton::Primary)
    {
        requests.view = moved(handle, view, from, at);
    }
    let here = match *drag {
        Some(Drag::Window(handle, ..)) => handle,
        _ => handle_at(frame, pointer.x),
    };
    if response.clicked() && here == WindowHandle::Outside {
        requests.view = moved(WindowHandle::Outside, view, at, at);
    }
    ui.set_cursor_icon(match here {
        WindowHandle::Left | WindowHandle::Right => CursorIcon::ResizeHorizontal,
        WindowHandle::Inside if drag.is_some() => CursorIcon::Grabbing,
        WindowHandle::Inside => CursorIcon::Grab,
        WindowHandle::Outside => CursorIcon::Default,
    });
}

fn painted(scene: &Scene<'_>, whole: &TimeAxis, strip: Rect, cache: &mut Cache) -> Arc<Mesh> {
    let run = &scene.state.session.run;
    let key = Some((
        *whole,
        strip.y_range(),
        scene.version(whole),
        run.batches().address(),
        scene.palette.dark,
    ));
    if cache.key != key {
        let mut mesh = Mesh::default();
        mesh.add_colored_rect(strip, lane_ground(scene.palette));
        let lane = Lane::Trainer;
        let mut drawn = Vec::new();
        if let Some(spans) = run.track(Track { lane, row: 0 }) {
            lay_out(spans, &Grid::new(whole, run.end()), &mut drawn);
        }
        for item in &drawn {
            let (start, end) = match item {
                Drawn::Span(span) => (span.start, span.end),
                Drawn::Shares { start, end, .. } => (*start, *end),
            };
            let rect = Rect::from_x_y_ranges(whole.x(start)..=whole.x(end), strip.y_range());
            match item {
                Drawn::Span(span) => {
                    let is_short = span.activity == Activity::Waiting && !scene.long.covers(start);
                    let color = match is_short {
                        true => scene.palette.wait,
                        false => scene.palette.activity(span.activity),
                    };
                    mesh.add_colored_rect(rect, color);
                }
                Drawn::Shares { shares, .. } => {
                    // An activity narrower than a pixel fills only its part of the pixel.
                    let whole = ((end - start).0 as f64).max(whole.ns_per_point());
                    let colors = |activity| scene.palette.activity(activity);
                    let short = short_waits(scene.long, start, end, shares);
                    let short = (short, scene.palette.wait);
                    stack(&mut mesh, rect, shares, whole, 1.0, colors, short);
                }
            }
        }
        past::paint(&mut mesh, run, whole, strip.y_range(), scene.palette);
        *cache = Cache {
            key,
            mesh: Arc::new(mesh),
        };
    }
    Arc::clone(&cache.mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> TimeAxis {
        TimeAxis::new(
            TimeView::new(Nanos(0), Nanos(1_000_000)),
            Rangef::new(100.0, 1100.0),
            1.0,
        )
    }

    #[test]
    fn each_minimap_position_grabs_edge_inside_or_outside() {
        let view = TimeView::new(Nanos(200_000), Nanos(400_000));
        let window = window(&whole(), view);
        assert_eq!(window, Rangef::new(300.0, 500.0));
        let handles = [297.0, 303.0, 320.0, 498.0, 504.0, 600.0].map(|x| handle_at(window, x));
        assert_eq!(
            handles,
            [
                WindowHandle::Left,
                WindowHandle::Left,
                WindowHandle::Inside,
                WindowHandle::Right,
                WindowHandle::Right,
                WindowHandle::Outside
            ]
        );
    }

    #[test]
    fn a_narrow_minimap_window_can_still_be_grabbed() {
        let view = TimeView::new(Nanos(500_000), Nanos(500_200));
        let window = window(&whole(), view);
        assert!(window.span() >= NARROWEST);
        assert_eq!(handle_at(window, 600.0), WindowHandle::Inside);
    }

    #[test]
    fn dragging_moves_resizes_or_centres_the_view() {
        let view = TimeView::new(Nanos(200_000), Nanos(400_000));
        let to = |handle, from, to| {
            let v = moved(handle, view, Nanos(from), Nanos(to));
            (v.start.0, v.end.0)
        };
        assert_eq!(
            to(WindowHandle::Inside, 250_000, 300_000),
            (250_000, 450_000)
        );
        assert_eq!(to(WindowHandle::Left, 200_000, 100_000), (100_000, 400_000));
        assert_eq!(to(WindowHandle::Left, 200_000, 900_000), (399_800, 400_000));
        assert_eq!(
            to(WindowHandle::Right, 400_000, 100_000),
            (200_000, 200_200)
        );
        assert_eq!(to(WindowHandle::Outside, 0, 800_000), (700_000, 900_000));
    }
}
