//! Pointer input (wheel, drag and click), and the animation of the view. All results are collected in `Requests`.

use egui::{CursorIcon, PointerButton, Rect, Response, Stroke, StrokeKind, Ui};
use loadscope_model::command::Command;
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::Nanos;

use super::hit::Target;
use super::scene::Scene;
use crate::theme::Palette;

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
        let at = at.filter(|x| scene.axis.range.contains(*x));
        if let (Target::Lane(_), Some(x)) = (target, at) {
            let end = scene.state.session.run.whole().end();
            let time = scene.axis.time(x).clamp(Nanos::ZERO, end.max(Nanos::ZERO));
            requests.commands.push(Command::Cursor(Cursor::At(time)));
        }
    }
}

/// Returns the range between two instants in either order. Returns `None` if they are equal.
pub(super) fn range(a: Nanos, b: Nanos) -> Option<Item> {
    (a != b).then(|| Item::Range(a.min(b), a.max(b)))
}

/// Displayed view, during an animation to another one.
#[derive(Debug, Default)]
pub struct ViewAnimation {
    /// View in the last frame.
    shown: Option<TimeView>,
    /// View requested by the state in the last frame.
    wanted: Option<Option<TimeView>>,
    /// View requested by the timeline itself.
    own: Option<TimeView>,
    /// Start of the animation: the view and the time in seconds.
    from: Option<(TimeView, f64)>,
}

impl ViewAnimation {
    /// Duration of the animation, seconds.
    const TIME: f64 = 0.12;

    /// Returns the view to show at `now` (seconds). The state requests `wanted`, which resolves to `target`.
    pub fn update(
        &mut self,
        wanted: Option<TimeView>,
        target: TimeView,
        now: f64,
        still: bool,
    ) -> TimeView {
        let changed = self.wanted.is_some_and(|before| before != wanted);
        if changed {
            let jump = still || (wanted.is_some() && wanted == self.own);
            self.from = self.shown.filter(|_| !jump).map(|shown| (shown, now));
        }
        self.wanted = Some(wanted);
        let shown = match self.from {
            Some((from, since)) if now - since < Self::TIME => {
                between(from, target, (now - since) / Self::TIME)
            }
            _ => {
                self.from = None;
                target
            }
        };
        self.shown = Some(shown);
        shown
    }

    /// Marks the next change to `view` as one of the timeline itself.
    pub fn skip_for(&mut self, view: TimeView) {
        self.own = Some(view);
    }

    /// Returns true during an animation.
    pub fn is_moving(&self) -> bool {
        self.from.is_some()
    }
}

/// Interpolates between two views. The animation starts fast and slows down.
fn between(a: TimeView, b: TimeView, share: f64) -> TimeView {
    let eased = 1.0 - (1.0 - share.clamp(0.0, 1.0)).powi(3);
    let mix = |a: Nanos, b: Nanos| a + Nanos(((b - a).0 as f64 * eased).round() as i64);
    TimeView::new(mix(a.start, b.start), mix(a.end, b.end))
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TimeView = TimeView {
        start: Nanos(0),
        end: Nanos(1_000_000),
    };
    const B: TimeView = TimeView {
        start: Nanos(400_000),
        end: Nanos(600_000),
    };

    #[test]
    fn commands_animate_the_view_and_direct_input_does_not() {
        let mut animation = ViewAnimation::default();
        assert_eq!(animation.update(None, A, 0.0, false), A);
        let half = animation.update(Some(B), B, 1.0, false);
        assert_eq!(half, A, "it begins where it was");
        let half = animation.update(Some(B), B, 1.06, false);
        assert!(half.start > A.start && half.start < B.start && animation.is_moving());
        assert_eq!(animation.update(Some(B), B, 1.2, false), B);
        assert!(!animation.is_moving());

        animation.skip_for(A);
        assert_eq!(animation.update(Some(A), A, 2.0, false), A);
        assert_eq!(animation.update(Some(B), B, 3.0, true), B, "still");
    }

    #[test]
    fn following_a_live_run_is_not_animated() {
        let mut animation = ViewAnimation::default();
        animation.update(None, A, 0.0, false);
        assert_eq!(animation.update(None, B, 0.01, false), B);
        assert!(!animation.is_moving());
    }
}
