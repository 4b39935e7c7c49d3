//! Class balance, with a bar per class and a tick at the expected count.

use egui::{Align2, Label, Rect, RichText, Sense, Ui, pos2, vec2};

use super::head::{self, title};
use crate::kit::empty::hint;
use crate::theme::{Palette, mono, sans, size};
use loadscope_insight::format::count;
use loadscope_insight::sampling::balance::{Balance, Class, Reference};
use loadscope_insight::sampling::findings::p_value;
use loadscope_words::say;

/// Maximum number of classes shown, those with the largest deviation.
const MAX_CLASSES: usize = 14;
const ROW: f32 = 18.0;

/// Shows the class balance.
pub fn show(ui: &mut Ui, balance: &Balance) {
    let palette = Palette::of(ui);
    let figure = balance
        .test
        .map(|t| say!("p {}", p_value(t.p)))
        .unwrap_or_default();
    title(ui, say!("Class balance"), &figure);
    let shown = shown(balance);
    let most = shown
        .iter()
        .map(|c| c.expected.unwrap_or(0.0).max(c.drawn as f64))
        .fold(1.0, f64::max);
    for class in &shown {
        row(ui, class, most);
    }
    let hidden = balance.classes.len() - shown.len();
    if hidden > 0 {
        let text = say!(
            "{} more classes are closer to the expected share",
            count(hidden as u64)
        );
        hint(ui, &text);
    }
    let against = match balance.against {
        Reference::Weights => say!("Tick: share expected from the weights"),
        Reference::Dataset => say!("Tick: its share of the dataset"),
        Reference::Nothing => say!("No expected shares to compare with"),
    };
    hint(ui, against);
    if let Some(test) = balance.test {
        let text = say!(
            "χ² = {:.2}, {} degrees of freedom, p {}",
            test.statistic,
            test.degrees,
            p_value(test.p)
        );
        ui.add(
            Label::new(
                RichText::new(text)
                    .font(mono(size::SMALL))
                    .color(palette.text),
            )
            .wrap(),
        );
    }
    if let Some((seen, expected)) = balance.mixture {
        let text =
            say!("{seen:.1} classes per batch ({expected:.1} expected from independent draws)");
        hint(ui, &text);
    }
    if balance.unknown > 0 {
        let text = say!("Class unknown for {} samples", count(balance.unknown));
        hint(ui, &text);
    }
}

fn shown(balance: &Balance) -> Vec<&Class> {
    let mut all: Vec<(usize, &Class)> = balance.classes.iter().enumerate().collect();
    if all.len() > MAX_CLASSES {
        let off = |c: &Class| {
            let expected = c.expected.unwrap_or(c.drawn as f64);
            (c.drawn as f64 - expected).abs() / expected.max(1.0).sqrt()
        };
        all.sort_by(|a, b| off(b.1).total_cmp(&off(a.1)));
        all.truncate(MAX_CLASSES);
        all.sort_by_key(|(k, _)| *k);
    }
    all.into_iter().map(|(_, class)| class).collect()
}

/// Draws a class as a bar, with a tick at its expected count.
fn row(ui: &mut Ui, class: &Class, most: f64) {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let expected = class.expected.map(|e| format!("{e:.0}"));
    let text = match &expected {
        Some(expected) => say!(
            "{}: {} drawn, {expected} expected",
            class.name,
            count(class.drawn)
        ),
        None => say!("{}: {} drawn", class.name, count(class.drawn)),
    };
    head::name(&response, &text);
    let painter = ui.painter();
    let (left, right) = (rect.left() + 92.0, rect.right() - 60.0);
    let galley = painter.layout(
        class.name.clone(),
        sans(size::SMALL),
        palette.text,
        f32::INFINITY,
    );
    let clip = Rect::from_min_max(rect.min, pos2(left - 8.0, rect.bottom()));
    let place = pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
    painter
        .with_clip_rect(clip)
        .galley(place, galley, palette.text);
    let x = |value: f64| left + (value / most) as f32 * (right - left);
    let bar = Rect::from_min_max(
        pos2(left, rect.top() + 5.0),
        pos2(x(class.drawn as f64), rect.bottom() - 5.0),
    );
    painter.rect_filled(bar, 0.0, palette.wait);
    if let Some(expected) = class.expected {
        let tick = Rect::from_center_size(pos2(x(expected), rect.center().y), vec2(2.0, ROW - 4.0));
        painter.rect_filled(tick, 0.0, palette.strong);
    }
    let place = pos2(rect.right(), rect.center().y);
    let number = count(class.drawn);
    painter.text(
        place,
        Align2::RIGHT_CENTER,
        number,
        mono(size::SMALL),
        palette.text,
    );
    response.on_hover_text(text);
}
