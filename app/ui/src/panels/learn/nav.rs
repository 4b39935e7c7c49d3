//! Navigation of all player pages: the line at the top, and the buttons below the answers.

use egui::{
    Align, Button, Layout, Rect, RichText, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use loadscope_lessons::Language;
use loadscope_model::command::{Action, Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::update::{has_wandered, obstacle};

use super::words::Word;
use crate::kit::action::{push_on_click, tooltip_with_obstacle};
use crate::kit::titles::title_text;
use crate::theme::{Palette, mono, sans, size, space};

/// Height of the line at the top, points.
pub const HEAD: f32 = 34.0;
/// Height of the buttons below the answers, points.
pub const FOOT: f32 = 34.0;

/// Shows the line at the top: the title, the progress and the close button.
pub fn head(
    ui: &mut Ui,
    state: &State,
    name: &str,
    steps: Option<(usize, usize)>,
    commands: &mut Vec<Command>,
) {
    let language = state.prefs.learned.language;
    let room = ui.max_rect();
    let line = Rect::from_min_size(room.min, vec2(room.width(), HEAD - 6.0));
    ui.scope_builder(UiBuilder::new().max_rect(line), |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let leave = match state.learn.shows_contents() {
                true => Word::Close,
                false => Word::Leave,
            };
            button(ui, state, Action::LeaveLesson, leave, commands);
            languages(ui, language, commands);
            let on = state.prefs.learned.lecture;
            let lecture = Button::new(Word::Lecture.text(language)).selected(on);
            if ui.content_rect().width() >= 900.0 {
                let response = ui.add(lecture);
                push_on_click(response, Action::ToggleLecture, commands);
            }
            if has_wandered(state) {
                button(ui, state, Action::ReturnToStep, Word::Return, commands);
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let text = title_text(ui, name);
                ui.add(egui::Label::new(text).truncate());
                if let Some(steps) = steps {
                    dots(ui, state, steps, commands);
                }
            });
        });
    });
}

/// Shows the progress as a dot per step. A click returns to a step that was reached before.
fn dots(ui: &mut Ui, state: &State, (at, count): (usize, usize), commands: &mut Vec<Command>) {
    const STEP: f32 = 10.0;
    let palette = Palette::of(ui);
    let word = Word::Step.text(state.prefs.learned.language);
    if ui.available_width() < count as f32 * STEP + 12.0 {
        return;
    }
    ui.spacing_mut().item_spacing.x = 0.0;
    for k in 0..count {
        let playing = state.learn.playing();
        let is_reached = playing.is_some_and(|playing| playing.play.has_reached(k));
        let sense = match is_reached {
            true => Sense::CLICK,
            false => Sense::hover(),
        };
        let (rect, response) = ui.allocate_exact_size(vec2(STEP, 16.0), sense);
        let spoken = format!("{word} {} / {count}", k + 1);
        response.widget_info(|| match is_reached {
            true => WidgetInfo::selected(Role::Button, true, k == at, &spoken),
            false => WidgetInfo::labeled(Role::Label, true, &spoken),
        });
        let (radius, ink) = match k == at {
            true => (4.0, palette.strong),
            false if is_reached && response.hovered() => (4.0, palette.weak),
            false if k < at || is_reached => (2.5, palette.weak),
            false => (2.5, palette.line),
        };
        ui.painter().circle_filled(rect.center(), radius, ink);
        if response.on_hover_text(spoken).clicked() {
            commands.push(LearnCommand::Step(k).into());
        }
    }
}

/// Shows the language switch.
fn languages(ui: &mut Ui, now: Language, commands: &mut Vec<Command>) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for language in Language::ALL.into_iter().rev() {
            let button = Button::new(language.name()).selected(language == now);
            if ui.add(button).clicked() && language != now {
                commands.push(LearnCommand::Language(language).into());
            }
        }
    });
}

/// Shows a button of an action, named in the lesson's language.
pub fn button(ui: &mut Ui, state: &State, action: Action, word: Word, commands: &mut Vec<Command>) {
    let text = word.text(state.prefs.learned.language);
    labelled_button(ui, state, action, (text, Button::new(text)), commands);
}

/// Shows the button with the key of the action.
fn button_with_key(
    ui: &mut Ui,
    state: &State,
    action: Action,
    word: Word,
    commands: &mut Vec<Command>,
) {
    let text = word.text(state.prefs.learned.language);
    let keys = action.info().keys(ui.ctx());
    let key = RichText::new(keys).font(mono(size::SMALL)).weak();
    labelled_button(
        ui,
        state,
        action,
        (text, Button::new((text, key))),
        commands,
    );
}

fn labelled_button(
    ui: &mut Ui,
    state: &State,
    action: Action,
    (text, button): (&'static str, Button<'_>),
    commands: &mut Vec<Command>,
) {
    let is_possible = obstacle(state, action).is_none();
    let response = ui.add_enabled(is_possible, button);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, is_possible, text));
    let why_not = tooltip_with_obstacle(ui, state, action);
    push_on_click(response.on_disabled_hover_text(why_not), action, commands);
}

/// Shows the buttons for the next and the previous step at the lower right.
pub fn foot(ui: &mut Ui, state: &State, room: Rect, next: Word, commands: &mut Vec<Command>) {
    let line = Rect::from_min_max(pos2(room.left(), room.bottom() - FOOT), room.max);
    let language = state.prefs.learned.language;
    ui.scope_builder(UiBuilder::new().max_rect(line), |ui| {
        ui.with_layout(Layout::right_to_left(Align::Max), |ui| {
            let palette = Palette::of(ui);
            let is_possible = obstacle(state, Action::GoOn).is_none();
            let text = next.text(language);
            let key = RichText::new("Enter").font(mono(size::SMALL));
            let name = RichText::new(text)
                .font(sans(size::BODY))
                .color(palette.strong);
            let next = Button::new((name, key.weak())).min_size(vec2(112.0, 28.0));
            let response = ui.add_enabled(is_possible, next.selected(is_possible));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, is_possible, text));
            let why_not = tooltip_with_obstacle(ui, state, Action::GoOn);
            push_on_click(
                response.on_disabled_hover_text(why_not),
                Action::GoOn,
                commands,
            );
            if obstacle(state, Action::SkipStep).is_none() {
                button_with_key(ui, state, Action::SkipStep, Word::Skip, commands);
            }
            if state.learn.playing().is_some() {
                button_with_key(ui, state, Action::PreviousPage, Word::Back, commands);
            }
            ui.add_space(space::GAP);
        });
    });
}

/// Returns the area above the buttons.
pub fn above_foot(mut room: Rect) -> Rect {
    room.max.y -= FOOT + space::GAP;
    room
}

/// Shows scrollable content in `room`.
pub fn scrolled(ui: &mut Ui, name: &str, room: Rect, content: impl FnOnce(&mut Ui)) {
    ui.scope_builder(UiBuilder::new().max_rect(room), |ui| {
        ui.set_clip_rect(room.expand(3.0).intersect(ui.clip_rect()));
        egui::ScrollArea::vertical()
            .id_salt(name)
            .auto_shrink([false, false])
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing.y = 6.0;
                content(ui);
            });
    });
}
