//! Notices about failures, shown above the status line until dismissed. They cover other panels, so that nothing moves.

use egui::{Align, Align2, Area, Id, Label, Layout, Order, RichText, Stroke, Ui, vec2};

use crate::kit::sheet::overlay_frame;
use crate::panels::question;
use crate::theme::{Palette, sans, size, space};
use loadscope_insight::format;
use loadscope_insight::session_event::Notice;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_words::say;

/// Maximum number of notices shown at the same time, the latest ones.
const MAX_VISIBLE: usize = 3;
/// Maximum width of a notice, points.
const WIDTH: f32 = 640.0;
/// Height of the status line, points.
pub const STATUS: f32 = 26.0;

/// Shows the latest notices and the question, if there is one.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    if state.session.notices.is_empty()
        && state.overlay.question.is_none()
        && state.overlay.typing.is_none()
        && state.session.replacing.is_none()
    {
        return commands;
    }
    let width = WIDTH.min(ui.content_rect().width() - 2.0 * space::GROUP);
    Area::new(Id::unique("notices"))
        .order(Order::Foreground)
        .anchor(Align2::CENTER_BOTTOM, vec2(0.0, -STATUS - space::MARGIN))
        .show(ui.ctx(), |ui| {
            ui.set_width(width);
            let hidden = state.session.notices.len().saturating_sub(MAX_VISIBLE);
            if hidden > 0 {
                let text = format::plural(
                    hidden as u64,
                    say!(n: "earlier one"),
                    say!(n: "earlier ones"),
                );
                let text = RichText::new(text).font(sans(size::SMALL));
                ui.label(text.color(Palette::of(ui).weak));
            }
            for (at, notice) in state.session.notices.iter().enumerate().skip(hidden) {
                card(ui, at, notice, &mut commands);
            }
            if let Some(typed) = &state.overlay.typing {
                question::path_input(ui, typed, &mut commands);
            }
            if let Some(output) = &state.session.replacing {
                question::replacing(ui, output, &mut commands);
            } else if let Some(question) = &state.overlay.question {
                question::show(ui, state, question, &mut commands);
            }
        });
    commands
}

fn card(ui: &mut Ui, at: usize, notice: &Notice, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let edge = match notice.is_error {
        true => palette.stall,
        false => palette.weak,
    };
    let frame = overlay_frame(palette).stroke(Stroke::new(1.0, edge));
    frame.show(ui, |ui| {
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            let dismiss = ui.small_button(say!("Dismiss"));
            if dismiss
                .on_hover_text(say!("Dismisses this notice  Esc"))
                .clicked()
            {
                commands.push(Command::Dismiss(at));
            }
            ui.with_layout(Layout::top_down(Align::Min), |ui| {
                let text = RichText::new(&notice.text).color(palette.text);
                ui.add(Label::new(text).wrap().selectable(true));
            });
        });
    });
}
