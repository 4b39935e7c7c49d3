//! Opening, stepping through, answering and leaving lessons. The user's run and options are set aside and restored later.

use loadscope_lessons::{Answer, Language};
use loadscope_trace::Nanos;

use crate::command::{Action, LearnCommand};
use crate::effect::Effect;
use crate::state::learn::{LessonJob, LessonRunKind, Outcome, Page, Prepared};
use crate::state::{Source, State};

mod answer;
mod case;
mod lesson;
mod quiz;
mod stage;
mod user_window;

use user_window::{load_course, open_contents, restore_user_window};

pub use answer::{by_digit, candidates, takes_digits};
pub(super) use answer::{is_answer, obstacle};
pub use stage::{has_wandered, takes_place};

/// Performs the actions of lessons.
pub(super) fn act(state: &mut State, action: Action) -> Option<Effect> {
    match action {
        // The key that opens the list also closes it.
        Action::Learn if state.learn.shows_contents() => return leave_contents(state),
        Action::Learn => open_contents(state),
        Action::LeaveLesson => return leave(state),
        Action::GoOn => next_page(state),
        Action::SkipStep => skip(state),
        Action::PreviousPage => lesson::back(state),
        Action::ReturnToStep => return_home(state),
        Action::ToggleLecture => lesson::toggle_lecture(state),
        Action::ChangeLanguage => {
            let other = match state.language() {
                Language::En => Language::Zh,
                Language::Zh => Language::En,
            };
            set_language(state, other);
            state.prefs.language = Some(other);
            // The choice replaces the language requested at the start.
            state.place.asked_language = None;
            return Some(Effect::SetLanguage(other));
        }
        _ => {}
    }
    None
}

/// Performs the other requests of a learner.
pub(super) fn carry_out(state: &mut State, command: LearnCommand) {
    match command {
        LearnCommand::Lesson(number) => lesson::open(state, number),
        LearnCommand::Preview(path, read) => lesson::preview(state, path, read),
        LearnCommand::Step(step) => lesson::jump(state, step),
        LearnCommand::Draft(draft) => {
            if let Some(stage) = state.learn.stage_mut() {
                stage.draft = draft;
            }
        }
        LearnCommand::Answer(answer) => answer::give(state, &answer),
        LearnCommand::Target(target) => {
            answer::give(state, &Answer::Click(target));
        }
        LearnCommand::Language(language) => set_language(state, language),
        LearnCommand::Solution => lesson::show_solution(state),
        LearnCommand::Quiz(seed) => quiz::open(state, seed),
        LearnCommand::Seed(seed) => state.prefs.learned.cases = seed,
        LearnCommand::Case(seed, number) => case::open(state, seed, number),
        LearnCommand::Name(culprit) => case::name(state, culprit),
        LearnCommand::Choose(remedy) => case::choose(state, remedy),
        LearnCommand::Solve => case::solve(state),
    }
}

/// Submits the draft answer, finishes a playback, or goes to the next step.
fn next_page(state: &mut State) {
    if stage::finish_replay(state) || answer::give_draft(state) {
        return;
    }
    match &state.learn.page {
        Some(Page::Lesson(_)) => lesson::forward(state),
        Some(Page::Quiz(_)) => quiz::next_page(state),
        Some(Page::Case(_)) => case::next_page(state),
        Some(Page::Contents) | None => {}
    }
}

fn skip(state: &mut State) {
    match &state.learn.page {
        Some(Page::Lesson(_)) => lesson::forward(state),
        Some(Page::Quiz(_)) => quiz::answered(state, None),
        Some(Page::Case(_) | Page::Contents) | None => {}
    }
}

fn set_language(state: &mut State, language: Language) {
    state.prefs.learned.language = language;
    if !load_course(state) {
        return;
    }
    match &state.learn.page {
        Some(Page::Lesson(_)) => lesson::translate(state),
        Some(Page::Quiz(_)) => quiz::translate(state),
        Some(Page::Contents | Page::Case(_)) | None => {}
    }
}

/// Returns from a lesson to the list, or from the list to the user's window.
fn leave(state: &mut State) -> Option<Effect> {
    state.learn.wanted = None;
    state.overlay.messages_open = false;
    if !state.learn.shows_contents() {
        open_contents(state);
        return None;
    }
    leave_contents(state)
}

/// Closes the list of lessons, if it is shown, and restores the user's window.
pub(super) fn leave_contents(state: &mut State) -> Option<Effect> {
    if !state.learn.shows_contents() {
        return None;
    }
    state.learn.page = None;
    let run = restore_user_window(state)?.run;
    let run = run.filter(|number| state.runs.get(*number).is_some());
    // The run of a lesson is replaced by the user's run.
    state.session.lesson_run?;
    Some(run.map_or(Effect::Close, Effect::ShowRun))
}

/// Returns the role of a new run in a lesson: an attempt of the learner. Returns `None` from the list of lessons, where it is the user's
/// own run.
pub(super) fn kind_of(state: &mut State, source: &Source, watched: bool) -> Option<LessonRunKind> {
    let is_tried = !watched && matches!(source, Source::Live { .. } | Source::Simulating);
    match state.learn.page.as_ref()? {
        Page::Lesson(_) | Page::Quiz(_) | Page::Case(_) => is_tried.then_some(LessonRunKind::Trial),
        Page::Contents => {
            let options = state.prefs.options.clone();
            state.learn.page = None;
            let _ = restore_user_window(state);
            // The run was started with these options.
            if is_tried {
                state.prefs.options = options;
            }
            None
        }
    }
}

/// Checks the learner's run if it has ended.
pub(super) fn after_session_event(state: &mut State) {
    if state.session.lesson_run != Some(LessonRunKind::Trial) {
        return;
    }
    match state.session.source {
        Source::Finished => lesson::look_at_try(state),
        // The run was refused, so the run of the step is shown again.
        Source::None if state.learn.wanted.is_none() => ask_again(state),
        Source::None
        | Source::Loading { .. }
        | Source::Simulating
        | Source::Live { .. }
        | Source::Recording { .. } => {}
    }
}

/// Restores the position of the step.
fn return_home(state: &mut State) {
    match state.session.lesson_run {
        Some(_) if state.session.source == Source::Finished => stage::go_home(state),
        Some(_) | None => ask_again(state),
    }
}

/// Requests the run of the step again.
fn ask_again(state: &mut State) {
    let step = match &state.learn.page {
        Some(Page::Lesson(playing)) => Some(playing.step()),
        Some(Page::Quiz(quizzing)) => quizzing.step(),
        Some(Page::Case(detecting)) => {
            let (seed, number) = (detecting.seed, detecting.number);
            stage::want(state, LessonJob::Case(seed, number));
            None
        }
        Some(Page::Contents) | None => None,
    };
    if let Some(step) = step {
        stage::set_panels(state);
        stage::want_step(state, step);
    }
}

/// Applies the result of a background job.
pub(super) fn prepared(state: &mut State, prepared: Prepared) {
    let is_wanted = |state: &State| {
        let wanted = state.learn.wanted.as_ref();
        wanted.is_some_and(|wanted| wanted.number == prepared.number)
    };
    if !is_wanted(state) {
        return;
    }
    state.learn.wanted = None;
    match prepared.outcome {
        Ok(Outcome::Step(run)) => {
            stage::install(state, *run);
            lesson::begin_replay_of_answer(state);
        }
        Ok(Outcome::Case(case)) => case::made(state, &case),
        Ok(Outcome::Solved(solved)) => case::solved(state, *solved),
        Err(why) => {
            if let Some(stage) = state.learn.stage_mut() {
                stage.trouble = Some(why);
            }
        }
    }
}

/// Advances a playback.
pub(super) fn frame(state: &mut State, elapsed: Nanos) {
    if state.learn.page.is_some() {
        stage::advance(state, elapsed);
    }
}

#[cfg(test)]
mod tests;
