//! Old part of a run whose recording has a size limit. Left of the complete data, it shows a stacked bar per minute or per several minutes,
//! and the waits and errors that were kept.

use std::sync::Arc;

use egui::{
    Align2, Color32, Mesh, Painter, Rangef, Rect, Role, Sense, Shape, Stroke, Ui, WidgetInfo, pos2,
};
use loadscope_insight::past_sums::{
    describe_kept, describe_sums, kept_since, merge_minutes, samples_per_second,
};
use loadscope_insight::waits::LONG;
use loadscope_trace::{AwaitedStage, Lane, Nanos, Past, Run, Sums, Track};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::overlay::OverlayAreas;
use super::scene::Scene;
use super::tooltip;
use crate::kit::titles::title_text;
use crate::theme::{self, Palette, size, space};

/// Minimum width of a bar, points.
const NARROWEST: f32 = 3.0;
/// Height of a row of bars, and of the text above it, points.
const ROW: f32 = 44.0;
const WORDS: f32 = 18.0;

/// Sums on the screen, cached until something changes.
#[derive(Default)]
pub(super) struct Cache {
    cache_key: Option<(u64, TimeAxis, usize)>,
    stretches: Arc<[Sums]>,
}

/// Draws the old part where it is on the screen.
pub(super) fn show(ui: &Ui, areas: &OverlayAreas<'_>, scene: &Scene<'_>, cache: &mut Cache) {
    let run = &scene.state.session.run;
    let (Some(past), Some(until)) = (run.past(), kept_since(run)) else {
        return;
    };
    let range = scene.axis.range;
    let right = scene.axis.x(until).clamp(range.min, range.max);
    if right - range.min < 1.0 {
        return;
    }
    refresh(past, until, scene, cache);
    let columns = Rangef::new(range.min, right);
    let lanes = Rect::from_x_y_ranges(columns, areas.lanes.area.y_range());
    let painter = ui.painter_at(lanes);
    painter.rect_filled(lanes, 0.0, scene.palette.canvas);
    trainer(ui, areas, scene, columns, &cache.stretches);
    rows(&painter, lanes, scene, &cache.stretches);
    kept(&painter, lanes, scene, past);
    let edge = Stroke::new(1.0, scene.palette.weak);
    painter.vline(right - 0.5, lanes.y_range(), edge);
    let all = Rect::from_x_y_ranges(columns, areas.pinned.area.union(areas.lanes.area).y_range());
    hover(ui, all, scene, past, &cache.stretches);
}

fn refresh(past: &Past, until: Nanos, scene: &Scene<'_>, cache: &mut Cache) {
    let key = Some((
        scene.state.session.run_number,
        scene.axis,
        past.sums().len(),
    ));
    if cache.cache_key != key {
        let least = Nanos((scene.axis.ns_per_point() * f64::from(NARROWEST)) as i64);
        let (start, end) = scene.axis.view.ends();
        cache.cache_key = key;
        cache.stretches = merge_minutes(past, (start, end.min(until)), least).into();
    }
}

/// Returns the left and right edge of a bar.
fn columns(axis: &TimeAxis, sums: &Sums) -> Rangef {
    let left = axis.x(sums.from);
    Rangef::new(left, axis.x(sums.to).max(left + 1.0))
}

/// Draws training and waiting in the trainer's lane.
fn trainer(ui: &Ui, areas: &OverlayAreas<'_>, scene: &Scene<'_>, range: Rangef, all: &[Sums]) {
    let track = Track {
        lane: Lane::Trainer,
        row: 0,
    };
    let Some(edges) = areas.part(track).edges(track) else {
        return;
    };
    let mut mesh = Mesh::default();
    bars(&mut mesh, &scene.axis, edges, all, scene.palette);
    let area = Rect::from_x_y_ranges(range, areas.pinned.area.y_range());
    ui.painter_at(area).add(Shape::mesh(mesh));
}

/// Draws the old part into the minimap.
pub(super) fn paint(mesh: &mut Mesh, run: &Run, axis: &TimeAxis, rows: Rangef, palette: &Palette) {
    let (Some(past), Some(until)) = (run.past(), kept_since(run)) else {
        return;
    };
    let least = Nanos((axis.ns_per_point() * f64::from(NARROWEST)) as i64);
    let all = merge_minutes(past, (axis.view.start, until), least);
    bars(mesh, axis, rows, &all, palette);
}

/// Draws a bar per range: training below, waiting above. Waiting is red if the mean wait is long.
fn bars(mesh: &mut Mesh, axis: &TimeAxis, rows: Rangef, all: &[Sums], palette: &Palette) {
    for sums in all {
        let count = i64::try_from(sums.waits.count().max(1)).unwrap_or(i64::MAX);
        let waiting = match Nanos(sums.waited().0 / count) < LONG {
            true => palette.wait,
            false => palette.stall,
        };
        let parts = [(sums.steps.sum(), palette.step), (sums.waited(), waiting)];
        stack(mesh, columns(axis, sums), rows, sums.in_loop(), parts);
    }
}

/// Stacks parts of `whole` from the bottom up.
fn stack(
    mesh: &mut Mesh,
    columns: Rangef,
    rows: Rangef,
    whole: Nanos,
    parts: impl IntoIterator<Item = (Nanos, Color32)>,
) {
    let mut below = rows.max;
    for (time, color) in parts {
        let height = (time.0 as f64 / whole.0.max(1) as f64) as f32 * rows.span();
        let top = (below - height).max(rows.min);
        if top < below {
            mesh.add_colored_rect(Rect::from_x_y_ranges(columns, top..=below), color);
        }
        below = top;
    }
}

/// Draws the reasons for waiting and the sample rate, in the space of the other lanes.
fn rows(painter: &Painter, area: Rect, scene: &Scene<'_>, all: &[Sums]) {
    let palette = scene.palette;
    let mut top = area.top() + space::GAP;
    let mut row = |text: &str, draw: &mut dyn FnMut(&mut Mesh, Rangef)| {
        let words = pos2(area.left() + space::MARGIN, top);
        let height = Rangef::new(top + WORDS, top + WORDS + ROW);
        let font = theme::sans(size::SMALL);
        painter.text(words, Align2::LEFT_TOP, text, font, palette.weak);
        let ground = Rect::from_x_y_ranges(area.x_range(), height);
        painter.rect_filled(ground, 0.0, palette.panel);
        let mut mesh = Mesh::default();
        draw(&mut mesh, height);
        painter.add(Shape::mesh(mesh));
        top = height.max + space::GAP;
    };
    row(
        say!("Waiting, by stage of the awaited batch"),
        &mut |mesh, height| {
            for sums in all {
                let of = |(what, time): (&AwaitedStage, &Nanos)| (*time, color(palette, *what));
                let parts = sums.waited.iter().map(of);
                stack(
                    mesh,
                    columns(&scene.axis, sums),
                    height,
                    sums.in_loop(),
                    parts,
                );
            }
        },
    );
    let most = all.iter().map(samples_per_second).fold(0.0, f64::max);
    row(
        &say!("Samples per second, at most {most:.1}"),
        &mut |mesh, height| {
            for sums in all {
                let share = Nanos((samples_per_second(sums) / most.max(1e-9) * 1e9) as i64);
                let parts = [(share, palette.collate)];
                let one = Nanos(1_000_000_000);
                stack(mesh, columns(&scene.axis, sums), height, one, parts);
            }
        },
    );
}

fn color(palette: &Palette, what: AwaitedStage) -> Color32 {
    match what {
        AwaitedStage::Fetching => palette.fetch,
        AwaitedStage::Collating => palette.collate,
        AwaitedStage::Pinning => palette.pin,
        AwaitedStage::Held => palette.held,
        AwaitedStage::NotDispatched
        | AwaitedStage::Queued
        | AwaitedStage::Returning
        | AwaitedStage::Ready
        | AwaitedStage::End => palette.wait,
    }
}

/// Draws the waits and errors that were kept in full, as lines.
fn kept(painter: &Painter, area: Rect, scene: &Scene<'_>, past: &Past) {
    let stroke = Stroke::new(1.0, scene.palette.stall);
    let mut last = f32::MIN;
    for (at, kept) in past.kept() {
        let at = kept.wait.map_or(*at, |(start, _)| start);
        let is_trouble = kept.wait.is_some() || kept.message().is_some();
        let x = scene.axis.x(at);
        // More than one line per point cannot be distinguished.
        if is_trouble && scene.axis.shows(at) && (x - last).abs() >= 1.0 {
            painter.vline(x, area.top()..=area.top() + 6.0, stroke);
            last = x;
        }
    }
}

/// Shows the sums of the range under the pointer.
fn hover(ui: &Ui, area: Rect, scene: &Scene<'_>, past: &Past, all: &[Sums]) {
    let response = ui.interact(area, ui.scope_id().with("far past"), Sense::hover());
    response.widget_info(|| {
        let text = say!("Older data, kept as sums per minute");
        WidgetInfo::labeled(Role::GraphicsObject, true, text)
    });
    // The lanes below handle drags, so this widget is never hovered.
    let pointer = response.ctx.pointer_hover_pos();
    let pointer = pointer.filter(|_| response.contains_pointer());
    let Some(at) = pointer.map(|pointer| scene.axis.time(pointer.x)) else {
        return;
    };
    let Some(sums) = all.iter().find(|sums| (sums.from..sums.to).contains(&at)) else {
        return;
    };
    let mut text = describe_sums(sums);
    text.extend(describe_kept(past, (sums.from, sums.to)));
    let anchor = Rect::from_x_y_ranges(columns(&scene.axis, sums), area.y_range());
    tooltip::show_below(&response, anchor, |ui| {
        for (k, line) in text.iter().enumerate() {
            ui.label(match k {
                0 => title_text(ui, line),
                _ => egui::RichText::new(line).color(scene.palette.text),
            });
        }
    });
}
