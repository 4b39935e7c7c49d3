//! The quiz: questions drawn by a seed, and their results.

use std::sync::Arc;

use loadscope_lessons::{Judgement, Quiz};
use loadscope_plan::plan::normalized;

use super::stage::{set_panels, want_step};
use super::user_window::{add_error, open_contents, save_user_window};
use crate::state::State;
use crate::state::learn::{LessonView, Page, Quizzing};

/// Starts the quiz with this seed.
pub(super) fn open(state: &mut State, seed: u64) {
    let quiz = match Quiz::built_in(state.prefs.learned.language) {
        Ok(quiz) => quiz,
        Err(error) => {
            add_error(state, error.to_string());
            return;
        }
    };
    save_user_window(state);
    state.learn.page = Some(Page::Quiz(Box::new(Quizzing {
        drawn: quiz.draw(seed),
        quiz: Arc::new(quiz),
        seed,
        answers: Vec::new(),
        stage: LessonView::default(),
    })));
    enter(state);
}

fn enter(state: &mut State) {
    let Some(Page::Quiz(quizzing)) = &mut state.learn.page else {
        return;
    };
    quizzing.stage = LessonView::default();
    let step = quizzing.step();
    set_panels(state);
    match step {
        Some(step) => {
            state.prefs.options = normalized(step.options.clone());
            want_step(state, step);
        }
        None => finish(state),
    }
}

/// Stores the result of a completed quiz.
fn finish(state: &mut State) {
    if let Some(quizzing) = state.learn.quizzing() {
        let (seed, right, of) = (quizzing.seed, quizzing.right(), quizzing.drawn.len());
        let progress = &mut state.prefs.learned.progress;
        progress.keep_quiz(seed, right as u32, of as u32);
    }
}

/// Returns to the list of lessons after the last question.
pub(super) fn next_page(state: &mut State) {
    if state.learn.quizzing().is_some_and(|q| q.entry().is_none()) {
        open_contents(state);
    }
}

/// Records the judgement of a question. Returns `None` if it was skipped.
pub(super) fn answered(state: &mut State, judged: Option<Judgement>) {
    if let Some(Page::Quiz(quizzing)) = &mut state.learn.page {
        quizzing.answers.push(judged);
        enter(state);
    }
}

/// Shows the same question in the other language.
pub(super) fn translate(state: &mut State) {
    let language = state.prefs.learned.language;
    if let (Some(Page::Quiz(quizzing)), Ok(quiz)) =
        (&mut state.learn.page, Quiz::built_in(language))
    {
        quizzing.quiz = Arc::new(quiz);
    }
}
