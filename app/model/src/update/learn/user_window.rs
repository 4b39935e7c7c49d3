//! Setting the user's window aside for a lesson, restoring it, and the list of lessons.

use std::sync::Arc;

use loadscope_insight::session_event::Notice;
use loadscope_lessons::{Course, Play};

use crate::state::State;
use crate::state::learn::{Page, UserWindow};
use crate::update::session_events::add_notice;

/// Shows the list of lessons. Sets the user's window aside first.
pub(super) fn open_contents(state: &mut State) {
    if !load_course(state) {
        return;
    }
    save_user_window(state);
    state.learn.page = Some(Page::Contents);
    state.learn.wanted = None;
    state.overlay.messages_open = false;
    state.session.playing = false;
}

/// Reads the lessons in the chosen language. Returns false on an error.
pub(super) fn load_course(state: &mut State) -> bool {
    let language = state.prefs.learned.language;
    let has = |course: &Arc<Course>| {
        let first = course.lessons().first();
        first.is_some_and(|lesson| lesson.language == language)
    };
    if state.learn.course.as_ref().is_some_and(has) {
        return true;
    }
    match Course::built_in(language) {
        Ok(course) => state.learn.course = Some(Arc::new(course)),
        Err(error) => {
            add_error(state, error.to_string());
            return false;
        }
    }
    true
}

/// Stores the state of the user's window, unless it is already stored.
pub(super) fn save_user_window(state: &mut State) {
    if state.learn.user_window.is_some() {
        return;
    }
    let session = &state.session;
    state.learn.user_window = Some(Box::new(UserWindow {
        options: state.prefs.options.clone(),
        history: std::mem::take(&mut state.look.history),
        workspace: state.prefs.workspace,
        panels: [
            state.prefs.options_open,
            state.prefs.inspector_open,
            state.prefs.variables_open,
        ],
        lower: state.look.lower,
        run: session.is_worth_keeping().then_some(session.number),
    }));
}

/// Restores the user's options and panels.
pub(super) fn restore_user_window(state: &mut State) -> Option<Box<UserWindow>> {
    let mut own = state.learn.user_window.take()?;
    state.prefs.options = own.options.clone();
    state.look.history = std::mem::take(&mut own.history);
    state.prefs.workspace = own.workspace;
    [
        state.prefs.options_open,
        state.prefs.inspector_open,
        state.prefs.variables_open,
    ] = own.panels;
    state.look.lower = own.lower;
    Some(own)
}

/// Returns the lesson at its start, or at the step where the learner left it.
pub(super) fn play_of(state: &State, number: u32) -> Option<Play> {
    let lesson = state.learn.lesson(number)?;
    let progress = &state.prefs.learned.progress;
    let kept = progress.lessons.get(&number);
    let step = kept.filter(|kept| !kept.done).map_or(0, |kept| kept.step);
    let mut play = Play::from(lesson, step);
    if kept.is_some_and(|kept| kept.done) {
        play.reach_all();
    }
    play.set_lecture(state.prefs.learned.lecture);
    Some(play)
}

/// Shows an error to the user.
pub(super) fn add_error(state: &mut State, text: String) {
    add_notice(state, Notice::error(text));
}
