//! Table of forecasts: num_workers across, prefetch_factor down. Red shows the share of waiting.

use egui::{
    Align2, Color32, Painter, Pos2, Rect, Response, Role, Sense, Shape, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_insight::format::percent;
use loadscope_model::command::Command;
use loadscope_plan::forecast::Forecast;

/// Height of a cell, points.
const CELL: f32 = 28.0;
/// Width of the row names, points.
const NAMES: f32 = 24.0;
/// Height of the column names, points.
const HEAD: f32 = 18.0;

/// Shows the table. A click picks a cell.
pub fn show(ui: &mut Ui, what_if: &WhatIf, picked: (usize, usize), commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let (columns, rows) = (what_if.workers.len(), what_if.prefetch.len());
    let across = ui.available_width();
    let width = ((across - NAMES) / columns as f32)
        .floor()
        .clamp(24.0, 64.0);
    let height = HEAD + CELL * rows as f32;
    let (rect, _) = ui.allocate_exact_size(vec2(across, height), Sense::hover());
    let corner = pos2(rect.left() + NAMES, rect.top() + HEAD);
    let painter = ui.painter().clone();
    let name = |at: Pos2, text: String| {
        painter.text(
            at,
            Align2::CENTER_CENTER,
            text,
            mono(size::SMALL),
            palette.weak,
        );
    };
    for (k, prefetch) in what_if.prefetch.iter().enumerate() {
        let y = corner.y + CELL * (k as f32 + 0.5);
        name(pos2(rect.left() + NAMES * 0.5, y), prefetch.to_string());
    }
    for (k, workers) in what_if.workers.iter().enumerate() {
        let x = corner.x + width * k as f32;
        name(
            pos2(x + width * 0.5, rect.top() + HEAD * 0.5),
            workers.to_string(),
        );
        // Without workers there is no prefetching, so the column has a single cell.
        let places = if *workers == 0 { 1 } else { rows };
        for (j, prefetch) in what_if.prefetch.iter().enumerate().take(places) {
            let Some(forecast) = what_if.at(*workers, *prefetch) else {
                continue;
            };
            let high = if *workers == 0 {
                CELL * rows as f32
            } else {
                CELL
            };
            let cell = Rect::from_min_size(pos2(x, corner.y + CELL * j as f32), vec2(width, high))
                .shrink(1.0);
            let is_picked = picked.0 == *workers && (*workers == 0 || picked.1 == *prefetch);
            let response = place(ui, what_if, cell, forecast, is_picked);
            if response.clicked() {
                commands.push(Command::Pick(Some((*workers, *prefetch))));
            }
        }
    }
}

/// Draws a forecast.
fn place(ui: &Ui, what_if: &WhatIf, cell: Rect, forecast: &Forecast, is_picked: bool) -> Response {
    let palette = Palette::of(ui);
    let setting = &forecast.setting;
    let id = ui
        .scope_id()
        .with(("forecast", setting.num_workers, setting.prefetch_factor));
    let response = ui.interact(cell, id, Sense::click());
    let (name, outcome) = (name_of(forecast), outcome_of(forecast));
    let spoken = say!("{name}: {outcome}");
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_picked, &spoken));
    let fill = palette.stalled(shade(what_if, forecast));
    let ink = palette.text_on(fill);
    let painter = ui.painter();
    painter.rect_filled(cell, 2.0, fill);
    let share = format!("{:.0}", forecast.waited_share() * 100.0);
    // The marks are below the number, so that it is readable in a narrow cell.
    let marks = Marks::of(what_if, forecast);
    let count = marks.each().iter().filter(|(is, _)| *is).count();
    let middle = cell.center() - vec2(0.0, if count > 0 { 5.0 } else { 0.0 });
    let font = mono(size::SMALL);
    painter.text(middle, Align2::CENTER_CENTER, share, font, ink);
    let mut x = cell.center().x - 4.5 * (count as f32 - 1.0);
    for (_, mark) in marks.each().into_iter().filter(|(is, _)| *is) {
        mark.paint(painter, pos2(x, cell.center().y + 7.0), ink);
        x += 9.0;
    }
    if is_picked {
        let stroke = Stroke::new(2.0, palette.text);
        painter.rect_stroke(cell, 2.0, stroke, StrokeKind::Outside);
    } else if response.hovered() || response.has_focus() {
        let stroke = Stroke::new(1.0, palette.text);
        painter.rect_stroke(cell, 2.0, stroke, StrokeKind::Outside);
    }
    response.on_hover_ui(|ui| {
        ui.label(&name);
        ui.label(&outcome);
        for (is, mark) in marks.each() {
            if is {
                ui.label(mark.meaning());
            }
        }
    })
}

/// Returns the red intensity of a cell. It depends on the share of waiting, and on the difference from the lowest share in the table.
fn shade(what_if: &WhatIf, forecast: &Forecast) -> f32 {
    /// Difference in the share of waiting below which all cells look the same.
    const SAME: f64 = 0.02;
    let shares = (what_if.outlook.configurations.iter()).map(Forecast::waited_share);
    let (low, high) = shares.fold((1.0_f64, 0.0_f64), |(l, h), s| (l.min(s), h.max(s)));
    let share = forecast.waited_share();
    let relative = match high - low {
        spread if spread < SAME => 0.5,
        spread => (share - low) / spread,
    };
    (share * (0.35 + 0.65 * relative)) as f32
}

/// Returns, for example, `num_workers=3, prefetch_factor=2`.
pub fn name_of(forecast: &Forecast) -> String {
    let s = &forecast.setting;
    match s.num_workers {
        0 => "num_workers=0".to_owned(),
        n => say!("num_workers={n}, prefetch_factor={}", s.prefetch_factor),
    }
}

/// Returns, for example, `1.45 s (1.40 s to 1.52 s), the trainer waits 0.97 s of it (67 %)`.
pub fn outcome_of(forecast: &Forecast) -> String {
    let say = |time: Nanos| time.format_in_unit_of(forecast.time);
    let range = match forecast.low == forecast.high {
        true => String::new(),
        false => say!(" ({} to {})", say(forecast.low), say(forecast.high)),
    };
    say!(
        "{}{range}, the trainer waits {} of it ({})",
        say(forecast.time),
        say(forecast.waited),
        percent(forecast.waited_share())
    )
}

/// Marks of a cell in the table.
#[derive(Clone, Copy)]
struct Marks {
    recorded: bool,
    best: bool,
    cheapest: bool,
}

#[derive(Clone, Copy)]
enum Mark {
    Recorded,
    Best,
    Cheapest,
}

impl Marks {
    fn of(what_if: &WhatIf, forecast: &Forecast) -> Self {
        let (s, own) = (&forecast.setting, &what_if.own);
        let same = s.num_workers == own.num_workers
            && (s.num_workers == 0 || s.prefetch_factor == own.prefetch_factor);
        Self {
            recorded: same && what_if.base == what_if.own,
            best: forecast.setting == what_if.best().setting,
            cheapest: forecast.setting == what_if.cheapest().setting,
        }
    }

    fn each(self) -> [(bool, Mark); 3] {
        [
            (self.recorded, Mark::Recorded),
            (self.best, Mark::Best),
            (self.cheapest, Mark::Cheapest),
        ]
    }
}

impl Mark {
    fn meaning(self) -> &'static str {
        match self {
            Self::Recorded => say!("Recorded"),
            Self::Best => say!("Fastest"),
            Self::Cheapest => say!("Fewest workers, within 2\u{2009}%"),
        }
    }

    fn paint(self, painter: &Painter, at: Pos2, color: Color32) {
        match self {
            Self::Recorded => {
                let square = Rect::from_center_size(at, vec2(5.0, 5.0));
                let stroke = Stroke::new(1.0, color);
                painter.rect_stroke(square, 0.0, stroke, StrokeKind::Inside);
            }
            Self::Best => {
                let points = [(0.0, -3.0), (3.5, 3.0), (-3.5, 3.0)];
                let points = points.map(|(x, y)| at + vec2(x, y)).to_vec();
                painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
            }
            Self::Cheapest => {
                let points = [(0.0, -3.5), (3.5, 0.0), (0.0, 3.5), (-3.5, 0.0)];
                let points = points.map(|(x, y)| at + vec2(x, y)).to_vec();
                painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
            }
        }
    }
}

/// Shows the legend of the marks.
pub fn legend(ui: &mut Ui) {
    let palette = Palette::of(ui);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = space::GAP;
        for mark in [Mark::Recorded, Mark::Best, Mark::Cheapest] {
            let text = mark.meaning();
            let (font, color) = (sans(size::SMALL), palette.weak);
            let galley = ui.painter().layout_no_wrap(text.to_owned(), font, color);
            let wide = vec2(10.0 + galley.size().x + space::GAP * 2.0, 16.0);
            let (rect, response) = ui.allocate_exact_size(wide, Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
            mark.paint(
                ui.painter(),
                pos2(rect.left() + 4.0, rect.center().y),
                palette.text,
            );
            let at = pos2(rect.left() + 12.0, rect.center().y - galley.size().y / 2.0);
            ui.painter().galley(at, galley, color);
        }
    });
}
