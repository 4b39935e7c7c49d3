//! View of a step: run, moment, workspace and panels, and the playback between two moments.

use loadscope_insight::landmarks::Place;
use loadscope_insight::sampling::Choice;
use loadscope_lessons::{Below, Part, StepLayout, View};
use loadscope_trace::{BatchId, Nanos, Run};

use crate::state::learn::{
    Home, JobRequest, LessonJob, LessonRunKind, Outcome, Prepared, Replay, StepRequest, StepRun,
};
use crate::state::{Source, State};
use crate::update::future::reveal;
use crate::update::viewport::bring_into_view;
use crate::view::{Cursor, Item, LowerPanel, OptionsSource, Workspace};

/// Playback time per stage change, in real time.
const PER_STEP: Nanos = Nanos(350_000_000);
/// Minimum and maximum duration of a playback from a question to its answer.
const SHORTEST: Nanos = Nanos(1_500_000_000);
const LONGEST: Nanos = Nanos(6_000_000_000);

/// Requests a background job.
pub(super) fn want(state: &mut State, what: LessonJob) {
    state.learn.asked += 1;
    state.learn.wanted = Some(JobRequest {
        number: state.learn.asked,
        what,
    });
}

/// Requests the run of a step.
pub(super) fn want_step(state: &mut State, step: StepRequest) {
    if let Some(stage) = state.learn.stage_mut() {
        stage.trouble = None;
        stage.home = None;
        stage.replay = None;
    }
    want(state, LessonJob::Step(Box::new(step)));
}

/// Returns true if the result replaces the shown run.
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

/// Returns true if this run is already shown. The simulator returns the same run for the same options.
fn shows(state: &State, run: &StepRun) -> bool {
    state.session.lesson_run == Some(LessonRunKind::Given)
        && state.session.source == Source::Finished
        && state.session.run.info.options == run.run.info.options
        && state.session.run.events() == run.run.events()
}

/// Shows the run of a step at its moment.
pub(super) fn install(state: &mut State, step: StepRun) {
    if !shows(state, &step) {
        let StepRun { run, landmarks, .. } = &step;
        show_run(
            state,
            Run::clone(run),
            landmarks.clone(),
            LessonRunKind::Given,
        );
        state.session.asked = Some(step.options.clone());
    }
    if let Some(stage) = state.learn.stage_mut() {
        stage.truth = step.truth;
        stage.from = step.from;
        stage.until = step.until;
    }
    set_panels(state);
    // An answered question shows the moment of the answer.
    let place = match state.learn.question() {
        Some(_) => step.from,
        None => step.until,
    };
    go_to(state, place);
}

/// Replaces the shown run, which is set aside.
pub(super) fn show_run(
    state: &mut State,
    run: Run,
    landmarks: loadscope_insight::landmarks::Landmarks,
    lesson_run: LessonRunKind,
) {
    _ = state.stash_session();
    state.session.number = state.runs.next_number();
    state.session.run = run;
    state.session.landmarks = landmarks;
    state.session.source = Source::Finished;
    state.session.lesson_run = Some(lesson_run);
    state.session.options_of = OptionsSource::NextRun;
}

/// Moves the cursor to `place` and remembers it as the position of the step.
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

/// Selects the item of the moment. During a question it selects only the part that the inspector shows.
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

/// Returns the item that represents a part in the inspector.
fn item_of(part: &Part) -> Option<Item> {
    match part {
        Part::Sampler => Some(Item::Sampler),
        part => part.lane().map(Item::Lane),
    }
}

/// Opens the workspace and panels of the step, and closes the others to save space.
pub(super) fn set_panels(state: &mut State) {
    let shown = StepLayout::of(state.learn.parts());
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
        Below::Plots => LowerPanel::Plots,
        Below::Batches => LowerPanel::Batches,
        Below::Timeline => LowerPanel::Timeline,
    };
    state.session.options_of = OptionsSource::NextRun;
    // Shows the order of the run, not a predicted one.
    state.session.sampling = Choice {
        coloring: state.session.sampling.coloring,
        ..Choice::default()
    };
    state.look.search.open = false;
}

/// Starts the playback to the moment of the answer. Without animations it jumps there.
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

/// Advances the playback. If the learner moved the cursor, the playback ends.
pub fn advance(state: &mut State, elapsed: Nanos) {
    let Some(mut replay) = state.learn.stage().and_then(|stage| stage.replay) else {
        return;
    };
    let is_mine = state.session.cursor == replay.cursor && !state.session.playing;
    if !is_mine || state.session.lesson_run.is_none() {
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

/// Jumps to the end of the playback. Returns false if there is none.
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

/// Returns true if the learner has left the position of the step.
pub fn has_wandered(state: &State) -> bool {
    let Some(stage) = state.learn.stage() else {
        return false;
    };
    let Some(home) = stage.home.filter(|_| stage.replay.is_none()) else {
        return false;
    };
    let tries = state.session.lesson_run == Some(LessonRunKind::Trial);
    let is_elsewhere = home.cursor != state.session.cursor && !tries && !may_travel(state);
    is_elsewhere || home.workspace != state.prefs.workspace || state.session.lesson_run.is_none()
}

/// Returns true in steps where the learner should look around: in a case or a trial.
fn may_travel(state: &State) -> bool {
    let tries = state.learn.playing().is_some_and(|playing| {
        let task = &playing.play.step().task;
        matches!(task, loadscope_lessons::Task::Try(_))
    });
    tries || state.learn.detecting().is_some()
}

/// Restores the position of the step in its run.
pub(super) fn go_home(state: &mut State) {
    set_panels(state);
    let stage = state.learn.stage();
    let place = stage.and_then(|stage| match state.learn.question() {
        Some(_) => stage.from,
        None => stage.until,
    });
    match state.session.lesson_run {
        Some(LessonRunKind::Given) => go_to(state, place),
        Some(LessonRunKind::Trial) | None => remember(state),
    }
}
