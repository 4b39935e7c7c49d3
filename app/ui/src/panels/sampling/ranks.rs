//! Ranks × indices: a strip per rank, with marks above for repeated and omitted indices.

use egui::{Align2, Label, Rect, RichText, Sense, Shape, Stroke, Ui, UiBuilder, pos2, vec2};

use super::scatter::group_color;
use crate::kit::titles::title;
use crate::theme::{Palette, mono, size};
use loadscope_insight::format::{count, plural};
use loadscope_insight::sampling::overlay::Overlay;
use loadscope_insight::sampling::ranks::Ranks;
use loadscope_words::say;

/// Margins as in the scatter plot above, points.
const LEFT: f32 = 64.0;
const RIGHT: f32 = 12.0;
const TITLE: f32 = 24.0;
const MARKS: f32 = 12.0;
const AXIS: f32 = 14.0;
/// Maximum number of marks with their index next to them.
const NAMED: usize = 12;
const TALLEST: f32 = 160.0;

/// Returns the height of the plot, points.
pub fn height(ranks: &Ranks) -> f32 {
    TITLE + MARKS + strips(ranks) + AXIS + 8.0
}

fn strips(ranks: &Ranks) -> f32 {
    (ranks.shares.len() as f32 * 16.0).min(TALLEST)
}

/// Shows the ranks. `mine` is the current rank. Ranks in the overlay `above` have the color of their points there.
pub fn show(ui: &mut Ui, ranks: &Ranks, mine: u32, above: Option<&Overlay>) {
    let palette = Palette::of(ui);
    let room = vec2(ui.available_width(), height(ranks));
    let (outer, response) = ui.allocate_exact_size(room, Sense::hover());
    let summary = summary(ranks);
    super::head::name(&response, &say!("Ranks × indices: {summary}"));
    let left = outer.left() + LEFT;
    let top = outer.top();
    let line = Rect::from_min_size(pos2(left, top), vec2(outer.width() - LEFT - RIGHT, TITLE));
    let mut child = ui.new_child(UiBuilder::new().max_rect(line));
    child.horizontal(|ui| {
        title(ui, say!("Ranks × indices"));
        ui.add(Label::new(RichText::new(&summary).color(palette.weak)).truncate());
    });
    let painter = ui.painter();
    let rect = Rect::from_min_size(
        pos2(left, top + TITLE + MARKS),
        vec2(outer.width() - LEFT - RIGHT, strips(ranks)),
    );
    marks(ui, ranks, rect);
    axis(ui, ranks, rect);
    let step = rect.height() / ranks.shares.len() as f32;
    let every = (11.0 / step).ceil().max(1.0) as usize;
    for (k, share) in ranks.shares.iter().enumerate() {
        let strip = Rect::from_min_size(
            pos2(rect.left(), rect.top() + k as f32 * step),
            vec2(rect.width(), if step < 6.0 { step } else { step - 2.0 }),
        );
        let most = share.columns.iter().copied().max().unwrap_or(1).max(1);
        painter.rect_filled(strip, 0.0, palette.panel);
        let color = match above.and_then(|overlay| overlay.place(share.rank)) {
            Some(place) => group_color(palette, place),
            None if share.rank == mine => palette.text,
            None => palette.wait,
        };
        let x = |column: usize| strip.left() + column as f32 / ranks.columns as f32 * strip.width();
        for (column, n) in share.columns.iter().enumerate().filter(|(_, n)| **n > 0) {
            let ink = 0.3 + 0.7 * *n as f32 / most as f32;
            let cell = Rect::from_x_y_ranges(x(column)..=x(column + 1), strip.y_range());
            painter.rect_filled(cell, 0.0, palette.panel.lerp_to_gamma(color, ink));
        }
        if k.is_multiple_of(every) {
            painter.text(
                pos2(strip.left() - 6.0, strip.center().y),
                Align2::RIGHT_CENTER,
                say!("rank {}", share.rank),
                mono(size::SMALL),
                if share.rank == mine {
                    palette.text
                } else {
                    palette.weak
                },
            );
        }
    }
    response.on_hover_ui(|ui| {
        ui.label(&summary);
        ui.label(say!(
            "Triangle: index drawn more than once, in one rank or across ranks"
        ));
        ui.label(say!("Cross: index that no rank draws"));
    });
}

/// Returns, for example, `4 ranks, 251 indices each, 1 repeated as padding (triangles)`.
fn summary(ranks: &Ranks) -> String {
    let each = ranks.shares.iter().map(|s| s.len).max().unwrap_or(0);
    let mut text = say!(
        "{}, {} each",
        plural(ranks.shares.len() as u64, say!(n: "rank"), say!(n: "ranks")),
        plural(each, say!(n: "index"), say!(n: "indices"))
    );
    match ranks.drawn_again {
        Some(again) if again + ranks.padding > 0 => {
            text += &say!(", {} drawn again", count(again));
            if ranks.padding > 0 {
                text += &say!(", {} repeated as padding", count(ranks.padding));
            }
            text += say!(" (triangles)");
        }
        None if ranks.padding > 0 => {
            text += &say!(", {} repeated as padding (triangles)", count(ranks.padding));
        }
        _ => {}
    }
    if ranks.left_out > 0 {
        let how = match ranks.drawn_again {
            Some(_) => say!("not drawn"),
            None => say!("left out"),
        };
        text += &say!(", {} {how} (crosses)", count(ranks.left_out));
    }
    text
}

/// Draws the first and the last index below the strips.
fn axis(ui: &Ui, ranks: &Ranks, rect: Rect) {
    let palette = Palette::of(ui);
    let y = rect.bottom() + AXIS / 2.0;
    let last = ranks.bound.saturating_sub(1);
    let middle = say!("index").to_owned();
    for (x, place, text) in [
        (rect.left(), Align2::LEFT_CENTER, "0".to_owned()),
        (rect.center().x, Align2::CENTER_CENTER, middle),
        (rect.right(), Align2::RIGHT_CENTER, count(last)),
    ] {
        let font = mono(size::SMALL);
        ui.painter()
            .text(pos2(x, y), place, text, font, palette.weak);
    }
}

/// Draws repeated indices (triangles) and omitted ones (crosses) above the strips.
fn marks(ui: &Ui, ranks: &Ranks, rect: Rect) {
    let palette = Palette::of(ui);
    let painter = ui.painter();
    let stroke = Stroke::new(1.5, palette.strong);
    for (list, is_repeated) in [(&ranks.repeated, true), (&ranks.missing, false)] {
        let mut last = f32::NEG_INFINITY;
        for index in list {
            let share = (*index as f64 + 0.5) / ranks.bound.max(1) as f64;
            let x = rect.left() + share as f32 * rect.width();
            // If marks crowd, only the first is drawn. The summary has their number.
            if x - last < 8.0 {
                continue;
            }
            last = x;
            let (top, bottom) = (rect.top() - 9.0, rect.top() - 2.0);
            if list.len() <= NAMED {
                painter.text(
                    pos2(x + 6.0, (top + bottom) / 2.0),
                    Align2::LEFT_CENTER,
                    count(*index),
                    mono(size::SMALL),
                    palette.text,
                );
            }
            if is_repeated {
                let corners = vec![pos2(x - 4.0, top), pos2(x + 4.0, top), pos2(x, bottom)];
                painter.add(Shape::convex_polygon(corners, palette.strong, Stroke::NONE));
            } else {
                painter.line_segment([pos2(x - 3.0, top), pos2(x + 3.0, bottom)], stroke);
                painter.line_segment([pos2(x - 3.0, bottom), pos2(x + 3.0, top)], stroke);
            }
        }
    }
}
