//! Availability of actions. Unavailable actions are gray, and their keys show the reason.

use super::learn;
use super::travel::{SPEEDS, find, stage};
use super::travel::{adjacent_lane, lane, neighbour};
use super::viewport::{LARGEST, SMALLEST};
use crate::clipboard;
use crate::code;
use crate::command::Action;
use crate::state::learn::LessonRunKind;
use crate::state::{Source, State};
use crate::view::{Cursor, Item};
use crate::watching::TuneRuns;
use loadscope_insight::landmarks::Goal;
use loadscope_lessons::Pane;
use loadscope_words::{Text, say, text};

/// Returns true if `action` is available.
pub fn is_possible(state: &State, action: Action) -> bool {
    obstacle(state, action).is_none()
}

/// Returns the reason why `action` is unavailable. Returns `None` if it is available.
#[expect(clippy::too_many_lines, reason = "one arm an action")]
pub fn obstacle(state: &State, action: Action) -> Option<&'static str> {
    use Action as A;
    let session = &state.session;
    let no_run = unless(state.has_run(), say!("No run yet"));
    let in_page = unless(!state.place.in_page, IN_PAGE.say());
    let no_steps = no_run.or(unless(
        !session.run.whole().transitions().is_empty(),
        say!("No batch has been loaded yet"),
    ));
    // Measurements over time can be shown without a batch.
    let no_time = no_steps.filter(|_| !(state.has_run() && state.has_only_gauges()));
    let no_line = unless(
        code::place(state).is_some(),
        say!("No line of code is shown: open the Code panel"),
    );
    let moment = |goal, forwards| no_steps.or_else(|| moments(state, goal, forwards));
    match action {
        A::RunDemo
        | A::Simulate
        | A::Open
        | A::WatchProgram
        | A::Escape
        | A::ShowDebug
        | A::ShowTimeline
        | A::ShowBatches
        | A::ShowPlots
        | A::ToggleTheme
        | A::ToggleMotion
        | A::HideFuture
        | A::ToggleAsking
        | A::Palette
        | A::Glossary
        | A::ToggleNumbers
        | A::Help => None,
        A::Learn
        | A::GoOn
        | A::SkipStep
        | A::PreviousPage
        | A::ReturnToStep
        | A::ToggleLecture
        | A::ChangeLanguage
        | A::LeaveLesson => learn::obstacle(state, action),
        A::ShowSampling => unless(!state.learn.covers(Pane::Sampling), SAMPLING.say()),
        A::ToggleVariables => unless(!state.learn.covers(Pane::Variables), VARIABLES.say()),
        A::ToggleOptions => unless(!state.learn.covers(Pane::Options), OPTIONS.say()),
        A::OpenFolder | A::ChooseFolder => in_page,
        A::Quit => unless(!state.place.in_page, say!("Close the browser tab instead")),
        A::Run | A::RunPaused | A::RunSlowly => {
            in_page_without(state).or(unless(!state.place.no_engine, NO_ENGINE.say()))
        }
        A::ShowDiagnose if state.learn.detecting().is_some() => unless(
            !state.learn.hides_verdict(),
            say!("The diagnosis names the cause: solve the case first"),
        ),
        A::ShowDiagnose => unless(
            !state.learn.hides_verdict(),
            say!("The diagnosis may reveal the answer: answer the question first"),
        ),
        A::Stop => unless(session.source.is_live(), say!("No run is in progress")).or(unless(
            !(state.place.in_page && session.watched),
            NOT_OURS.say(),
        )),
        A::Save | A::Export if session.lesson_run == Some(LessonRunKind::Given) => {
            Some(GIVEN.say())
        }
        A::Save | A::Export if state.is_reading() => {
            Some(say!("The recording is still being read"))
        }
        A::Save => no_run.or(in_page).or(unless(
            !matches!(session.source, Source::Simulating),
            say!("The simulation is still running"),
        )),
        A::TryProgram => tries(state),
        A::EndTries => unless(
            state.look.trying.as_ref().is_some_and(TuneRuns::is_running),
            say!("No measurement is running"),
        ),
        A::Export => no_run.or(in_page).or(unless(
            session.exporting.is_none(),
            say!("An export is already running"),
        )),
        A::CancelExport => unless(session.exporting.is_some(), say!("No export is running")),
        A::Close => unless(
            !matches!(session.source, Source::None),
            say!("Nothing to close"),
        ),
        A::Undo => unless(state.look.history.can_undo(), say!("Nothing to undo")),
        A::Redo => unless(state.look.history.can_redo(), say!("Nothing to redo")),
        A::TakeOptions => no_run.or_else(|| options(state)),
        A::PauseResume if session.source.is_live() => None,
        A::LongestWait => no_steps.or(unless(
            !session.run.waits().is_empty(),
            say!("The trainer has not waited yet"),
        )),
        A::Replay => no_steps.or(unless(
            !session.source.is_live(),
            say!("The run is not over yet: go back with ← or on the ruler"),
        )),
        A::PauseResume | A::GoToStart | A::FollowLive => no_steps,
        A::StepForward if is_held_back(state) => Some(NOT_HELD.say()),
        A::StepForward if session.source.is_live() => None,
        A::StepForward => no_steps.or(unless(
            state.step() < session.run.whole().transitions().len(),
            say!("This is the last event of the run"),
        )),
        A::StepBack => no_steps.or(unless(
            state.step() > 0,
            say!("The time cursor is before the first event of the run"),
        )),
        A::Slower => no_steps.or(unless(
            state.look.speed > SPEEDS[0],
            say!("The minimum speed is 0.01×: use Step to go slower"),
        )),
        A::Faster => no_steps.or(unless(
            state.look.speed < SPEEDS[SPEEDS.len() - 1],
            say!("The maximum speed is 10×"),
        )),
        A::NextStage | A::PreviousStage => no_steps.or_else(|| stages(state, action)),
        A::NextSpan => no_steps.or_else(|| to_span(state, true)),
        A::PreviousSpan => no_steps.or_else(|| to_span(state, false)),
        A::LaneUp => no_steps.or_else(|| to_lane(state, false)),
        A::LaneDown => no_steps.or_else(|| to_lane(state, true)),
        A::NextBatch => moment(Goal::Batch, true),
        A::PreviousBatch => moment(Goal::Batch, false),
        A::NextStall => moment(Goal::Stall, true),
        A::PreviousStall => moment(Goal::Stall, false),
        A::NextOutOfOrder => moment(Goal::OutOfOrder, true),
        A::PreviousOutOfOrder => moment(Goal::OutOfOrder, false),
        A::NextTrouble => moment(Goal::Trouble, true),
        A::PreviousTrouble => moment(Goal::Trouble, false),
        A::NextMarker => moment(Goal::Marker, true),
        A::PreviousMarker => moment(Goal::Marker, false),
        A::NextMatch | A::PreviousMatch => no_run.or_else(|| matches(state)),
        A::ToggleMarker | A::ShowAll | A::ZoomIn => no_time,
        A::ClearMarkers => unless(
            !session.markers.all().is_empty(),
            say!("No markers: press M to place one"),
        ),
        A::ZoomOut | A::PanLeft | A::PanRight => no_time.or(unless(
            session.view.is_some() || state.whole_with_past() != state.whole(),
            say!("The whole run is already visible: zoom in first"),
        )),
        A::FitSelection => no_steps.or(unless(
            matches!(
                session.selection,
                Some(Item::Batch(_) | Item::Range(..) | Item::Lane(_))
            ),
            say!("Nothing is selected: click a batch, a lane, or drag on the ruler"),
        )),
        A::ZoomToRange => no_steps.or(unless(
            matches!(session.selection, Some(Item::Range(..))),
            say!("No range is selected: drag on the ruler"),
        )),
        A::ViewBack => unless(!session.views_before.is_empty(), say!("No previous view")),
        A::ViewForward => unless(!session.views_after.is_empty(), say!("No next view")),
        A::SavePicture => in_page.or(unless(
            clipboard::picture(state).is_some(),
            say!("No image is enlarged: click one in the inspector"),
        )),
        A::ShowCode => no_run.or(unless(code::can_have_code(state), code::NO_CODE.say())),
        A::CopyPlace => no_line,
        A::OpenEditor => (in_page.or(no_line)).or(unless(
            state.place.editor.is_some(),
            say!("No editor is set: start Loadscope with VISUAL, for example VISUAL=code"),
        )),
        A::CopyValues | A::CopyContent | A::CopyIndices | A::CopyVariables => unless(
            clipboard::has_text(state, action),
            say!("Nothing to copy: select a batch"),
        ),
        A::ShowLoaders | A::NextLoader | A::PreviousLoader => no_run.or(unless(
            session.loaders.are_many(),
            say!("This session has one loader"),
        )),
        A::Present => no_steps,
        A::Larger => unless(state.prefs.zoom < LARGEST, say!("Maximum size reached")),
        A::Smaller => unless(state.prefs.zoom > SMALLEST, say!("Minimum size reached")),
        A::ActualSize => unless(
            (state.prefs.zoom - 1.0).abs() > f32::EPSILON,
            say!("Already at actual size"),
        ),
        A::Search | A::ToggleInspector | A::Compare | A::ShowMessages => no_run,
    }
}

fn unless(possible: bool, why: &'static str) -> Option<&'static str> {
    (!possible).then_some(why)
}

/// Returns the reason why the options of the run cannot be copied.
fn options(state: &State) -> Option<&'static str> {
    if state.options_of_run() == Some(&state.prefs.options) {
        return Some(say!("The next run already has these options"));
    }
    match state.session.run.info.python_line() {
        Some(_) => None,
        None => Some(say!(
            "This recording does not include the DataLoader arguments"
        )),
    }
}

/// Reason for actions that need the embedded loader.
pub const NO_ENGINE: Text = text!("This build has no embedded loader. Use Simulate instead.");

/// Reason for actions that a page in a browser cannot perform.
pub const IN_PAGE: Text =
    text!("Not available in a browser, which cannot access files. Use the desktop window.");

/// Reason why a page does not stop a program, which a terminal started.
const NOT_OURS: Text = text!(
    "The program is still running. Press Ctrl+C where `loadscope watch` or `loadscope record` was started."
);

/// Returns the reason why a page cannot run a loader.
fn in_page_without(state: &State) -> Option<&'static str> {
    unless(
        !state.place.in_page,
        say!("A browser cannot run a loader. Use Simulate instead."),
    )
}

const SAMPLING: Text = text!("The sample order may reveal the answer: answer the question first");
const VARIABLES: Text = text!("The variables may reveal the answer: answer the question first");
const OPTIONS: Text = text!("The options name the cause: solve the case first");
const GIVEN: Text = text!(
    "Runs of a lesson cannot be saved or exported. Simulate their options to get a run of your own."
);

const NOT_HELD: Text = text!("A watched program cannot be paused");

/// Returns true if continuing would resume a watched program, which cannot be paused.
fn is_held_back(state: &State) -> bool {
    let at_end = state.step() >= state.session.run.whole().transitions().len();
    state.session.watched && state.session.source.is_live() && at_end
}

/// Returns the reason why there is no such moment.
fn moments(state: &State, goal: Goal, forwards: bool) -> Option<&'static str> {
    // In a live run the moment may still occur.
    let waits_for_it = forwards
        && goal != Goal::Marker
        && state.session.source.is_live()
        && state.session.cursor == Cursor::Live;
    if waits_for_it && state.session.watched {
        return Some(NOT_HELD.say());
    }
    // The occurrence of the moment is part of the hidden future.
    let may_come = forwards && goal != Goal::Marker && state.hides_future();
    if waits_for_it || may_come || find(state, goal, forwards).is_some() {
        return None;
    }
    // A recording is opened at its end, so all moments are earlier.
    let is_before = forwards && find(state, goal, false).is_some();
    Some(match (goal, forwards) {
        (Goal::Stall, true) if is_before => {
            say!("No later wait. Press P for the previous one.")
        }
        (Goal::Trouble, true) if is_before => {
            say!("No later errors. Press Shift+E for the previous one.")
        }
        (Goal::Batch, true) => say!("No later batch is yielded"),
        (Goal::Batch, false) => say!("No earlier batch was yielded"),
        (Goal::Stall, true) => say!("No later wait"),
        (Goal::Stall, false) => say!("No earlier wait"),
        (Goal::OutOfOrder, true) => say!("No later batch arrives out of order"),
        (Goal::OutOfOrder, false) => say!("No earlier batch arrived out of order"),
        (Goal::Trouble, true) => say!("No later errors, skipped samples or dropped events"),
        (Goal::Trouble, false) => say!("No earlier errors, skipped samples or dropped events"),
        (Goal::Marker, true) => say!("No later marker: press M to place one"),
        (Goal::Marker, false) => say!("No earlier marker: press M to place one"),
    })
}

fn stages(state: &State, action: Action) -> Option<&'static str> {
    let forwards = action == Action::NextStage;
    match state.session.selection.and_then(Item::batch) {
        None => Some(say!(
            "No batch is selected: click one, or press / to find one"
        )),
        Some(_) if stage(state, forwards).is_some() => None,
        Some(_) if forwards => Some(say!("The selected batch has no later stage")),
        Some(_) => Some(say!("The selected batch has no earlier stage")),
    }
}

/// Returns the reason why there is no lane above or below.
fn to_lane(state: &State, down: bool) -> Option<&'static str> {
    match adjacent_lane(state, down) {
        Some(_) => None,
        None if down => Some(say!("This is the last lane")),
        None => Some(say!("This is the first lane")),
    }
}

/// Returns the reason why there is no next or previous batch on the lane.
fn to_span(state: &State, forwards: bool) -> Option<&'static str> {
    if lane(state).is_none() {
        return Some(say!(
            "No lane or batch is selected: press ↓ to select a lane"
        ));
    }
    match neighbour(state, forwards) {
        Some(_) => None,
        None if forwards => Some(say!("No later batch on this lane")),
        None => Some(say!("No earlier batch on this lane")),
    }
}

fn matches(state: &State) -> Option<&'static str> {
    if state.look.search.query().is_none() {
        Some(say!("No search yet: press / to search"))
    } else if state.look.search.hits().is_empty() {
        Some(say!("The search has no results"))
    } else {
        None
    }
}
/// Returns the reason why the watched program cannot be run with other arguments.
fn tries(state: &State) -> Option<&'static str> {
    match &state.look.trying {
        _ if state.session.program.is_none() => Some(say!(
            "Only available for programs started here or with `loadscope watch`"
        )),
        Some(trying) if trying.is_running() => Some(say!("The measurement is already running")),
        _ if state.session.watched && state.session.source.is_live() => Some(say!(
            "Wait until the program has ended: it would slow down the measurement"
        )),
        Some(_) | None => None,
    }
}
