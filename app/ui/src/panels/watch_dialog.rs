//! Sheet for watching a PyTorch program.

use egui::{Checkbox, Id, Key, Label, Modifiers, RichText, Role, TextEdit, Ui, WidgetInfo, vec2};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::watching::{ProgramToWatch, Watching};
use loadscope_words::say;

use crate::kit::empty::hint;
use crate::kit::sheet::just_appeared;
use crate::kit::sheet::{max_width, sheet};
use crate::theme::{Palette, mono, sans, size, space};

/// Maximum width, points.
const WIDEST: f32 = 620.0;
/// Width of the field names, points.
const NAME: f32 = 110.0;
/// Width of *Choose…*, points.
const CHOOSE: f32 = 96.0;

/// Shows the sheet if it is open.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let Some(watching) = &state.overlay.watching else {
        return Vec::new();
    };
    let mut commands = Vec::new();
    let is_open = sheet(ui, Action::WatchProgram.info().name, |ui| {
        ui.set_width(WIDEST.min(max_width(ui)));
        // The palette above the sheet receives the Enter key.
        let takes_enter = state.overlay.palette.is_none();
        fields(ui, watching, takes_enter, &mut commands);
    });
    if !is_open {
        commands.push(Command::AskProgram(None));
    }
    commands
}

fn fields(ui: &mut Ui, watching: &Watching, takes_enter: bool, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let mut program = watching.program.clone();
    hint(
        ui,
        say!(
            "The program runs unchanged in its own process. Its DataLoaders are shown live and recorded."
        ),
    );
    ui.add_space(space::GAP);
    let first = Id::unique("program to watch");
    let mut is_typing = false;
    ui.horizontal(|ui| {
        let room = CHOOSE + ui.spacing().item_spacing.x;
        is_typing |= field(
            ui,
            say!("Program"),
            "train.py",
            &mut program.script,
            Some(first),
            room,
        );
        let size = vec2(CHOOSE, ui.spacing().interact_size.y);
        let choose = ui.add_sized(size, egui::Button::new(say!("Choose…")));
        let tip = say!("Chooses a Python file. It runs in its own folder.");
        commands.extend(
            choose
                .on_hover_text(tip)
                .clicked()
                .then_some(Command::Perform(Effect::AskScript)),
        );
    });
    let mut row = |name: &str, example: &str, text: &mut String| {
        ui.horizontal(|ui| is_typing |= field(ui, name, example, text, None, 0.0));
    };
    row(say!("Arguments"), "--epochs 3", &mut program.arguments);
    row(
        say!("Folder"),
        say!("working directory of Loadscope"),
        &mut program.folder,
    );
    row(say!("Python"), ProgramToWatch::PYTHON, &mut program.python);
    ui.horizontal(|ui| {
        ui.add_space(NAME + ui.spacing().item_spacing.x);
        ui.add(Checkbox::new(
            &mut program.previews,
            say!("Keep small images of batches, about once per second"),
        ));
    });
    ui.add_space(space::GAP);
    let command = program.command();
    let why = match (&watching.problem, &command) {
        (Some(problem), _) => Some((problem.as_str(), palette.stall)),
        (None, Err(missing)) => Some((*missing, palette.weak)),
        (None, Ok(_)) => None,
    };
    if let Some((why, color)) = why {
        ui.add(Label::new(RichText::new(why).color(color)).wrap());
    }
    ui.horizontal(|ui| {
        let start = ui.add_enabled(command.is_ok(), egui::Button::new(say!("Start")));
        // Enter on a button presses that button.
        let enter = takes_enter
            && is_typing
            && ui.input_mut(|i| i.consume_key(Modifiers::NONE, Key::Enter));
        if command.is_ok() && (start.clicked() || enter) {
            commands.push(Command::Perform(Effect::Watch(Box::new(program.clone()))));
        }
        if ui.button(say!("Cancel")).clicked() {
            commands.push(Command::AskProgram(None));
        }
        let line = say!("In a terminal: {}", loadscope_model::update::WATCH);
        ui.label(
            RichText::new(line)
                .font(sans(size::SMALL))
                .color(palette.weak),
        );
    });
    let is_changed = program != watching.program;
    if commands.is_empty() && is_changed {
        commands.push(Command::AskProgram(Some(Box::new(program))));
    }
}

/// Shows a field with its name, and leaves `room` points free on its right. Returns true if it has the focus or lost it in this frame,
/// because Enter ends typing.
fn field(
    ui: &mut Ui,
    name: &str,
    example: &str,
    text: &mut String,
    first: Option<Id>,
    room: f32,
) -> bool {
    let palette = Palette::of(ui);
    let size = vec2(NAME, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(
        size,
        egui::Layout::left_to_right(egui::Align::Center),
        |ui| {
            ui.set_min_width(NAME);
            ui.label(RichText::new(name).color(palette.text));
        },
    );
    let edit = TextEdit::singleline(text)
        .font(mono(size::BODY))
        .hint_text(example)
        .desired_width(ui.available_width() - room - 12.0);
    let edit = match first {
        Some(id) => edit.id(id),
        None => edit,
    };
    let response = ui.add(edit);
    response.widget_info(|| WidgetInfo::labeled(Role::TextInput, true, name));
    // The field has the initial focus.
    if first.is_some_and(|id| just_appeared(ui, id)) {
        response.request_focus();
    }
    response.has_focus() || response.lost_focus()
}
