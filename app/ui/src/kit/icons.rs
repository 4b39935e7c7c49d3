//! Icons of buttons. They are drawn, so they look the same with every font.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, pos2, vec2};

/// Icon of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Triangle that points right, for run and play.
    Play,
    /// Two bars.
    Pause,
    /// Filled square.
    Stop,
    /// One event back.
    StepBack,
    /// One event forward.
    StepForward,
    /// One batch back.
    BatchBack,
    /// One batch forward.
    BatchForward,
    /// To the previous item.
    JumpBack,
    /// To the next item.
    JumpForward,
    /// The left panel.
    PanelLeft,
    /// The right panel.
    PanelRight,
    /// Up in a list.
    Up,
    /// Down in a list.
    Down,
    /// Reset to the default: an arrow round a circle.
    Reset,
    /// Hidden future: a line with nothing solid to its right.
    Future,
}

/// Draws a line with strokes to its left and dots to its right.
fn future(painter: &Painter, rect: Rect, color: Color32) {
    let (left, top, bottom, centre) = (rect.left(), rect.top(), rect.bottom(), rect.center());
    let line = Stroke::new(1.3, color);
    painter.vline(centre.x, rect.expand(1.0).y_range(), line);
    for y in [top + 2.0, centre.y, bottom - 2.0] {
        painter.hline(left - 1.0..=centre.x - 2.0, y, line);
    }
    for (x, y) in [(3.0, 2.0), (6.0, 5.0), (3.0, 8.0)] {
        painter.circle_filled(pos2(centre.x + x, top + y), 0.8, color);
    }
}

/// Draws an icon, 10 points wide and high, around `centre`.
pub fn draw(painter: &Painter, centre: Pos2, icon: Icon, color: Color32) {
    let rect = Rect::from_center_size(centre, [10.0, 10.0].into());
    let (left, right, top, bottom) = (rect.left(), rect.right(), rect.top(), rect.bottom());
    let polygon = |points: [Pos2; 3]| {
        painter.add(Shape::convex_polygon(points.to_vec(), color, Stroke::NONE));
    };
    // Triangle that points from its base to `tip`.
    let arrow = |tip: f32, base: f32| {
        polygon([pos2(tip, centre.y), pos2(base, top), pos2(base, bottom)]);
    };
    let bar = |x: f32| {
        let bar = Rect::from_min_max(pos2(x, top), pos2(x + 2.0, bottom));
        painter.rect_filled(bar, 0.0, color);
    };
    let panel = |from: f32, to: f32| {
        let outer = rect.expand2([2.0, 0.5].into());
        painter.rect_stroke(outer, 1.0, Stroke::new(1.0, color), StrokeKind::Inside);
        let inner = Rect::from_min_max(pos2(from, outer.top()), pos2(to, outer.bottom()));
        painter.rect_filled(inner, 0.0, color);
    };
    match icon {
        Icon::Play => arrow(right, left + 1.0),
        Icon::Pause => {
            bar(left + 1.5);
            bar(right - 3.5);
        }
        Icon::Stop => _ = painter.rect_filled(rect.shrink(1.0), 1.0, color),
        Icon::StepForward => {
            bar(left);
            arrow(right, left + 4.0);
        }
        Icon::StepBack => {
            bar(right - 2.0);
            arrow(left, right - 4.0);
        }
        Icon::BatchForward => {
            arrow(centre.x, left - 1.0);
            arrow(right + 1.0, centre.x);
        }
        Icon::BatchBack => {
            arrow(centre.x, right + 1.0);
            arrow(left - 1.0, centre.x);
        }
        Icon::JumpForward => {
            arrow(right - 2.0, left);
            bar(right - 2.0);
        }
        Icon::JumpBack => {
            arrow(left + 2.0, right);
            bar(left);
        }
        Icon::PanelLeft => panel(left - 2.0, left + 3.0),
        Icon::PanelRight => panel(right - 3.0, right + 2.0),
        Icon::Up => polygon([
            pos2(centre.x, top + 2.0),
            pos2(left, bottom - 2.0),
            pos2(right, bottom - 2.0),
        ]),
        Icon::Reset => {
            let round = |k: usize| {
                let angle = (k as f32 / 12.0 * 290.0 - 60.0).to_radians();
                centre + 4.0 * vec2(angle.cos(), angle.sin())
            };
            let arc = (0..=12).map(round).collect();
            painter.add(Shape::line(arc, Stroke::new(1.3, color)));
            let tip = round(0);
            polygon([
                tip + vec2(-4.0, -0.5),
                tip + vec2(1.5, -3.0),
                tip + vec2(1.0, 3.0),
            ]);
        }
        Icon::Future => future(painter, rect, color),
        Icon::Down => polygon([
            pos2(centre.x, bottom - 2.0),
            pos2(left, top + 2.0),
            pos2(right, top + 2.0),
        ]),
    }
}
