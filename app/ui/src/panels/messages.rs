//! List of errors and warnings with their times. A click moves the cursor there.

use egui::{Align2, Area, Button, Id, Order, RichText, ScrollArea, TextWrapMode, Ui, vec2};
use loadscope_lessons::Part;
use loadscope_trace::{Level, Message, Nanos};
use loadscope_words::say;

use super::notices::STATUS;
use crate::kit::empty::remark;
use crate::kit::parts::mark;
use crate::kit::sheet::overlay_frame;
use crate::kit::titles::title;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::format;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};

/// Maximum number of messages listed, the latest ones. The search finds the others.
const LISTED: usize = 200;

/// Shows the list above the status line, if it is open.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    if !state.overlay.messages_open {
        return commands;
    }
    let palette = Palette::of(ui);
    let area = Area::new(Id::unique("messages"))
        .order(Order::Foreground)
        .anchor(
            Align2::RIGHT_BOTTOM,
            vec2(-space::MARGIN, -STATUS - space::GAP),
        )
        .show(ui.ctx(), |ui| {
            overlay_frame(palette).show(ui, |ui| {
                ui.set_width(520.0);
                heading_line(ui, state, &mut commands);
                let said = state.session.landmarks.problem_messages();
                let hidden = said.len().saturating_sub(LISTED);
                ScrollArea::vertical()
                    .max_height(320.0)
                    .auto_shrink([false, true])
                    .show(ui, |ui| {
                        if hidden > 0 {
                            let text = say!(
                                "{} are not listed. Press / and search for errors or warnings.",
                                format::plural(
                                    hidden as u64,
                                    say!(n: "earlier one"),
                                    say!(n: "earlier ones")
                                )
                            );
                            remark(ui, &text);
                        }
                        for k in said.range(hidden..) {
                            if let Some((at, message)) =
                                state.session.run.messages().get(*k as usize)
                            {
                                line(ui, state, *at, message, &mut commands);
                            }
                        }
                    });
                if said.is_empty() {
                    remark(ui, say!("No errors or warnings"));
                }
            });
        });
    mark(ui, Part::Messages, area.response.rect);
    let outside = ui.input(|i| {
        let at = i.pointer.interact_pos();
        i.pointer.any_pressed() && at.is_some_and(|at| !area.response.rect.contains(at))
    });
    // The status line has the button that opens and closes the list.
    let on_status = ui.input(|i| {
        let bottom = i.content_rect().bottom() - STATUS;
        i.pointer.interact_pos().is_some_and(|at| at.y > bottom)
    });
    if outside && !on_status {
        commands.push(Action::ShowMessages.into());
    }
    commands
}

fn heading_line(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        title(ui, Action::ShowMessages.info().name);
        let right = egui::Layout::right_to_left(egui::Align::Center);
        ui.with_layout(right, |ui| {
            if ui
                .small_button(say!("Close"))
                .on_hover_text(say!("Closes the list  Esc"))
                .clicked()
            {
                commands.push(Action::ShowMessages.into());
            }
        });
    });
    let (late, odd) = state.session.run.anomalies();
    let lost = state.session.run.dropped();
    for (count, one, many) in [
        (lost, say!("dropped event"), say!("dropped events")),
        (late, say!("late event"), say!("late events")),
        (odd, say!("inconsistent event"), say!("inconsistent events")),
    ] {
        if count > 0 {
            let text = format::plural(count, one, many);
            ui.label(RichText::new(text).color(Palette::of(ui).stall));
        }
    }
}

fn line(ui: &mut Ui, state: &State, at: Nanos, message: &Message, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let error = message.level == Level::Error;
    let (level, color) = if error {
        (say!("error"), palette.stall)
    } else {
        (say!("warning"), palette.weak)
    };
    ui.add_space(space::GAP);
    ui.horizontal(|ui| {
        let when = say!("{:.3} ms", at.as_millis_f64());
        ui.label(
            RichText::new(when)
                .font(mono(size::SMALL))
                .color(palette.weak),
        );
        ui.label(RichText::new(level).font(sans(size::SMALL)).color(color));
    });
    let text = RichText::new(&message.text).color(palette.text);
    let button = Button::new(text).wrap_mode(TextWrapMode::Wrap).frame(false);
    let response = ui
        .add(button)
        .on_hover_text(say!("Moves the time cursor here"));
    if response.clicked() {
        commands.push(Command::Cursor(Cursor::At(at)));
        let row = message.about.and_then(|id| state.session.run.row(id));
        if let Some(row) = row {
            commands.push(Command::Select(Some(Item::Batch(row))));
        }
    }
}
