//! Pointer input: wheel, drag and click. All results are collected in `Requests`.

use egui::{CursorIcon, PointerButton, Rect, Response, Stroke, StrokeKind, Ui};
use loadscope_trace::Nanos;

use super::hit::Target;
use super::scene::Scene;
use super::view_animation::ViewAnimation;
use crate::theme::Palette;
use loadscope_model::command::Command;
use loadscope_model::view::{Cursor, Item, TimeView};

/// Requests of the user in one frame.
pub(super) struct Requests {
    /// The requested range.
    pub view: TimeView,
    /// True if the change of the range is animated.
    pub animate: bool,
    pub commands: Vec<Command>,
}

/// Part of the minimap that is dragged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowHandle {
    /// Left edge of the window.
    Left,
    /// Right edge of the window.
    Right,
    /// The window itself.
    Inside,
    /// The run outside the window.
    Outside,
}

/// Object that is dragged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drag {
    /// The time cursor.
    Cursor,
    /// The end of a range that starts here.
    Range(Nanos),
    /// A part of the minimap's window, with the view and the time at the start of the drag.
    Window(WindowHandle, TimeView, Nanos),
}

impl Requests {
    pub fn new(view: TimeView) -> Self {
        Self {
            view,
            animate: false,
            commands: Vec::new(),
        }
    }

    /// Returns the commands, with one for the view if it has changed.
    pub fn finish(mut self, scene: &Scene<'_>, animation: &mut ViewAnimation) -> Vec<Command> {
        if self.view != scene.axis.view {
            let view = self.view.kept_within(scene.whole);
            if !self.animate {
                animation.skip_for(view);
            }
            // At the end of an animation, the view no longer changes.
            if scene.state.session.view != Some(view) {
                self.commands.push(Command::View(Some(view)));
            }
        }
        self.commands
    }
}

/// Zooms and pans with the wheel. Returns the time under the pointer.
pub(super) fn wheel(
    ui: &Ui,
    rect: Rect,
    scene: &Scene<'_>,
    requests: &mut Requests,
) -> Option<Nanos> {
    if !ui.rect_contains_pointer(rect) {
        return None;
    }
    let (zoom, scroll, pointer) = ui.input(|i| {
        (
            i.zoom_delta(),
            i.smooth_scroll_delta().x,
            i.pointer.hover_pos(),
        )
    });
    let pointer = pointer?;
    let pivot = scene.axis.time(scene.axis.range.clamp(pointer.x));
    if zoom != 1.0 && zoom > 0.0 {
        requests.view = requests.view.zoomed(pivot, 1.0 / f64::from(zoom));
    }
    if scroll != 0.0 {
        pan(scene, requests, scroll);
    }
    scene.axis.range.contains(pointer.x).then_some(pivot)
}

fn pan(scene: &Scene<'_>, requests: &mut Requests, points: f32) {
    let by = f64::from(-points) * scene.axis.ns_per_point();
    requests.view = requests.view.shifted(Nanos(by.round() as i64));
}

/// Pans the view when lanes are dragged.
pub(super) fn pan_on_drag(
    ui: &Ui,
    response: &Response,
    scene: &Scene<'_>,
    requests: &mut Requests,
) {
    if response.dragged_by(PointerButton::Primary) || response.dragged_by(PointerButton::Middle) {
        ui.set_cursor_icon(CursorIcon::Grabbing);
        let points = response.drag_delta().x;
        if points != 0.0 {
            pan(scene, requests, points);
        }
    }
}

/// Outlines the focused widget for keyboard navigation.
pub(super) fn show_focus(ui: &Ui, response: &Response, area: Rect) {
    if response.has_focus() {
        let rect = response.rect.intersect(area).shrink(1.0);
        let stroke = Stroke::new(1.0, Palette::of(ui).strong);
        ui.painter_at(area)
            .rect_stroke(rect, 2.0, stroke, StrokeKind::Inside);
    }
}

/// Handles a click. A click selects. In the empty part of a lane, it also moves the cursor there. A double click zooms.
pub(super) fn click(
    response: &Response,
    scene: &Scene<'_>,
    target: &Target,
    requests: &mut Requests,
) {
    if response.double_clicked()
        && let Some((start, end)) = target.range(&scene.state.session.run)
    {
        let air = Nanos((end - start).0 / 10);
        requests.view = TimeView::new(start - air, end + air);
        requests.animate = true;
    } else if response.clicked() {
        requests.commands.push(Command::Select(Some(target.item())));
        // In an idle part of a lane, the user wants to know why. The lane's details explain the instant at the cursor.
        let at = response.interact_pointer_pos().map(|at| at.x);
        if let (Target::Lane(_), Some(x)) = (target, at) {
            let cursor = Cursor::At(scene.axis.time(x));
            requests.commands.push(Command::Cursor(cursor));
        }
    }
}

/// Returns the range between two instants in either order. Returns `None` if they are equal.
pub(super) fn range(a: Nanos, b: Nanos) -> Option<Item> {
    (a != b).then(|| Item::Range(a.min(b), a.max(b)))
}
