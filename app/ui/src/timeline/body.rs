//! Lanes of the timeline: labels on the left, spans on the right. The trainer's lane is pinned, the others scroll.

use egui::scroll_area::ScrollSource;
use egui::style::ScrollAnimation;
use egui::{
    Align2, Painter, PointerButton, Pos2, Rangef, Rect, Role, ScrollArea, Sense, Shape, Stroke, Ui,
    UiBuilder, WidgetInfo, pos2,
};
use loadscope_trace::{Lane, Track};
use loadscope_words::say;

use super::axis::TimeAxis;
use super::canvas::Canvas;
use super::hit::{self, Target};
use super::input::{self, Requests};
use super::lanes::{Form, LaneBox};
use super::paint::Painted;
use super::scene::{Part, Scene, Version};
use super::{group_heading, icicle, names, overlay, tooltip};
use crate::kit::action::show_menu;
use crate::theme::{self, size, space};
use loadscope_model::command::Command;
use loadscope_model::menu_entries::MenuTarget;
use loadscope_model::view::Item;

/// Painted lanes, cached until something changes.
#[derive(Default)]
pub(super) struct Cache {
    key: Option<Key>,
    painted: Painted,
    /// Selection in the last frame.
    selection: Option<Item>,
}

/// Everything that the painted lanes depend on.
#[derive(Clone, Copy, PartialEq)]
struct Key {
    axis: TimeAxis,
    area: Rect,
    top: f32,
    lanes: f32,
    version: Version,
    run: usize,
    selection: Option<Item>,
    dark: bool,
}

/// Draws the scrolling lanes and handles the pointer. Returns the top of the first lane.
pub(super) fn show(
    ui: &mut Ui,
    area: Rect,
    scene: &Scene<'_>,
    cache: &mut Cache,
    requests: &mut Requests,
) -> f32 {
    let id = ui.scope_id().with("lanes");
    let shown = ui.scope_builder(UiBuilder::new().id_salt(id).max_rect(area), |ui| {
        // Each run starts at its first lanes.
        let scroll = ScrollArea::vertical()
            .id_salt((id, scene.state.session.run_number))
            .auto_shrink(false)
            .scroll_source(ScrollSource {
                drag: egui::scroll_area::DragScroll::Never,
                ..ScrollSource::default()
            });
        let shown = scroll.show_viewport(ui, |ui, _| {
            ui.set_min_size([area.width(), scene.lanes.height + space::MARGIN].into());
            let top = ui.max_rect().top();
            ui.set_clip_rect(area.intersect(ui.clip_rect()));
            let part = Part {
                area,
                top,
                lanes: scene.lanes,
            };
            contents(ui, &part, scene, cache, requests);
            reveal(ui, &part, scene, cache);
            top
        });
        shown.inner
    });
    shown.inner
}

/// Scrolls to a lane that was selected by keyboard or in another panel.
fn reveal(ui: &Ui, part: &Part<'_>, scene: &Scene<'_>, cache: &mut Cache) {
    let selection = scene.state.session.selection;
    if std::mem::replace(&mut cache.selection, selection) == selection {
        return;
    }
    if let Some(Item::Lane(lane)) = selection
        && let Some(edges) = part.edges(Track { lane, row: 0 })
        && !(part.area.y_range().contains(edges.min) && part.area.y_range().contains(edges.max))
    {
        let rect = Rect::from_x_y_ranges(part.area.x_range(), edges);
        ui.scroll_to_rect_animation(rect, None, ScrollAnimation::none());
    }
}

/// Draws a part of the lanes and handles the pointer.
pub(super) fn contents(
    ui: &Ui,
    part: &Part<'_>,
    scene: &Scene<'_>,
    cache: &mut Cache,
    requests: &mut Requests,
) {
    let area = part.area;
    let ground = ui.interact(area, ui.scope_id().with("ground"), Sense::click_and_drag());
    input::pan_on_drag(ui, &ground, scene, requests);
    if ground.clicked() {
        requests.commands.push(Command::Select(None));
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
    refresh(part, scene, cache);
    painter.add(Shape::Mesh(cache.painted.mesh.clone()));
    paint_labels(&painter, scene, cache);

    let names = ui.painter_at(gutter.intersect(ui.clip_rect()));
    let boxes = &part.lanes.boxes;
    for (k, lane) in boxes.iter().enumerate() {
        // The gap between a lane and its index queue belongs to the lane.
        let below = boxes
            .get(k + 1)
            .filter(|next| next.top < lane.bottom() + space::GAP);
        let below = below.map_or(lane.bottom(), |next| next.top);
        let row = Rect::from_x_y_ranges(area.x_range(), part.top + lane.top..=part.top + below);
        if row.intersects(area) {
            interact(ui, part, row, lane, scene, requests);
            names::lane(&names, part, lane, scene);
            if lane.lane == Lane::Reorder {
                group_heading::fold_reorder(ui, part, lane, scene, requests);
            }
        }
    }
    for chart in &part.lanes.charts {
        let row = area.x_range();
        let row = Rect::from_x_y_ranges(row, part.top + chart.top..=part.top + chart.bottom());
        if row.intersects(area) {
            names::chart(ui, &names, row, chart, scene, requests);
        }
    }
    for group in &part.lanes.heads {
        let row = area.x_range();
        let row = Rect::from_x_y_ranges(row, part.top + group.top..=part.top + group.bottom());
        if row.intersects(area) {
            group_heading::show(ui, &names, row, group, scene, requests);
        }
    }
}

/// Repaints the lanes if anything they depend on has changed.
fn refresh(part: &Part<'_>, scene: &Scene<'_>, cache: &mut Cache) {
    let run = &scene.state.session.run;
    let key = Some(Key {
        axis: scene.axis,
        area: part.area,
        top: part.top,
        lanes: part.lanes.height,
        version: scene.version(&scene.axis),
        run: run.batches().address(),
        selection: scene.state.session.selection,
        dark: scene.palette.dark,
    });
    if cache.key != key {
        cache.key = key;
        cache.painted.repaint(&Canvas {
            run,
            axis: scene.axis,
            lanes: part.lanes,
            top: part.top,
            visible: part.area.y_range(),
            palette: scene.palette,
            selection: scene.state.session.selection,
            long: scene.long,
            stacks: scene.stacks,
        });
    }
}

fn paint_labels(painter: &Painter, scene: &Scene<'_>, cache: &Cache) {
    for label in &cache.painted.labels {
        // The label of a span that starts left of the screen stays visible.
        let at = pos2(label.at.x.max(scene.axis.range.min + 4.0), label.at.y);
        painter.text(
            at,
            Align2::LEFT_CENTER,
            &label.text,
            theme::mono(size::SMALL),
            label.color,
        );
    }
}

fn interact(
    ui: &Ui,
    part: &Part<'_>,
    row: Rect,
    lane: &LaneBox,
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    let response = ui.interact(row, ui.scope_id().with(lane.lane), Sense::click_and_drag());
    response.widget_info(|| {
        let selected =
            matches!(scene.state.session.selection, Some(Item::Lane(l)) if lane.shows(l));
        WidgetInfo::selected(
            Role::GraphicsObject,
            true,
            selected,
            say!("{} lane", lane.name()),
        )
    });
    input::pan_on_drag(ui, &response, scene, requests);
    input::show_focus(ui, &response, part.area);
    if response.clicked() && !response.hovered() {
        // The lane can also be selected by keyboard.
        let lane = Item::Lane(lane.lane);
        requests.commands.push(Command::Select(Some(lane)));
        return;
    }
    let pointer = response.hover_pos().or(response.interact_pointer_pos());
    let thing = || {
        Some(match under(pointer?, part.top, lane, scene) {
            Target::Span(track, span) => MenuTarget::Span(track.lane, span),
            Target::Bucket(_) | Target::Lane(_) => MenuTarget::Lane(lane.lane),
        })
    };
    show_menu(&response, scene.state, thing, &mut requests.commands);
    let Some(pointer) = pointer else {
        return;
    };
    let target = under(pointer, part.top, lane, scene);
    let frame = icicle::under(pointer, part, lane, scene);
    input::click(&response, scene, &target, requests);
    if let Some(frame) = frame.as_ref().filter(|_| response.clicked()) {
        requests.commands.push(frame.command(scene.state));
    }
    let held = ui.input(|i| i.pointer.any_down());
    if !response.hovered() || held || response.dragged_by(PointerButton::Primary) {
        return;
    }
    requests.commands.push(Command::Hover(Some(target.item())));
    let strip = Rect::from_x_y_ranges(scene.axis.range, ui.clip_rect().y_range());
    overlay::paint_hovered(&ui.painter_at(strip), part, scene, &target);
    if let Some(frame) = frame {
        frame.show(ui, &response, scene);
    } else if scene.axis.range.contains(pointer.x) {
        let at = scene.axis.time(pointer.x);
        let edges = row_of(part.top, lane, pointer);
        tooltip::show(&response, edges, pointer.x, scene, &target, at);
    } else {
        tooltip::show_lane(&response, row, lane, scene);
    }
}

fn under(pointer: Pos2, top: f32, lane: &LaneBox, scene: &Scene<'_>) -> Target {
    if !scene.axis.range.contains(pointer.x) {
        return Target::Lane(lane.lane);
    }
    // The gap between two lanes and the stacks belong to the upper lane.
    let y = (pointer.y - top).min(lane.rows_bottom() - 0.5);
    hit::target(
        &scene.state.session.run,
        &scene.grid,
        lane,
        y,
        scene.axis.time(pointer.x),
    )
}

/// Returns the upper and lower edge of the row under the pointer.
fn row_of(top: f32, lane: &LaneBox, pointer: Pos2) -> Rangef {
    let (from, to) = match lane.form {
        Form::Depth | Form::Process => (lane.top, lane.rows_bottom()),
        Form::Rows(_) => lane.row(lane.row_at(pointer.y - top).unwrap_or(0)),
    };
    Rangef::new(top + from, top + to)
}
