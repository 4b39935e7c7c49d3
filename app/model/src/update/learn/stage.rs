//! What the window shows for a step: the run, the moment, the workspace and the panels; and the way from one moment to the next.

use loadscope_insight::landmarks::Place;
use loadscope_insight::sampling::Choice;
use loadscope_lessons::{Below, Part, Shown, View};
use loadscope_trace::{BatchId, Nanos, Run};

use crate::state::learn::{
    Home, LessonJob, OfLesson, Outcome, Prepared, Replay, StepOf, StepRun, Wanted,
};
use crate::state::{Source, State};
use crate::update::future::reveal;
use crate::update::look::bring_into_view;
use crate::view::{Cursor, Item, Lower, OptionsOf, Workspace};

/// Time for one change of stage, in the time of the person who watches.
const PER_STEP: Nanos = Nanos(350_000_000);
/// The shortest way from a question to the moment that answers it, and the longest.
const SHORTEST: Nanos = Nanos(1_500_000_000);
const LONGEST: Nanos = Nanos(6_000_000_000);

/// Asks for what has to be worked out.
pub(super) fn want(state: &mut State, what: LessonJob) {
    state.learn.asked += 1;
    state.learn.wanted = Some(Wanted {
        number: state.learn.asked,
        what,
    });
}

/// Asks for the run of a step.
pub(super) fn want_step(state: &mut State, step: StepOf) {
    if let Some(stage) = state.learn.stage_mut() {
        stage.trouble = None;
        stage.home = None;
        stage.replay = None;
    }
    want(state, LessonJob::Step(Box::new(step)));
}

/// True if what was worked out takes the place of the run that is shown.
pub fn takes_place(state: &State, prepared: &Prepared) -> bool {
    let wanted = state.learn.wanted.as_ref();
    if wanted.is_none_or(|wanted| wanted.number != prepared.number) {
        return false;
    }
    match &prepared.outcome {
        Ok(Outcome::Step(run)) => !shows(state, run),
        Ok(Outcome::Case(_)) => true,
        Ok(Outcome::Solved(solved)) => solved.after.is_some(),
        Err(_) => false,
    }
}

/// True if the same run is shown already: the simulator gives the same for the same options.
fn shows(state: &State, run: &StepRun) -> bool {
    state.session.of_lesson == Some(OfLesson::Given)
        && state.session.source == Source::Finished
        && state.session.run.info.options == run.run.info.options
        && state.session.run.events() == run.run.events()
}

/// Shows the run of a step, at its moment.
pub(super) fn install(state: &mut State, step: StepRun) {
    if !shows(state, &step) {
        let StepRun { run, landmarks, .. } = &step;
        show_run(state, Run::clone(run), landmarks.clone(), OfLesson::Given);
        state.session.asked = Some(step.options.clone());
    }
    if let Some(stage) = state.learn.stage_mut() {
        stage.truth = step.truth;
        stage.from = step.from;
        stage.until = step.until;
    }
    set_panels(state);
    // A question that was answered is at the moment that shows the answer.
    let place = match state.learn.question() {
        Some(_) => step.from,
        None => step.until,
    };
    go_to(state, place);
}

/// Shows a run in the place of the one that is shown, which is put aside.
pub(super) fn show_run(
    state: &mut State,
    run: Run,
    landmarks: loadscope_insight::landmarks::Landmarks,
    of_lesson: OfLesson,
) {
    _ = state.set_aside();
    state.session.number = state.runs.next_number();
    state.session.run = run;
    state.session.landmarks = landmarks;
    state.session.source = Source::Finished;
    state.session.of_lesson = Some(of_lesson);
    state.session.options_of = OptionsOf::NextRun;
}

/// Puts the cursor there, and remembers it.
pub(super) fn go_to(state: &mut State, place: Option<Place>) {
    reveal(state);
    state.session.playing = false;
    state.session.view = None;
    state.session.cursor = place.map_or(Cursor::Step(0), cursor);
    select(state);
    remember(state);
}

fn remember(state: &mut State) {
    let home = Home {
        cursor: state.session.cursor,
        workspace: state.prefs.workspace,
    };
    if let Some(stage) = state.learn.stage_mut() {
        stage.home = Some(home);
    }
}

fn cursor(place: Place) -> Cursor {
    match place {
        Place::Step(step) => Cursor::Step(step),
        Place::At(at) => Cursor::At(at),
    }
}

/// Selects what the moment is about. While a question is open nothing is, except for what the inspector shows.
fn select(state: &mut State) {
    let parts = state.learn.parts();
    let has_inspector = parts.contains(&Part::Inspector);
    let batch = match state.learn.playing() {
        Some(playing) if state.learn.question().is_none() => playing.play.moment().batch(),
        Some(_) | None => None,
    };
    let row = batch.and_then(|id: BatchId| state.session.run.row(id));
    let item = row.map(Item::Batch);
    let part = parts.iter().find_map(item_of).filter(|_| has_inspector);
    state.session.selection = item.or(part);
    state.session.enlarged = None;
}

/// What stands for a part in the inspector.
fn item_of(part: &Part) -> Option<Item> {
    match part {
        Part::Sampler => Some(Item::Sampler),
        part => part.lane().map(Item::Lane),
    }
}

/// Opens the workspace and the panels that the step is about, and closes the others: there is little room, and much to be seen.
pub(super) fn set_panels(state: &mut State) {
    let shown = Shown::of(state.learn.parts());
    let tries = state.learn.playing().is_some_and(|playing| {
        let task = &playing.play.step().task;
        matches!(task, loadscope_lessons::Task::Try(_)) && !playing.play.is_lecture()
    });
    let is_case = state.learn.detecting().is_some();
    state.prefs.workspace = match shown.view {
        View::Pipeline => Workspace::Debug,
        View::Sampling => Workspace::Sampling,
        View::Diagnose => Workspace::Diagnose,
    };
    state.prefs.options_open = tries || shown.options;
    state.prefs.inspector_open = shown.inspector || is_case;
    state.prefs.variables_open = shown.variables;
    state.overlay.messages_open = shown.messages;
    state.look.lower = match shown.below {
        Below::Plots => Lower::Plots,
        Below::Batches => Lower::Batches,
        Below::Timeline => Lower::Timeline,
    };
    state.session.options_of = OptionsOf::NextRun;
    // The order of the run, not one that is predicted.
    state.session.sampling = Choice {
        colouring: state.session.sampling.colouring,
        ..Choice::default()
    };
    state.look.search.open = false;
}

/// Plays from where the run stands to the moment that shows the answer. Without animations it goes there at once.
pub(super) fn begin_replay(state: &mut State) {
    let until = state.learn.stage().and_then(|stage| stage.until);
    let Some(until) = until else {
        return;
    };
    let from = state.now();
    let to = instant(state, until);
    let is_here = matches!(until, Place::Step(step) if step == state.step()) || to <= from;
    if is_here || state.look.still || state.prefs.workspace != Workspace::Debug {
        go_to(state, Some(until));
        return;
    }
    let steps = state.session.run.whole().transitions();
    let between = steps.iter().filter(|t| from < t.at && t.at <= to).count();
    let length = Nanos(PER_STEP.0.saturating_mul(between as i64));
    let cursor = Cursor::At(from);
    state.session.selection = None;
    state.session.cursor = cursor;
    if let Some(stage) = state.learn.stage_mut() {
        stage.replay = Some(Replay {
            from,
            to,
            elapsed: Nanos::ZERO,
            length: length.clamp(SHORTEST, LONGEST),
            cursor,
        });
    }
}

fn instant(state: &State, place: Place) -> Nanos {
    match place {
        Place::At(at) => at,
        Place::Step(step) => {
            let last = step.checked_sub(1);
            let transition =
                last.and_then(|last| state.session.run.whole().transitions().get(last));
            transition.map_or(Nanos::ZERO, |t| t.at)
        }
    }
}

/// Moves the cursor on its way. If the learner moves it, it stays where it was put.
pub fn advance(state: &mut State, elapsed: Nanos) {
    let Some(mut replay) = state.learn.stage().and_then(|stage| stage.replay) else {
        return;
    };
    let is_mine = state.session.cursor == replay.cursor && !state.session.playing;
    if !is_mine || state.session.of_lesson.is_none() {
        if let Some(stage) = state.learn.stage_mut() {
            stage.replay = None;
        }
        return;
    }
    replay.elapsed += elapsed;
    if replay.elapsed >= replay.length {
        finish_replay(state);
        return;
    }
    let share = replay.elapsed.0 as f64 / replay.length.0.max(1) as f64;
    let way = (replay.to - replay.from).0 as f64;
    let at = replay.from + Nanos((way * share) as i64);
    replay.cursor = Cursor::At(at);
    state.session.cursor = replay.cursor;
    bring_into_view(state, at);
    if let Some(stage) = state.learn.stage_mut() {
        stage.replay = Some(replay);
    }
}

/// Shows the end of what moves; false if nothing does.
pub(super) fn finish_replay(state: &mut State) -> bool {
    let Some(stage) = state.learn.stage_mut() else {
        return false;
    };
    if stage.replay.take().is_none() {
        return false;
    }
    let until = stage.until;
    go_to(state, until);
    true
}

/// True if the learner looks at something else than the step is about.
pub fn has_wandered(state: &State) -> bool {
    let Some(stage) = state.learn.stage() else {
        return false;
    };
    let Some(home) = stage.home.filter(|_| stage.replay.is_none()) else {
        return false;
    };
    let tries = state.session.of_lesson == Some(OfLesson::Tried);
    let is_elsewhere = home.cursor != state.session.cursor && !tries && !may_travel(state);
    is_elsewhere || home.workspace != state.prefs.workspace || state.session.of_lesson.is_none()
}

/// True where the learner is meant to look around: a case, a try.
fn may_travel(state: &State) -> bool {
    let tries = state.learn.playing().is_some_and(|playing| {
        let task = &playing.play.step().task;
        matches!(task, loadscope_lessons::Task::Try(_))
    });
    tries || state.learn.detecting().is_some()
}

/// Puts the window back to where the step is, with the run that is there.
pub(super) fn go_home(state: &mut State) {
    set_panels(state);
    let stage = state.learn.stage();
    let place = stage.and_then(|stage| match state.learn.question() {
        Some(_) => stage.from,
        None => stage.until,
    });
    match state.session.of_lesson {
        Some(OfLesson::Given) => go_to(state, place),
        Some(OfLesson::Tried) | None => remember(state),
    }
}
