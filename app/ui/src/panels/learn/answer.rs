//! Answers to a question: a number, a choice, an order or a click.

use egui::{Button, Key, Label, Response, Role, TextEdit, Ui, WidgetInfo, vec2};
use loadscope_lessons::{Answer, Choice, Kind, Question, Target};
use loadscope_model::command::{Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::state::learn::{Draft, LessonView};
use loadscope_model::update::candidates;

use super::text::{plain, rich};
use super::words::Word;
use crate::kit::empty::remark;
use crate::theme::{Palette, mono, size};

/// Shows the input for the answer.
pub fn show(
    ui: &mut Ui,
    state: &State,
    question: &Question,
    stage: &LessonView,
    commands: &mut Vec<Command>,
) {
    let language = state.prefs.learned.language;
    let Some(truth) = &stage.truth else {
        let text = stage.trouble.as_deref();
        remark(ui, text.unwrap_or(Word::Preparing.text(language)));
        return;
    };
    match &question.kind {
        Kind::Number { unit, .. } => number(ui, state, stage, unit, commands),
        Kind::Choice(choices) => {
            for (k, one) in choices.iter().enumerate() {
                let is_chosen = stage.draft.chosen == Some(k);
                if option(ui, k, &one.text, None, is_chosen).clicked() {
                    commands.push(LearnCommand::Answer(Answer::Choice(k)).into());
                }
            }
        }
        Kind::Order(_) => {
            let items = question.items(truth, language);
            order(ui, state, stage, &items, commands);
        }
        Kind::Click => click(ui, state, stage.draft.chosen, commands),
    }
    if let Some(trouble) = &stage.trouble {
        remark(ui, trouble);
    }
}

fn number(ui: &mut Ui, state: &State, stage: &LessonView, unit: &str, commands: &mut Vec<Command>) {
    let language = state.prefs.learned.language;
    let mut draft = stage.draft.clone();
    ui.horizontal(|ui| {
        let field = TextEdit::singleline(&mut draft.number)
            .font(mono(size::LESSON))
            .desired_width(88.0)
            .margin(vec2(8.0, 6.0));
        let response = ui.add(field);
        let name = Word::Number.text(language);
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::TextInput, true, name);
            info.current_text_value = Some(draft.number.clone());
            info
        });
        // The field takes the focus when the question appears, and again after Enter without a number.
        let now = (state.learn.asked, stage.draft.number.clone());
        let is_news = ui.data_mut(|data| {
            let asked: &mut (u64, String) = data.get_temp_mut_or_default(response.id);
            std::mem::replace(asked, now.clone()) != now
        });
        let enter = response.lost_focus() && ui.input(|i| i.key_pressed(Key::Enter));
        let is_empty = draft.value().is_none();
        if is_news || (enter && is_empty) {
            response.request_focus();
        }
        ui.label(unit);
        if draft != stage.draft {
            commands.push(LearnCommand::Draft(draft.clone()).into());
        }
        if let Some(value) = draft.value().filter(|_| enter) {
            commands.push(LearnCommand::Answer(Answer::Number(value)).into());
        }
    });
}

/// Shows an option with its key. `place` is its position in an order.
fn option(ui: &mut Ui, k: usize, text: &str, place: Option<usize>, is_chosen: bool) -> Response {
    let palette = Palette::of(ui);
    let key = match place {
        Some(place) => format!("{}.", place + 1),
        None => format!("{}", k + 1),
    };
    let mut job = rich(ui, text, size::BODY, palette.text);
    let width = ui.available_width();
    job.wrap.max_width = width - 44.0;
    let galley = ui.painter().layout_job(job);
    let height = (galley.size().y + 9.0).max(28.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), egui::Sense::click());
    let name = plain(text);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &name));
    let visuals = ui.style().interact_selectable(&response, is_chosen);
    let painter = ui.painter();
    painter.rect(
        rect,
        4.0,
        visuals.weak_bg_fill,
        visuals.bg_stroke,
        egui::StrokeKind::Inside,
    );
    painter.text(
        rect.left_center() + vec2(10.0, 0.0),
        egui::Align2::LEFT_CENTER,
        key,
        mono(size::SMALL),
        match is_chosen {
            true => palette.strong,
            false => palette.weak,
        },
    );
    let at = egui::pos2(rect.left() + 32.0, rect.center().y - galley.size().y / 2.0);
    painter.galley(at, galley, visuals.text_color());
    response
}

fn order(
    ui: &mut Ui,
    state: &State,
    stage: &LessonView,
    items: &[Choice],
    commands: &mut Vec<Command>,
) {
    let language = state.prefs.learned.language;
    let chosen = &stage.draft.order;
    ui.spacing_mut().item_spacing.y = 3.0;
    for (k, item) in items.iter().enumerate() {
        let place = chosen.iter().position(|at| *at == k);
        if option(ui, k, &item.text, place, place.is_some()).clicked() {
            commands.push(LearnCommand::Draft(toggled(&stage.draft, k)).into());
        }
    }
    remark(ui, Word::InOrder.text(language));
}

/// Returns the draft with `item` appended to the order. If it is already there, it and all later items are removed.
fn toggled(draft: &Draft, item: usize) -> Draft {
    let mut draft = draft.clone();
    draft.toggle(item);
    draft
}

/// Shows a button per candidate, for users who cannot click in the window.
fn click(ui: &mut Ui, state: &State, chosen: Option<usize>, commands: &mut Vec<Command>) {
    let language = state.prefs.learned.language;
    let text = rich(
        ui,
        Word::ClickIt.text(language),
        size::BODY,
        Palette::of(ui).weak,
    );
    ui.add(Label::new(text).wrap());
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for (k, target) in candidates(state).into_iter().enumerate() {
            let name = match &target {
                Target::Part(part) => part.label(language),
                Target::Batch(id) => loadscope_lessons::Value::Batch(*id).label(language),
            };
            let key = match k {
                0..=8 => format!("{}  ", k + 1),
                _ => String::new(),
            };
            let is_chosen = chosen == Some(k);
            let response = ui.add(Button::new(format!("{key}{name}")).selected(is_chosen));
            response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &name));
            if response.clicked() {
                commands.push(LearnCommand::Target(target).into());
            }
        }
    });
}
