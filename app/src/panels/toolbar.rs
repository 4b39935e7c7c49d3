//! The toolbar: menus, the transport, the verdict.

use eframe::egui::{self, Align, Button, Layout, MenuBar, RichText, Ui};

use crate::command::{Action, Command};
use crate::headline::Headline;
use crate::state::{Lower, Source, State};
use crate::theme::{Palette, heading, mono, size, words};
use crate::view::{Cursor, Item};

/// Shows menus and transport.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    MenuBar::new().ui(ui, |ui| {
        menus(ui, state, &mut commands);
        ui.separator();
        transport(ui, state, &mut commands);
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
            s(A::Close),
            None,
            s(A::Quit),
        ],
    );
    menu(
        ui,
        "Run",
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
            s(A::ToggleTheme),
        ],
    );
    menu(ui, "Help", &[s(A::Help)]);
}

fn entry(ui: &mut Ui, state: &State, action: Action, commands: &mut Vec<Command>) {
    let info = action.info();
    let mut button = Button::new(info.name);
    if let Some(shortcut) = info.shortcut {
        button = button.shortcut_text(ui.ctx().format_shortcut(&shortcut));
    }
    let response = ui.add_enabled(is_possible(state, action), button);
    if response.on_hover_text(info.tooltip).clicked() {
        commands.push(action.into());
        ui.close();
    }
}

/// What makes no sense now is grey.
fn is_possible(state: &State, action: Action) -> bool {
    let has_steps = !state.run.transitions().is_empty();
    match action {
        Action::Stop => state.source.is_live(),
        Action::Save | Action::Close => state.has_run(),
        Action::PauseResume | Action::StepForward => state.source.is_live() || has_steps,
        Action::StepBack
        | Action::NextBatch
        | Action::PreviousBatch
        | Action::NextStall
        | Action::PreviousStall
        | Action::FollowLive
        | Action::ZoomIn
        | Action::ZoomOut
        | Action::ShowAll => has_steps,
        Action::FitSelection => state.selection.is_some(),
        Action::ViewBack => !state.views_before.is_empty(),
        Action::ViewForward => !state.views_after.is_empty(),
        _ => true,
    }
}

fn transport(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let mut button = |ui: &mut Ui, action: Action, text: &str| {
        let info = action.info();
        let key = info
            .shortcut
            .map(|s| ui.ctx().format_shortcut(&s))
            .unwrap_or_default();
        let response = ui.add_enabled(is_possible(state, action), Button::new(text));
        let name = info.name;
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
        if response
            .on_hover_text(format!("{}\n{}  ({key})", info.name, info.tooltip))
            .clicked()
        {
            commands.push(action.into());
        }
    };
    match &state.source {
        Source::Live { paused } => {
            button(ui, Action::Stop, "Stop");
            button(
                ui,
                Action::PauseResume,
                if *paused { "Resume" } else { "Pause" },
            );
        }
        _ => {
            button(ui, Action::Run, "Run");
            if state.has_run() {
                button(
                    ui,
                    Action::PauseResume,
                    if state.playing { "Pause" } else { "Play" },
                );
            }
        }
    }
    if !state.has_run() {
        return;
    }
    button(ui, Action::PreviousStall, "«");
    button(ui, Action::StepBack, "‹");
    button(ui, Action::StepForward, "›");
    button(ui, Action::NextStall, "»");
    if !state.source.is_live() {
        speed(ui, state, commands);
    }
    live_chip(ui, state, commands);
}

fn speed(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let text = |speed: f64| format!("{speed}×");
    let combo = egui::ComboBox::from_id_salt("speed")
        .selected_text(RichText::new(text(state.speed)).font(mono(size::SMALL)))
        .width(64.0);
    let response = combo.show_ui(ui, |ui| {
        for speed in [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0] {
            if ui
                .selectable_label(state.speed == speed, text(speed))
                .clicked()
            {
                commands.push(Command::Speed(speed));
            }
        }
    });
    let named = || egui::WidgetInfo::labeled(egui::Role::ComboBox, true, "Speed");
    response.response.widget_info(named);
    response
        .response
        .on_hover_text("How fast the recording is played");
}

/// Brings one back to what happens now.
fn live_chip(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let following = state.cursor == Cursor::Live && state.view.is_none();
    let name = if state.source.is_live() {
        "Live"
    } else {
        "End"
    };
    let info = Action::FollowLive.info();
    let response = ui.add(Button::new(name).selected(following));
    if response.on_hover_text(info.tooltip).clicked() {
        commands.push(Action::FollowLive.into());
    }
}

fn toggle(ui: &mut Ui, action: Action, on: bool, commands: &mut Vec<Command>) {
    let info = action.info();
    let response = ui.add(Button::new(info.name).selected(on));
    if response.on_hover_text(info.tooltip).clicked() {
        commands.push(action.into());
    }
}

/// Shows the verdict: is the trainer waiting, for how much of the time, because of what.
pub fn headline(ui: &mut Ui, headline: Option<&Headline>) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.set_min_height(28.0);
        let Some(headline) = headline else {
            ui.label(RichText::new("Nothing has happened yet").color(palette.weak));
            return;
        };
        // Below a twentieth of the time, waiting is not what to look at.
        let colour = if headline.share >= 0.05 {
            palette.stall
        } else {
            palette.step
        };
        let (bar, _) = ui.allocate_exact_size(egui::vec2(4.0, 18.0), egui::Sense::hover());
        ui.painter().rect_filled(bar, 2.0, colour);
        ui.label(
            RichText::new(&headline.verdict)
                .font(heading(size::BODY))
                .color(palette.strong),
        );
        if let Some(cause) = &headline.cause {
            let text = RichText::new(format!("· {cause}"))
                .font(words(size::BODY))
                .color(palette.text);
            let response = ui.add(
                egui::Label::new(text)
                    .truncate()
                    .sense(egui::Sense::click()),
            );
            if response.on_hover_text("Selects this batch").clicked() {
                commands.push(Command::Select(headline.batch.map(Item::Batch)));
                commands.push(Action::FitSelection.into());
            }
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
        ] {
            toggle(ui, action, state.lower == lower, &mut commands);
        }
    });
    commands
}
