//! The toolbar: menus, the transport, the verdict.

use eframe::egui::{self, Align, Button, Layout, MenuBar, RichText, Role, Ui, WidgetInfo};

use crate::command::{Action, Command};
use crate::headline::Headline;
use crate::panels::signs::Sign;
use crate::panels::{menus, transport};
use crate::state::{Lower, State};
use crate::theme::{Palette, heading, mono, size, words};
use crate::view::{Item, Workspace};

/// Shows menus and transport.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    MenuBar::new().ui(ui, |ui| {
        menus::show(ui, state, &mut commands);
        // From here on it is a toolbar: its buttons look like buttons.
        *ui.style_mut() = (*ui.global_style()).clone();
        ui.separator();
        workspaces(ui, state, &mut commands);
        ui.separator();
        transport::show(ui, state, &mut commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (action, sign, on) in [
                (
                    Action::ToggleInspector,
                    Sign::PanelRight,
                    state.inspector_open,
                ),
                (Action::ToggleOptions, Sign::PanelLeft, state.options_open),
            ] {
                transport::button(ui, state, action, sign, "", on, &mut commands);
            }
            let info = Action::Palette.info();
            let keys = info.keys(ui.ctx());
            let keys = RichText::new(keys).font(mono(size::SMALL));
            let response = ui.add(Button::new(("Actions", keys.weak())));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, info.name));
            if response
                .on_hover_text(format!("{}\n{}", info.name, info.tooltip))
                .clicked()
            {
                commands.push(Action::Palette.into());
            }
        });
    });
    commands
}

/// The switch between workspaces.
fn workspaces(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for workspace in Workspace::ALL {
            toggle(
                ui,
                workspace.action(),
                state.workspace == workspace,
                commands,
            );
        }
    });
}

fn toggle(ui: &mut Ui, action: Action, on: bool, commands: &mut Vec<Command>) {
    let info = action.info();
    let response = ui.add(Button::new(info.name).selected(on));
    let keys = info.keys(ui.ctx());
    let tip = format!("{}  {keys}\n{}", info.name, info.tooltip);
    if response.on_hover_text(tip).clicked() {
        commands.push(action.into());
    }
}

/// Shows the verdict: is the trainer waiting, for how much of the time, because of what. On two lines where one is too short.
pub fn headline(ui: &mut Ui, headline: Option<&Headline>) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui);
    let Some(headline) = headline else {
        ui.label(RichText::new("Nothing has happened yet").color(palette.weak));
        return commands;
    };
    // Below a twentieth of the time, waiting is not what to look at.
    let colour = if headline.share >= 0.05 {
        palette.stall
    } else {
        palette.step
    };
    let verdict = RichText::new(&headline.verdict)
        .font(heading(size::BODY))
        .color(palette.strong);
    let mut cause = |ui: &mut Ui| {
        let Some(cause) = &headline.cause else {
            return;
        };
        let text = RichText::new(cause)
            .font(words(size::BODY))
            .color(palette.text);
        let label = egui::Label::new(text)
            .truncate()
            .sense(egui::Sense::click());
        let tip = "Selects this batch and zooms to it";
        if ui.add(label).on_hover_text(tip).clicked() {
            commands.push(Command::Select(headline.batch.map(Item::Batch)));
            commands.push(Action::FitSelection.into());
        }
    };
    let two_lines = ui.available_width() < 760.0;
    let height = if two_lines { 42.0 } else { 24.0 };
    ui.horizontal(|ui| {
        ui.set_height(height);
        let (bar, _) = ui.allocate_exact_size(egui::vec2(4.0, height - 6.0), egui::Sense::hover());
        ui.painter().rect_filled(bar, 2.0, colour);
        if two_lines {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                ui.label(verdict);
                cause(ui);
            });
        } else {
            ui.label(verdict);
            cause(ui);
        }
    });
    commands
}

/// Chooses what is below the machine.
pub fn lower_tabs(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.horizontal(|ui| {
        for (action, lower) in [
            (Action::ShowTimeline, Lower::Timeline),
            (Action::ShowBatches, Lower::Batches),
            (Action::ShowPlots, Lower::Plots),
        ] {
            toggle(ui, action, state.lower == lower, &mut commands);
        }
    });
    commands
}
