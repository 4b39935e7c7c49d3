//! The toolbar: menus, the transport, the verdict.

use eframe::egui::{self, Align, Button, Layout, MenuBar, RichText, Ui};

use crate::command::{Action, Command};
use crate::headline::Headline;
use crate::panels::transport;
use crate::state::{Lower, State};
use crate::theme::{Palette, heading, size, words};
use crate::update::is_possible;
use crate::view::Item;

/// Shows menus and transport.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    MenuBar::new().ui(ui, |ui| {
        menus(ui, state, &mut commands);
        ui.separator();
        transport::show(ui, state, &mut commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            for (action, on) in [
                (Action::ToggleInspector, state.inspector_open),
                (Action::ToggleOptions, state.options_open),
            ] {
                toggle(ui, action, on, &mut commands);
            }
        });
    });
    commands
}

fn menus(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    use Action as A;
    let mut menu = |ui: &mut Ui, title: &str, actions: &[Option<Action>]| {
        ui.menu_button(title, |ui| {
            ui.set_min_width(220.0);
            for action in actions {
                match action {
                    Some(action) => entry(ui, state, *action, commands),
                    None => _ = ui.separator(),
                }
            }
        });
    };
    let s = Some;
    menu(
        ui,
        "File",
        &[
            s(A::RunDemo),
            s(A::Open),
            s(A::ChooseFolder),
            None,
            s(A::Save),
            s(A::SavePicture),
            None,
            s(A::CopyValues),
            s(A::CopyContent),
            s(A::CopyIndices),
            s(A::CopyVariables),
            None,
            s(A::Close),
            None,
            s(A::Quit),
        ],
    );
    menu(
        ui,
        "Loader",
        &[
            s(A::Run),
            s(A::Stop),
            s(A::PauseResume),
            None,
            s(A::StepForward),
            s(A::StepBack),
            s(A::NextBatch),
            s(A::PreviousBatch),
            s(A::NextStall),
            s(A::PreviousStall),
            None,
            s(A::FollowLive),
        ],
    );
    menu(
        ui,
        "View",
        &[
            s(A::ShowTimeline),
            s(A::ShowBatches),
            s(A::ShowPlots),
            None,
            s(A::ZoomIn),
            s(A::ZoomOut),
            s(A::ShowAll),
            s(A::FitSelection),
            s(A::ViewBack),
            s(A::ViewForward),
            None,
            s(A::ToggleOptions),
            s(A::ToggleInspector),
            s(A::ToggleVariables),
            s(A::ToggleTheme),
            s(A::ToggleMotion),
        ],
    );
    menu(ui, "Help", &[s(A::Help)]);
}

fn entry(ui: &mut Ui, state: &State, action: Action, commands: &mut Vec<Command>) {
    let info = action.info();
    let mut button = Button::new(info.name);
    if info.shortcut.is_some() {
        button = button.shortcut_text(info.keys(ui.ctx()));
    }
    let response = ui.add_enabled(is_possible(state, action), button);
    if response.on_hover_text(info.tooltip).clicked() {
        commands.push(action.into());
        ui.close();
    }
}

fn toggle(ui: &mut Ui, action: Action, on: bool, commands: &mut Vec<Command>) {
    let info = action.info();
    let response = ui.add(Button::new(info.name).selected(on));
    if response.on_hover_text(info.tooltip).clicked() {
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
