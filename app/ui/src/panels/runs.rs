//! Strip of the window's runs. A click shows a run, a Shift+click compares it with the shown run.

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Button, Color32, Painter, Popup, Pos2, Response, Role, ScrollArea, Sense, Shape, Stroke, Ui,
    WidgetInfo,
};
use egui::{pos2, vec2};

use super::menus;
use crate::theme::{Palette, mono, sans, size};
use loadscope_insight::headline::Headline;
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::state::kept::RunLine;
use loadscope_words::say;

/// Height of the strip, points.
pub const HEIGHT: f32 = 30.0;

/// Side of the star and of the cross, points.
const ICON_SIZE: f32 = 18.0;

/// Returns true if there are other runs besides the shown one.
pub fn has_any(state: &State) -> bool {
    !state.runs.all().is_empty()
}

/// Shows the strip. `verdict` belongs to the shown run.
pub fn show(ui: &mut Ui, state: &State, verdict: Option<&Headline>) -> Vec<Command> {
    let mut commands = Vec::new();
    let shown = &state.session;
    let shown_line = shown.is_worth_keeping();
    let shown_line = shown_line.then(|| RunLine::with(shown, verdict.map(|v| v.share)));
    let kept = state.runs.all().iter();
    let mut all: Vec<Entry<'_>> = kept
        .map(|kept| Entry {
            number: kept.number(),
            line: &kept.line,
            starred: kept.session.starred,
            is_shown: false,
        })
        .collect();
    if let Some(line) = &shown_line {
        let place = all.partition_point(|entry| entry.number < shown.number);
        let entry = Entry {
            number: shown.number,
            line,
            starred: shown.starred,
            is_shown: true,
        };
        all.insert(place, entry);
    }
    ScrollArea::horizontal()
        .id_salt("runs")
        .auto_shrink([false, false])
        .stick_to_right(true)
        .show(ui, |ui| {
            ui.horizontal_centered(|ui| {
                ui.spacing_mut().item_spacing.x = 2.0;
                for entry in &all {
                    one(ui, state, entry, &mut commands);
                    ui.add_space(8.0);
                }
            });
        });
    commands
}

/// Run in the strip.
struct Entry<'a> {
    number: u32,
    line: &'a RunLine,
    starred: bool,
    is_shown: bool,
}

fn one(ui: &mut Ui, state: &State, entry: &Entry<'_>, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let number = entry.number;
    let name = say!(
        "Run {number}: {}, {}",
        entry.line.name,
        entry.line.outcome()
    );
    let button = Button::new(text(palette, entry)).selected(entry.is_shown);
    let response = ui.add(button.small());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    let tip = match entry.is_shown {
        true => say!("Shown run\nRight-click: save, export, keep or drop it"),
        false => {
            say!("Shows this run again\nShift+click or right-click: compare with the shown run")
        }
    };
    menu(&response, state, entry, commands);
    if response.on_hover_text(tip).clicked() && !entry.is_shown {
        let compares = ui.input(|i| i.modifiers.shift);
        commands.push(match compares {
            true => Command::Perform(Effect::CompareRun(number)),
            false => Command::Perform(Effect::ShowRun(number)),
        });
    }
    let tip = match entry.starred {
        true => say!("Kept until you discard it. Click to stop keeping it."),
        false => say!("Keeps this run even when there are more than 20"),
    };
    let color = match entry.starred {
        true => palette.held,
        false => palette.weak,
    };
    let star = |painter: &Painter, at: Pos2| draw_star(painter, at, color, entry.starred);
    if icon_button(ui, &say!("Keep run {number}"), tip, star) {
        commands.push(Command::StarRun(number));
    }
    let tip = say!("Discards this run. Saved files stay.");
    let cross = |painter: &Painter, at: Pos2| draw_cross(painter, at, palette.weak);
    if icon_button(ui, &say!("Discard run {number}"), tip, cross) {
        commands.push(Command::Perform(Effect::DropRun(number)));
    }
}

/// Shows the context menu of a run. The shown run also has entries of the main menus.
fn menu(response: &Response, state: &State, entry: &Entry<'_>, commands: &mut Vec<Command>) {
    let number = entry.number;
    Popup::context_menu(response).show(|ui| {
        let mut offer = |ui: &mut Ui, name: &str, command: Command| {
            if ui.button(name).clicked() {
                commands.push(command);
                ui.close();
            }
        };
        if !entry.is_shown {
            let name = say!("Compare with the shown run");
            offer(ui, name, Command::Perform(Effect::CompareRun(number)));
            offer(
                ui,
                say!("Show this run"),
                Command::Perform(Effect::ShowRun(number)),
            );
        }
        let keep = match entry.starred {
            true => say!("Stop keeping this run"),
            false => say!("Keep this run"),
        };
        offer(ui, keep, Command::StarRun(number));
        offer(
            ui,
            say!("Discard this run"),
            Command::Perform(Effect::DropRun(number)),
        );
        if entry.is_shown {
            ui.separator();
            for action in [Action::Save, Action::Export, Action::Compare] {
                menus::entry(ui, state, action, commands);
            }
        }
    });
}

/// Returns, for example, `#1 digits, 4 workers · 7.0 s · waits 54 %`.
fn text(palette: &Palette, entry: &Entry<'_>) -> LayoutJob {
    let mut job = LayoutJob::default();
    let mut add = |text: &str, font, color: Color32| {
        job.append(text, 0.0, TextFormat::simple(font, color));
    };
    let strong = match entry.is_shown {
        true => palette.strong,
        false => palette.text,
    };
    add(
        &format!("#{} ", entry.number),
        mono(size::SMALL),
        palette.weak,
    );
    add(&entry.line.name, sans(size::SMALL), strong);
    add(
        &format!(" · {}", entry.line.outcome()),
        sans(size::SMALL),
        palette.weak,
    );
    job
}

/// Shows a small clickable icon.
fn icon_button(ui: &mut Ui, name: &str, tip: &str, draw: impl FnOnce(&Painter, Pos2)) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(ICON_SIZE, ICON_SIZE), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    if response.hovered() || response.has_focus() {
        let fill = ui.visuals().widgets.hovered.weak_bg_fill;
        ui.painter().rect_filled(rect, 4.0, fill);
    }
    draw(ui.painter(), rect.center());
    response.on_hover_text(tip).clicked()
}

fn draw_star(painter: &Painter, at: Pos2, color: Color32, is_full: bool) {
    let corner = |k: usize| {
        let angle = std::f32::consts::PI * (k as f32 / 5.0 - 0.5);
        let radius = if k.is_multiple_of(2) { 5.5 } else { 2.4 };
        pos2(
            at.x + radius * angle.cos(),
            at.y + 0.5 + radius * angle.sin(),
        )
    };
    if is_full {
        // A star is not convex, so each point is drawn as a separate polygon to the center.
        for k in (0..10).step_by(2) {
            let points = vec![corner(k), corner(k + 1), at, corner(k + 9)];
            painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
        }
    }
    let outline = (0..10).map(corner).collect();
    painter.add(Shape::closed_line(outline, Stroke::new(1.0, color)));
}

fn draw_cross(painter: &Painter, at: Pos2, color: Color32) {
    let stroke = Stroke::new(1.2, color);
    for end in [vec2(3.0, 3.0), vec2(3.0, -3.0)] {
        painter.line_segment([at - end, at + end], stroke);
    }
}
