//! Detective case in the player: causes, remedies and their effect.

use egui::{Button, Rect, Ui, WidgetInfo, pos2};
use loadscope_lessons::Language;
use loadscope_lessons::cases::{Case, Culprit, Solved};
use loadscope_model::command::{Command, LearnCommand};
use loadscope_model::state::State;
use loadscope_model::state::learn::Detecting;

use super::nav::{HEAD, above_foot, foot, head, scrolled};
use super::text::line;
use super::words::Word;
use crate::kit::empty::remark;
use crate::theme::{size, space};

/// Shows the case in all of `ui`.
pub fn show(ui: &mut Ui, state: &State, detecting: &Detecting, commands: &mut Vec<Command>) {
    let language = state.prefs.learned.language;
    let name = format!("{} {}", Word::Case.text(language), detecting.number);
    head(ui, state, &name, None, commands);
    let mut room = ui.max_rect();
    room.min.y += HEAD;
    let inner = above_foot(room);
    match (&detecting.case, &detecting.solved) {
        (_, Some(solved)) => {
            scrolled(ui, "case solved", inner, |ui| outcome(ui, language, solved));
        }
        (Some(case), None) => choices(ui, language, inner, detecting, case, commands),
        (None, None) => {
            let trouble = detecting.stage.trouble.as_deref();
            let text = trouble.unwrap_or(Word::MakingCase.text(language));
            scrolled(ui, "case", inner, |ui| remark(ui, text));
        }
    }
    let next = match detecting.solved {
        Some(_) => Word::NextCase,
        None => Word::Judge,
    };
    foot(ui, state, room, next, commands);
}

fn choices(
    ui: &mut Ui,
    language: Language,
    room: Rect,
    detecting: &Detecting,
    case: &Case,
    commands: &mut Vec<Command>,
) {
    let middle = room.center().x;
    let left = Rect::from_min_max(room.min, pos2(middle - space::GROUP / 2.0, room.bottom()));
    let right = Rect::from_min_max(pos2(middle + space::GROUP / 2.0, room.top()), room.max);
    let count = match case.count() {
        1 => String::new(),
        count => format!("  ({} {count})", Word::Pick.text(language)),
    };
    scrolled(ui, "case causes", left, |ui| {
        let text = format!("{}{count}", Word::WhatIsWrong.text(language));
        line(ui, &text, size::BODY);
        ui.horizontal_wrapped(|ui| {
            for culprit in Culprit::ALL {
                let on = detecting.named.contains(&culprit);
                if toggle(ui, culprit.label(language), on) {
                    commands.push(LearnCommand::Name(culprit).into());
                }
            }
        });
    });
    scrolled(ui, "case remedies", right, |ui| {
        let text = format!("{}{count}", Word::WhatHelps.text(language));
        line(ui, &text, size::BODY);
        ui.horizontal_wrapped(|ui| {
            for remedy in &case.remedies {
                let on = detecting.chosen.contains(remedy);
                if toggle(ui, &remedy.label(language), on) {
                    commands.push(LearnCommand::Choose(*remedy).into());
                }
            }
        });
    });
}

/// Shows a toggle button. Returns true if it was clicked.
fn toggle(ui: &mut Ui, text: &str, on: bool) -> bool {
    let response = ui.add(Button::new(text).selected(on));
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, on, text));
    response.clicked()
}

fn outcome(ui: &mut Ui, language: Language, solved: &Solved) {
    let word = |word: Word| word.text(language);
    let is_right = match solved.is_named {
        true => word(Word::Right),
        false => word(Word::Wrong),
    };
    line(
        ui,
        &format!(
            "{is_right}  ·  {}: {} / 100",
            word(Word::Score),
            solved.score
        ),
        size::LESSON,
    );
    let causes: Vec<&str> = solved.causes.iter().map(|c| c.label(language)).collect();
    remark(ui, &format!("{}: {}", word(Word::Cause), causes.join(", ")));
    for culprit in &solved.causes {
        remark(ui, culprit.explanation(language));
    }
    let best: Vec<String> = solved.best.iter().map(|r| r.label(language)).collect();
    remark(ui, &format!("{}: {}", word(Word::Best), best.join(", ")));
    let after = match solved.after {
        Some(_) => word(Word::After),
        None => word(Word::Forecast),
    };
    let (before, then) = solved.took;
    remark(
        ui,
        &format!("{}: {before}  ·  {after}: {then}", word(Word::Before)),
    );
}
