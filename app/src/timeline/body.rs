//! The lanes: labels on the left, spans on the right, in a vertical scroll.

use eframe::egui::scroll_area::ScrollSource;
use eframe::egui::{
    Align2, Painter, PointerButton, Pos2, Rect, Role, ScrollArea, Sense, Shape, Stroke, Ui,
    UiBuilder, WidgetInfo, pos2,
};
use loadscope_trace::{Activity, Lane, Nanos};

use super::axis::TimeAxis;
use super::hit::{self, Target};
use super::input::{self, Asks};
use super::lanes::{Form, LaneBox};
use super::overlay;
use super::paint::{Canvas, Painted};
use super::scene::Scene;
use super::tooltip;
use crate::command::Command;
use crate::format;
use crate::theme::{self, size, space};
use crate::view::Item;

/// What is kept from frame to frame as long as nothing changes.
#[derive(Default)]
pub(super) struct Cache {
    key: Option<Key>,
    painted: Painted,
}

/// What the painted lanes depend on.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    axis: TimeAxis,
    area: Rect,
    top: f32,
    lanes: f32,
    events: u64,
    run: usize,
    selection: Option<Item>,
    dark: bool,
}

/// Draws the lanes and handles the pointer on them.
pub(super) fn show(ui: &mut Ui, area: Rect, scene: &Scene<'_>, cache: &mut Cache, asks: &mut Asks) {
    let id = ui.scope_id().with("lanes");
    ui.scope_builder(UiBuilder::new().id_salt(id).max_rect(area), |ui| {
        let scroll = ScrollArea::vertical()
            .id_salt(id)
            .auto_shrink(false)
            .scroll_source(ScrollSource {
                drag: eframe::egui::scroll_area::DragScroll::Never,
                ..ScrollSource::default()
            });
        scroll.show_viewport(ui, |ui, _| {
            ui.set_min_size([area.width(), scene.lanes.height + space::MARGIN].into());
            let top = ui.max_rect().top();
            ui.set_clip_rect(area.intersect(ui.clip_rect()));
            contents(ui, area, top, scene, cache, asks);
        });
    });
}

fn contents(ui: &Ui, area: Rect, top: f32, scene: &Scene<'_>, cache: &mut Cache, asks: &mut Asks) {
    let ground = ui.interact(area, ui.scope_id().with("ground"), Sense::click_and_drag());
    input::grab(ui, &ground, scene, asks);
    if ground.clicked() {
        asks.commands.push(Command::Select(None));
    }
    let gutter = Rect::from_x_y_ranges(area.left()..=scene.axis.range.min - 1.0, area.y_range());
    ui.painter().rect_filled(gutter, 0.0, scene.palette.panel);
    ui.painter().vline(
        gutter.right() + 0.5,
        area.y_range(),
        Stroke::new(1.0, scene.palette.line),
    );

    let strip = Rect::from_x_y_ranges(scene.axis.range, area.y_range()).intersect(ui.clip_rect());
    let painter = ui.painter_at(strip);
    refresh(area, top, scene, cache);
    painter.add(Shape::Mesh(cache.painted.mesh.clone()));
    paint_labels(&painter, scene, cache);
    overlay::paint(&painter, top, scene);

    for (k, lane) in scene.lanes.boxes.iter().enumerate() {
        let below = scene
            .lanes
            .boxes
            .get(k + 1)
            .map_or(lane.bottom(), |next| next.top);
        let row = Rect::from_x_y_ranges(area.x_range(), top + lane.top..=top + below);
        paint_name(
            ui,
            &ui.painter_at(gutter.intersect(ui.clip_rect())),
            row,
            top,
            lane,
            scene,
        );
        if row.intersects(area) {
            interact(ui, row, top, lane, scene, asks);
        }
    }
}

/// Paints the lanes anew if anything they depend on has changed.
fn refresh(area: Rect, top: f32, scene: &Scene<'_>, cache: &mut Cache) {
    let run = &scene.state.run;
    let key = Some(Key {
        axis: scene.axis,
        area,
        top,
        lanes: scene.lanes.height,
        events: run.events(),
        run: run.batches().as_ptr() as usize,
        selection: scene.state.selection,
        dark: scene.palette.dark,
    });
    if cache.key != key {
        cache.key = key;
        cache.painted.repaint(&Canvas {
            run,
            axis: scene.axis,
            lanes: scene.lanes,
            top,
            visible: area.y_range(),
            palette: scene.palette,
            selection: scene.state.selection,
        });
    }
}

fn paint_labels(painter: &Painter, scene: &Scene<'_>, cache: &Cache) {
    for label in &cache.painted.labels {
        // A span that begins left of the screen keeps its label on it.
        let at = pos2(label.at.x.max(scene.axis.range.min + 4.0), label.at.y);
        painter.text(
            at,
            Align2::LEFT_CENTER,
            &label.text,
            theme::mono(size::SMALL),
            label.colour,
        );
    }
}

/// Name and business of a lane.
fn paint_name(ui: &Ui, painter: &Painter, row: Rect, top: f32, lane: &LaneBox, scene: &Scene<'_>) {
    let palette = scene.palette;
    let item = Item::Lane(lane.lane);
    let place = Rect::from_x_y_ranges(row.x_range(), top + lane.top..=top + lane.bottom());
    if scene.state.selection == Some(item) {
        painter.rect_filled(place, 0.0, palette.selected());
    } else if scene.state.hovered == Some(item) {
        painter.rect_filled(place, 0.0, palette.hovered());
    }
    let (name, font, colour) = match lane.lane {
        Lane::IndexQueue(_) => (
            "index queue".to_owned(),
            theme::words(size::SMALL),
            palette.weak,
        ),
        lane if lane.is_queue() => (lane.to_string(), theme::words(size::BODY), palette.weak),
        lane => (lane.to_string(), theme::words(size::BODY), palette.text),
    };
    let indent = match lane.lane {
        Lane::IndexQueue(_) => space::MARGIN + 8.0,
        _ => space::MARGIN,
    };
    let at = pos2(place.left() + indent, place.center().y);
    painter.text(at, Align2::LEFT_CENTER, name, font, colour);
    if !lane.lane.is_queue() && ui.is_rect_visible(place) {
        let (shares, whole) = scene.shares(lane);
        let work = |a: &Activity| {
            matches!(
                a,
                Activity::Training | Activity::Fetching | Activity::Collating | Activity::Pinning
            )
        };
        let work = Nanos(
            shares
                .iter()
                .filter(|(a, _)| work(a))
                .map(|(_, time)| time.0)
                .sum(),
        );
        let share = work.0 as f64 / whole.0.max(1) as f64;
        let at = pos2(scene.axis.range.min - 8.0, place.center().y);
        painter.text(
            at,
            Align2::RIGHT_CENTER,
            format::percent(share),
            theme::mono(size::SMALL),
            palette.weak,
        );
    }
}

fn interact(ui: &Ui, row: Rect, top: f32, lane: &LaneBox, scene: &Scene<'_>, asks: &mut Asks) {
    let response = ui.interact(row, ui.scope_id().with(lane.lane), Sense::click_and_drag());
    response.widget_info(|| {
        let selected = scene.state.selection == Some(Item::Lane(lane.lane));
        WidgetInfo::selected(
            Role::GraphicsObject,
            true,
            selected,
            format!("{} lane", lane.lane),
        )
    });
    input::grab(ui, &response, scene, asks);
    let Some(pointer) = response.hover_pos().or(response.interact_pointer_pos()) else {
        return;
    };
    let target = under(pointer, top, lane, scene);
    input::click(&response, scene, &target, asks);
    let held = ui.input(|i| i.pointer.any_down());
    if !response.hovered() || held || response.dragged_by(PointerButton::Primary) {
        return;
    }
    asks.commands.push(Command::Hover(Some(target.item())));
    let strip = Rect::from_x_y_ranges(scene.axis.range, ui.clip_rect().y_range());
    overlay::paint_hovered(&ui.painter_at(strip), top, scene, &target);
    if scene.axis.range.contains(pointer.x) {
        let at = scene.axis.time(pointer.x);
        tooltip::show(
            &response,
            row_of(top, lane, pointer),
            pointer.x,
            scene,
            &target,
            at,
        );
    } else {
        tooltip::show_lane(&response, row, lane, scene);
    }
}

fn under(pointer: Pos2, top: f32, lane: &LaneBox, scene: &Scene<'_>) -> Target {
    if !scene.axis.range.contains(pointer.x) {
        return Target::Lane(lane.lane);
    }
    // Between two lanes counts as the one above.
    let y = (pointer.y - top).min(lane.bottom() - 0.5);
    hit::target(
        &scene.state.run,
        &scene.grid,
        lane,
        y,
        scene.axis.time(pointer.x),
    )
}

/// Upper and lower edge of what the pointer is over.
fn row_of(top: f32, lane: &LaneBox, pointer: Pos2) -> eframe::egui::Rangef {
    let (from, to) = match lane.form {
        Form::Depth => (lane.top, lane.bottom()),
        Form::Rows(_) => lane.row(lane.row_at(pointer.y - top).unwrap_or(0)),
    };
    eframe::egui::Rangef::new(top + from, top + to)
}
