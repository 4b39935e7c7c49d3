//! Playing a lesson: opening, steps, trials, translation.

use std::path::PathBuf;

use loadscope_lessons::{BuiltInPrograms, Lesson, Moment, Phase, Play, QueryContext, Task};
use loadscope_plan::plan::normalized;

use super::stage::{begin_replay, go_home, go_to, set_panels, want_step};
use super::user_window::{add_error, load_course, open_contents, play_of, save_user_window};
use crate::state::State;
use crate::state::learn::{LessonView, Page, Playing};
use crate::view::Cursor;

/// Opens the lesson with this number at the step where it was left, or at its start.
pub(super) fn open(state: &mut State, number: u32) {
    if !load_course(state) {
        return;
    }
    match play_of(state, number) {
        Some(play) => begin(state, Playing::new(play)),
        None => open_contents(state),
    }
}

/// Shows a lesson that is being written, at the previously shown step.
pub(super) fn preview(state: &mut State, path: PathBuf, read: Result<Box<Lesson>, String>) {
    let open = state.learn.playing_mut();
    let open = open.filter(|playing| playing.file.as_ref() == Some(&path));
    match (read, open) {
        (Ok(lesson), Some(playing)) => {
            playing.mistake = None;
            playing.play.replace_lesson(&lesson);
            let (step, _) = playing.play.position();
            let mut play = Play::from(&lesson, step);
            play.set_lecture(playing.play.is_lecture());
            playing.play = play;
            enter(state);
        }
        (Ok(lesson), None) => {
            let mut play = Play::of(&lesson);
            play.set_lecture(state.prefs.learned.lecture);
            let mut playing = Playing::new(play);
            playing.file = Some(path);
            state.prefs.learned.language = lesson.language;
            let _ = load_course(state);
            begin(state, playing);
        }
        (Err(mistake), Some(playing)) => playing.mistake = Some(mistake),
        (Err(mistake), None) => add_error(state, mistake),
    }
}

fn begin(state: &mut State, playing: Playing) {
    save_user_window(state);
    state.learn.page = Some(Page::Lesson(Box::new(playing)));
    enter(state);
}

/// Starts a step.
fn enter(state: &mut State) {
    let Some(playing) = state.learn.playing_mut() else {
        return;
    };
    playing.stage = LessonView::default();
    playing.tried = None;
    playing.found.clear();
    let step = playing.step();
    let options = normalized(step.options.clone());
    // Undo reverts only changes of this step.
    state.look.history = crate::history::History::default();
    state.prefs.options = options;
    keep(state);
    set_panels(state);
    want_step(state, step);
}

/// Stores the progress.
pub(super) fn keep(state: &mut State) {
    let Some(playing) = state.learn.playing() else {
        return;
    };
    // A lecture contains no information about the learner's knowledge.
    if playing.file.is_some() || playing.play.is_lecture() {
        return;
    }
    let number = playing.play.lesson().number;
    let now = playing.play.progress().clone();
    state.prefs.learned.progress.keep(number, now);
}

/// Goes to the next step, or after the last one to the next lesson.
pub(super) fn forward(state: &mut State) {
    let Some(playing) = state.learn.playing_mut() else {
        return;
    };
    if *playing.play.phase() == Phase::Finished {
        let next = playing.play.lesson().number + 1;
        match state.learn.lesson(next) {
            Some(_) => open(state, next),
            None => open_contents(state),
        }
        return;
    }
    playing.play.forward();
    match playing.play.phase() {
        Phase::Finished => {
            keep(state);
            go_home(state);
        }
        _ => enter(state),
    }
}

/// Goes to the previous step.
pub(super) fn back(state: &mut State) {
    if let Some(playing) = state.learn.playing_mut() {
        // After the end of a lesson, the previous step is the last step.
        match playing.play.phase() {
            Phase::Finished => {
                let (step, _) = playing.play.position();
                let mut play = Play::from(playing.play.lesson(), step);
                play.set_lecture(playing.play.is_lecture());
                playing.play = play;
            }
            _ => playing.play.back(),
        }
        enter(state);
    }
}

/// Goes to a step that was already reached.
pub(super) fn jump(state: &mut State, step: usize) {
    if state
        .learn
        .playing_mut()
        .is_some_and(|playing| playing.play.jump(step))
    {
        enter(state);
    }
}

/// Turns lecture mode, which hides the questions, on or off.
pub(super) fn toggle_lecture(state: &mut State) {
    let lecture = !state.prefs.learned.lecture;
    state.prefs.learned.lecture = lecture;
    if let Some(playing) = state.learn.playing_mut() {
        playing.play.set_lecture(lecture);
        enter(state);
    }
}

/// Shows the same step in the other language.
pub(super) fn translate(state: &mut State) {
    let Some(number) = state.learn.playing().map(|p| p.play.lesson().number) else {
        return;
    };
    let Some(lesson) = state.learn.lesson(number).cloned() else {
        return;
    };
    if let Some(playing) = state.learn.playing_mut().filter(|p| p.file.is_none()) {
        playing.play.replace_lesson(&lesson);
    }
}

/// Requests the run of an answered question, if it differs from the run of the step. Returns false if it does not.
pub(super) fn want_changed(state: &mut State) -> bool {
    let Some(playing) = state.learn.playing() else {
        return false;
    };
    if playing.play.changes().is_none() {
        return false;
    }
    let step = playing.step();
    state.prefs.options = normalized(step.options.clone());
    want_step(state, step);
    true
}

/// Starts the playback to the answer in a lecture, and for the changed run of an answered question.
pub(super) fn begin_replay_of_answer(state: &mut State) {
    let Some(playing) = state.learn.playing() else {
        return;
    };
    let is_question = matches!(playing.play.step().task, Task::Predict { .. });
    let is_lecture = playing.play.is_lecture() && is_question;
    if is_lecture || playing.play.changes().is_some() {
        let from = playing.stage.from;
        go_to(state, from);
        begin_replay(state);
    }
}

/// Sets the options of the solution.
pub(super) fn show_solution(state: &mut State) {
    let Some(playing) = state.learn.playing() else {
        return;
    };
    let solution = playing.play.solution();
    let solved = solution.and_then(|changes| changes.apply(playing.play.options()).ok());
    if let Some(options) = solved {
        state.look.history.end_group();
        crate::update::edit::edit(state, options);
        state.look.history.end_group();
    }
}

/// Checks if the learner's finished run reaches the goal.
pub(super) fn look_at_try(state: &mut State) {
    let run = state.session.run.snapshot();
    let number = state.session.run_number;
    let Some(playing) = state.learn.playing_mut() else {
        return;
    };
    if playing.looked_at == Some(number) {
        return;
    }
    playing.looked_at = Some(number);
    playing.tried = Some(playing.play.check_trial(&run, &BuiltInPrograms));
    playing.found = match &playing.play.step().task {
        Task::Try(trial) => QueryContext::at(&run, Moment::End, &BuiltInPrograms)
            .map(|about| trial.goal.found(about))
            .unwrap_or_default(),
        Task::Look { .. } | Task::Predict { .. } | Task::Code { .. } => Vec::new(),
    };
    let end = run.transitions().len();
    state.session.cursor = Cursor::Step(end);
    state.overlay.hint = None;
    keep(state);
}
