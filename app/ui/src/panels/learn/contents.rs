//! List of lessons, the quiz and the detective cases, with progress.

use egui::{
    Button, Galley, Rect, Response, RichText, Role, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    UiBuilder, WidgetInfo, pos2, vec2,
};
use loadscope_lessons::cases::CASES;
use loadscope_lessons::{Language, Lesson};
use loadscope_model::command::{Command, LearnCommand};
use loadscope_model::state::State;
use std::sync::Arc;

use super::lesson::result;
use super::nav::{HEAD, head};
use super::text::rich;
use super::words::Word;
use crate::kit::empty::remark;
use crate::kit::titles::title;
use crate::theme::{Palette, heading, mono, size, space};

/// Width of the list, points.
const WIDTH: f32 = 980.0;
/// Minimum width of a list with two columns, points.
const TWO_COLUMNS: f32 = 640.0;
const PAD: f32 = 12.0;

/// Shows the list in all of `ui`.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let language = state.prefs.learned.language;
    let side = ((ui.available_width() - WIDTH) / 2.0)
        .max(space::GROUP)
        .floor();
    let between = |ui: &mut Ui, content: &mut dyn FnMut(&mut Ui)| {
        let room = ui.available_rect_before_wrap().shrink2(vec2(side, 0.0));
        ui.scope_builder(UiBuilder::new().max_rect(room), content);
    };
    // The close button stays visible while the list scrolls.
    between(ui, &mut |ui| {
        ui.add_space(space::GROUP);
        let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEAD), Sense::hover());
        ui.scope_builder(UiBuilder::new().max_rect(line), |ui| {
            head(ui, state, "", None, &mut commands);
            let at = line.left_center() - vec2(0.0, 3.0);
            ui.painter().text(
                at,
                egui::Align2::LEFT_CENTER,
                Word::Lessons.text(language),
                heading(size::TITLE),
                Palette::of(ui).strong,
            );
        });
    });
    ScrollArea::vertical()
        .id_salt("lessons")
        .auto_shrink([false, false])
        .show(ui, |ui| {
            between(ui, &mut |ui| {
                remark(ui, Word::Intro.text(language));
                ui.add_space(space::GAP * 2.0);
                lessons(ui, state, language, &mut commands);
                quiz(ui, state, language, &mut commands);
                cases(ui, state, language, &mut commands);
                ui.add_space(space::GROUP);
            });
        });
    commands
}

fn lessons(ui: &mut Ui, state: &State, language: Language, commands: &mut Vec<Command>) {
    let Some(course) = &state.learn.course else {
        return;
    };
    let columns = if ui.available_width() >= TWO_COLUMNS {
        2
    } else {
        1
    };
    let gap = space::GAP * 2.0;
    let width = (ui.available_width() - gap * (columns - 1) as f32) / columns as f32;
    // The first column is filled first, like a table of contents.
    let rows = course.lessons().len().div_ceil(columns);
    for row in 0..rows {
        let of_row: Vec<Card<'_>> = (0..columns)
            .filter_map(|column| course.lessons().get(row + column * rows))
            .map(|lesson| Card::new(ui, state, language, lesson, width))
            .collect();
        let height = of_row.iter().map(Card::height).fold(0.0, f32::max);
        let (line, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
        for (k, card) in of_row.iter().enumerate() {
            let left = line.left() + k as f32 * (width + gap);
            let rect = Rect::from_min_size(pos2(left, line.top()), vec2(width, height));
            if card.show(ui, rect).clicked() {
                commands.push(LearnCommand::Lesson(card.lesson.number).into());
            }
        }
        ui.add_space(gap - ui.spacing().item_spacing.y);
    }
}

/// Lesson in the list.
struct Card<'a> {
    lesson: &'a Lesson,
    goal: Arc<Galley>,
    progress: String,
    is_done: bool,
}

impl<'a> Card<'a> {
    fn new(ui: &Ui, state: &State, language: Language, lesson: &'a Lesson, width: f32) -> Self {
        let palette = Palette::of(ui);
        let mut job = rich(ui, &lesson.goal, size::BODY, palette.weak);
        job.wrap.max_width = width - 2.0 * PAD - 28.0;
        let kept = state.prefs.learned.progress.lessons.get(&lesson.number);
        let progress = match kept {
            Some(kept) if kept.done => Word::Done.text(language).to_owned(),
            Some(kept) => format!(
                "{} {} / {}",
                Word::Step.text(language),
                kept.step + 1,
                lesson.steps().len()
            ),
            None => String::new(),
        };
        Self {
            lesson,
            goal: ui.painter().layout_job(job),
            progress,
            is_done: kept.is_some_and(|kept| kept.done),
        }
    }

    fn height(&self) -> f32 {
        (PAD * 2.0 + 22.0 + self.goal.size().y).ceil()
    }

    fn show(&self, ui: &Ui, rect: Rect) -> Response {
        let palette = Palette::of(ui);
        let id = egui::Id::unique(("lesson", self.lesson.number));
        let response = ui.interact(rect, id, Sense::click());
        let name = format!("{}  {}", self.lesson.number, self.lesson.title);
        let spoken = format!("{name} {}", self.progress);
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, spoken.trim()));
        let active = response.hovered() || response.has_focus();
        let stroke = match active {
            true => Stroke::new(1.0, palette.weak),
            false => Stroke::new(1.0, palette.line),
        };
        let ground = if active {
            palette.hovered()
        } else {
            palette.canvas
        };
        let painter = ui.painter();
        painter.rect(rect, 4.0, ground, stroke, StrokeKind::Inside);
        let top = rect.top() + PAD + 8.0;
        let number = pos2(rect.left() + PAD, top);
        let ink = if self.is_done {
            palette.weak
        } else {
            palette.strong
        };
        let middle = egui::Align2::LEFT_CENTER;
        let digits = self.lesson.number.to_string();
        painter.text(number, middle, digits, mono(size::BODY), palette.weak);
        let at = pos2(rect.left() + PAD + 28.0, top);
        painter.text(at, middle, &self.lesson.title, heading(size::BODY), ink);
        let at = pos2(rect.left() + PAD + 28.0, top + 14.0);
        painter.galley(at, Arc::clone(&self.goal), palette.weak);
        painter.text(
            pos2(rect.right() - PAD, top),
            egui::Align2::RIGHT_CENTER,
            &self.progress,
            mono(size::SMALL),
            palette.weak,
        );
        response
    }
}

fn quiz(ui: &mut Ui, state: &State, language: Language, commands: &mut Vec<Command>) {
    ui.add_space(space::GROUP);
    title(ui, Word::Quiz.text(language));
    remark(ui, Word::QuizAbout.text(language));
    let progress = &state.prefs.learned.progress;
    ui.horizontal(|ui| {
        let text = Word::StartQuiz.text(language);
        if ui.button(text).clicked() {
            // Each quiz draws different questions.
            let next = progress.quizzes.last().map_or(1, |(seed, ..)| seed + 1);
            commands.push(LearnCommand::Quiz(next).into());
        }
        if let Some((_, right, of)) = progress.quizzes.last() {
            let last = Word::LastQuiz.text(language);
            remark(ui, &format!("{last}: {}", result(language, *right, *of)));
        }
    });
}

fn cases(ui: &mut Ui, state: &State, language: Language, commands: &mut Vec<Command>) {
    ui.add_space(space::GROUP);
    title(ui, Word::Cases.text(language));
    remark(ui, Word::CasesAbout.text(language));
    let learned = &state.prefs.learned;
    let seed = learned.cases_seed();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for number in 1..=CASES {
            let scores = learned.progress.cases.iter();
            let score = scores.filter(|(s, c, _)| (*s, *c) == (seed, number));
            let score = score.map(|(.., score)| *score).next();
            let text = match score {
                Some(score) => format!("{number}  {score} / 100"),
                None => number.to_string(),
            };
            let button = Button::new(RichText::new(&text).font(mono(size::BODY)));
            let response = ui.add(button.min_size(vec2(36.0, 28.0)));
            let name = format!("{} {number}", Word::Case.text(language));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
            if response.clicked() {
                commands.push(LearnCommand::Case(seed, number).into());
            }
        }
        if ui.button(Word::OtherCases.text(language)).clicked() {
            commands.push(LearnCommand::Seed(seed + 1).into());
        }
    });
}
