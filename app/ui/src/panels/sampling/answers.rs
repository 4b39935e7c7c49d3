//! Answers next to the scatter plot: coverage, shuffle quality and class balance.

use egui::{
    Align, Align2, Button, Label, Layout, Rect, RichText, Role, Sense, Shape, Stroke, Ui,
    WidgetInfo, pos2, vec2,
};

use super::classes;
use super::head::{name, title};
use super::scatter::short;
use crate::kit::empty::hint;
use crate::kit::parts::mark;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::format::{count, percent};
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::coverage::Coverage;
use loadscope_insight::sampling::shuffle::Shuffle;
use loadscope_lessons::Part;
use loadscope_words::say;

const ROW: f32 = 18.0;
/// Height of the histogram of gaps, points.
const HISTOGRAM: f32 = 72.0;
/// Maximum number of indices listed. The Copy button copies all of them.
const LISTED: usize = 24;

/// Shows all available answers. `in_case` omits the one that names the cause of a case.
pub fn show(ui: &mut Ui, answers: &OrderAnalysis, in_case: bool) {
    ui.spacing_mut().item_spacing.y = space::GAP;
    let is_rank = answers.ranks.is_some();
    let shown = ui.scope(|ui| coverage(ui, &answers.coverage, is_rank));
    mark(ui, Part::Coverage, shown.response.rect);
    if let Some(s) = &answers.shuffle {
        separate(ui);
        shuffle(ui, s, super::head::judges(answers));
    }
    separate(ui);
    match &answers.balance {
        Some(balance) => classes::show(ui, balance),
        None => {
            title(ui, say!("Class balance"), "—");
            hint(
                ui,
                say!("No class labels in the dataset, the batches or the weights"),
            );
        }
    }
    if let Some(sharing) = answers.sharing.as_ref().filter(|_| !in_case) {
        separate(ui);
        title(ui, say!("Iterable-style dataset"), "");
        hint(
            ui,
            &say!(
                "{} workers yield {} samples, {} of them unique",
                sharing.workers,
                count(sharing.yielded),
                count(sharing.different)
            ),
        );
    }
}

fn separate(ui: &mut Ui) {
    ui.add_space(space::GAP * 2.0);
    ui.separator();
    ui.add_space(space::GAP);
}

fn coverage(ui: &mut Ui, c: &Coverage, is_rank: bool) {
    let figure = match c.bound {
        0 => "—".to_owned(),
        bound => share(c.distinct, bound),
    };
    title(ui, say!("Coverage"), &figure);
    let last = c.times.iter().rposition(|n| *n > 0).unwrap_or(0).max(2);
    let most = c.times.iter().copied().max().unwrap_or(1).max(1);
    for (times, indices) in c.times.iter().enumerate().take(last + 1) {
        bar(ui, times, *indices, most);
    }
    if !c.missing.is_empty() {
        let texts = c.missing.iter().map(|(from, to)| range(*from, *to));
        let what = if is_rank {
            say!("Not on this rank")
        } else {
            say!("Missing")
        };
        list(ui, what, c.missed(), texts.collect());
    }
    if !c.repeated.is_empty() {
        let texts = c.repeated.iter().map(|(i, n)| format!("{i}\u{2009}({n}×)"));
        list(
            ui,
            say!("More than once"),
            c.more_than_once(),
            texts.collect(),
        );
    }
}

/// Formats a share in percent. It is rounded down near the end, so that only a complete part reads 100 %.
fn share(part: u64, whole: u64) -> String {
    let share = part as f64 / whole as f64;
    match part < whole && share > 0.99 {
        true => format!("{:.1}\u{2009}%", (share * 1000.0).floor() / 10.0),
        false => percent(share),
    }
}

fn range(from: u64, to: u64) -> String {
    match to - from {
        1 => from.to_string(),
        _ => format!("{from}–{}", to - 1),
    }
}

/// Draws the number of indices drawn `times` times as a bar, relative to `most`.
fn bar(ui: &mut Ui, times: usize, indices: u64, most: u64) {
    let palette = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW), Sense::hover());
    let label = match times {
        t if t + 1 == Coverage::TIMES => format!("≥\u{2009}{t}×"),
        t => format!("{t}×"),
    };
    let text = say!("{} indices drawn {label}", count(indices));
    name(&response, &text);
    let painter = ui.painter();
    let (left, right) = (rect.left() + 36.0, rect.right() - 84.0);
    let middle = rect.center().y;
    let font = mono(size::SMALL);
    painter.text(
        pos2(rect.left() + 26.0, middle),
        Align2::RIGHT_CENTER,
        label,
        font.clone(),
        palette.weak,
    );
    let share = indices as f32 / most as f32;
    let width = if indices > 0 {
        ((right - left) * share).max(2.0)
    } else {
        0.0
    };
    let bar = Rect::from_min_size(pos2(left, rect.top() + 4.0), vec2(width, ROW - 8.0));
    painter.rect_filled(bar, 0.0, palette.wait);
    painter.text(
        pos2(rect.right(), middle),
        Align2::RIGHT_CENTER,
        count(indices),
        font,
        if indices > 0 {
            palette.text
        } else {
            palette.weak
        },
    );
    response.on_hover_text(text);
}

/// Shows the first few texts, and a button that copies all of them.
fn list(ui: &mut Ui, what: &str, all: u64, texts: Vec<String>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        let text = say!("{what} ({})", count(all));
        ui.label(
            RichText::new(text)
                .font(sans(size::SMALL))
                .color(palette.text),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let button =
                ui.add(Button::new(RichText::new(say!("Copy")).font(sans(size::SMALL))).small());
            let about = say!("Copies the indices of “{what}”");
            button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &about));
            if button.on_hover_text(about).clicked() {
                ui.ctx().copy_text(texts.join(", "));
            }
        });
    });
    let mut text = texts
        .iter()
        .take(LISTED)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if texts.len() > LISTED {
        text += ", …";
    }
    let text = RichText::new(text)
        .font(mono(size::SMALL))
        .color(palette.weak);
    ui.add(Label::new(text).wrap());
}

fn shuffle(ui: &mut Ui, s: &Shuffle, judges: bool) {
    let figure = match judges {
        true => percent(s.quality().min(1.0)),
        false => "—".to_owned(),
    };
    title(ui, say!("Shuffle quality"), &figure);
    if !judges {
        hint(
            ui,
            &say!("Not judged: fewer than {} indices", Shuffle::FEWEST),
        );
    }
    histogram(ui, s);
    ui.scope(|ui| gaps(ui, s));
    hint(ui, Shuffle::DEFINITION.say());
}

fn gaps(ui: &mut Ui, s: &Shuffle) {
    let row = |ui: &mut Ui, what: &str, value: String| {
        let palette = Palette::of(ui);
        ui.spacing_mut().interact_size.y = 14.0;
        ui.horizontal(|ui| {
            ui.label(
                RichText::new(what)
                    .font(sans(size::SMALL))
                    .color(palette.weak),
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.label(
                    RichText::new(value)
                        .font(mono(size::SMALL))
                        .color(palette.text),
                );
            });
        });
    };
    row(ui, say!("Mean gap"), number(s.mean_gap));
    row(
        ui,
        say!("in a uniformly random order"),
        number(s.random_gap),
    );
    row(ui, say!("in the sorted order"), number(s.sorted_gap));
    let serial = s
        .serial
        .map_or("—".to_owned(), |r| format!("{r:.3}").replace('-', "−"));
    row(ui, say!("Correlation with the next index"), serial);
}

fn number(value: f64) -> String {
    match value {
        v if v < 100.0 => format!("{v:.1}"),
        v => count(v.round() as u64),
    }
}

/// Shows the gaps between neighbors. The line is the expectation for a uniformly random order.
fn histogram(ui: &mut Ui, s: &Shuffle) {
    let palette = Palette::of(ui);
    let room = vec2(ui.available_width(), HISTOGRAM + 16.0);
    let (outer, response) = ui.allocate_exact_size(room, Sense::hover());
    name(&response, say!("Histogram of the gaps between neighbors"));
    let rect = Rect::from_min_size(outer.min, vec2(outer.width(), HISTOGRAM));
    let painter = ui.painter();
    let bins = s.bins.len();
    let expected: Vec<f64> = (0..bins).map(|k| s.expected(k)).collect();
    let top = expected
        .iter()
        .copied()
        .chain(s.bins.iter().map(|n| *n as f64))
        .fold(1.0, f64::max);
    let x = |k: f32| rect.left() + k / bins as f32 * rect.width();
    let y = |n: f64| rect.bottom() - (n / top) as f32 * rect.height();
    for (k, n) in s.bins.iter().enumerate().filter(|(_, n)| **n > 0) {
        let bar = Rect::from_min_max(
            pos2(x(k as f32), y(*n as f64).min(rect.bottom() - 1.0)),
            pos2(x(k as f32 + 1.0) - 1.0, rect.bottom()),
        );
        painter.rect_filled(bar, 0.0, palette.wait);
    }
    let line = expected.iter().enumerate();
    let line: Vec<_> = line.map(|(k, n)| pos2(x(k as f32 + 0.5), y(*n))).collect();
    painter.add(Shape::line(line, Stroke::new(1.5, palette.strong)));
    painter.hline(
        rect.x_range(),
        rect.bottom(),
        Stroke::new(1.0, palette.line),
    );
    let font = mono(size::SMALL);
    let reach = short(s.reach, s.reach as f64);
    for (place, align, text) in [
        (rect.left(), Align2::LEFT_TOP, format!("−{reach}")),
        (
            rect.center().x,
            Align2::CENTER_TOP,
            say!("gap 0").to_owned(),
        ),
        (rect.right(), Align2::RIGHT_TOP, format!("+{reach}")),
    ] {
        let at = pos2(place, rect.bottom() + 3.0);
        painter.text(at, align, text, font.clone(), palette.weak);
    }
    response.on_hover_text(say!(
        "Distance of each index from the previous one. Line: average of a uniformly random order."
    ));
}
