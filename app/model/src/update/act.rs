//! Effects of each action, with one match arm per action.

use loadscope_insight::landmarks::Goal;
use loadscope_trace::Origin;
use loadscope_words::say;

use super::edit::{edit, options_of_run};
use super::viewport::show_all;
use super::{find, learn, rebuilt, travel, viewport};
use crate::clipboard;
use crate::code;
use crate::command::Action;
use crate::effect::Effect;
use crate::prefs::Motion;
use crate::state::{Source, State};
use crate::view::{Cursor, LowerPanel, OptionsSource, Workspace};
use crate::watching::Watching;

/// Command line that watches a program.
pub const WATCH: &str = "loadscope watch -- python train.py";

/// Performs the action and returns the effect outside the state.
pub fn act(state: &mut State, action: Action) -> Option<Effect> {
    // The list of lessons covers the run. An action that shows a part of the run closes the list.
    let left = match shows_run(action) {
        true => learn::leave_contents(state),
        false => None,
    };
    carry_out(state, action).or(left)
}

/// Returns true if the action shows a view of the run.
fn shows_run(action: Action) -> bool {
    use Action as A;
    matches!(
        action,
        A::ShowDebug
            | A::ShowSampling
            | A::ShowDiagnose
            | A::ShowTimeline
            | A::ShowBatches
            | A::ShowPlots
            | A::ShowLoaders
            | A::ShowCode
            | A::Present
    )
}

#[expect(clippy::too_many_lines, reason = "one arm an action")]
fn carry_out(state: &mut State, action: Action) -> Option<Effect> {
    use Action as A;
    match action {
        A::RunDemo => return Some(Effect::Demo),
        A::Run => return Some(Effect::Start),
        A::RunPaused => return Some(Effect::StartPaused),
        A::RunSlowly => return Some(Effect::StartSlowly),
        A::Simulate => return Some(Effect::Simulate),
        A::Stop => return Some(Effect::Stop),
        A::Open => return Some(Effect::AskOpen),
        A::Compare => return Some(Effect::AskCompare),
        A::OpenFolder => return Some(Effect::AskOpenFolder),
        A::Save => return Some(Effect::AskSave),
        A::TryProgram => return Some(Effect::TryProgram),
        A::EndTries => return Some(Effect::EndTries),
        A::Export => return Some(Effect::AskExport),
        A::CancelExport => return Some(Effect::CancelExport),
        A::ChooseFolder => return Some(Effect::AskFolder),
        A::WatchProgram if !state.place.in_page => {
            state.overlay.watching = Some(Watching {
                program: state.prefs.watched.clone(),
                problem: None,
            });
            return None;
        }
        A::WatchProgram => {
            state.overlay.hint = Some(say!("Copied, paste it into a terminal: {WATCH}"));
            return Some(Effect::Copy(WATCH.to_owned()));
        }
        A::SavePicture => return clipboard::picture(state).map(Effect::AskPicture),
        A::CopyValues | A::CopyContent | A::CopyIndices | A::CopyVariables | A::CopyPlace => {
            return clipboard::text(state, action).map(Effect::Copy);
        }
        A::OpenEditor => return code::place(state).cloned().map(Effect::OpenEditor),
        A::Close => {
            let is_under_way = matches!(
                state.session.source,
                Source::Loading { .. } | Source::Simulating
            );
            let before = state.session.previous_run.filter(|_| is_under_way);
            return Some(before.map_or(Effect::Close, Effect::ShowRun));
        }
        A::Quit => return Some(Effect::Quit),
        A::Learn
        | A::GoOn
        | A::SkipStep
        | A::PreviousPage
        | A::ReturnToStep
        | A::ToggleLecture
        | A::ChangeLanguage
        | A::LeaveLesson => return learn::act(state, action),
        // Only the window knows the shown theme.
        A::ToggleTheme => return Some(Effect::ToggleTheme),
        A::PauseResume | A::StepForward => return travel::play_or_step(state, action),
        A::Undo => undo(state)?,
        A::Redo => redo(state)?,
        A::TakeOptions => take_options(state),
        A::NextSpan => travel::to_neighbour(state, true),
        A::PreviousSpan => travel::to_neighbour(state, false),
        A::LaneUp => travel::to_lane(state, false),
        A::LaneDown => travel::to_lane(state, true),
        A::Search => {
            state.look.search.open = true;
            state.look.search.asked += 1;
        }
        A::NextMatch => find::next(state, true),
        A::PreviousMatch => find::next(state, false),
        A::Slower => travel::change_speed(state, false),
        A::Faster => travel::change_speed(state, true),
        A::ToggleMarker => {
            let now = state.now();
            state.session.markers.toggle(now);
        }
        A::ClearMarkers => state
            .session
            .markers
            .apply(crate::markers::MarkerEdit::Clear),
        A::Escape => return escape(state),
        A::GoToStart => {
            state.session.playing = false;
            state.session.cursor = Cursor::Step(0);
        }
        A::NextBatch => return travel::to_moment(state, Goal::Batch, true),
        A::PreviousBatch => return travel::to_moment(state, Goal::Batch, false),
        A::NextStall => return travel::to_moment(state, Goal::Stall, true),
        A::PreviousStall => return travel::to_moment(state, Goal::Stall, false),
        A::LongestWait => travel::to_longest_wait(state),
        A::Replay => travel::replay(state),
        A::NextOutOfOrder => return travel::to_moment(state, Goal::OutOfOrder, true),
        A::PreviousOutOfOrder => return travel::to_moment(state, Goal::OutOfOrder, false),
        A::NextTrouble => return travel::to_moment(state, Goal::Trouble, true),
        A::PreviousTrouble => return travel::to_moment(state, Goal::Trouble, false),
        A::NextMarker => return travel::to_moment(state, Goal::Marker, true),
        A::PreviousMarker => return travel::to_moment(state, Goal::Marker, false),
        A::StepBack => travel::step_back(state),
        A::NextStage => travel::to_stage(state, true),
        A::PreviousStage => travel::to_stage(state, false),
        A::FollowLive => travel::follow_live(state),
        A::HideFuture => state.prefs.hides_future = !state.prefs.hides_future,
        A::ShowDebug => state.prefs.workspace = Workspace::Debug,
        A::ShowSampling => state.prefs.workspace = Workspace::Sampling,
        A::ShowDiagnose => state.prefs.workspace = Workspace::Diagnose,
        A::ShowTimeline => state.look.lower = LowerPanel::Timeline,
        A::ShowBatches => state.look.lower = LowerPanel::Batches,
        A::ShowPlots => state.look.lower = LowerPanel::Plots,
        A::ShowLoaders => {
            state.prefs.workspace = Workspace::Debug;
            state.look.lower = LowerPanel::Loaders;
        }
        A::ShowCode => {
            state.prefs.workspace = Workspace::Debug;
            state.look.lower = LowerPanel::Code;
        }
        A::NextLoader => rebuilt::show_neighbour(state, true),
        A::PreviousLoader => rebuilt::show_neighbour(state, false),
        A::ToggleOptions => state.prefs.options_open = !state.prefs.options_open,
        A::ToggleInspector => state.prefs.inspector_open = !state.prefs.inspector_open,
        A::ToggleVariables => state.prefs.variables_open = !state.prefs.variables_open,
        A::ToggleMotion => toggle_motion(state),
        A::ToggleAsking => state.prefs.asks = !state.prefs.asks,
        A::Present => {
            state.look.presenting = !state.presents();
            state.prefs.workspace = Workspace::Debug;
        }
        A::Larger | A::Smaller | A::ActualSize => viewport::resize(state, action),
        A::ToggleNumbers => state.prefs.numbers = !state.prefs.numbers,
        A::ShowMessages => state.overlay.messages_open = !state.overlay.messages_open,
        A::Palette => {
            state.overlay.palette = match state.overlay.palette {
                Some(_) => None,
                None => Some(crate::view::Palette::default()),
            };
        }
        A::Glossary => {
            state.overlay.glossary = match state.overlay.glossary {
                Some(_) => None,
                None => Some(String::new()),
            };
        }
        A::Help => state.overlay.help_open = !state.overlay.help_open,
        A::ZoomIn => viewport::zoom(state, 1.0 / viewport::ZOOM),
        A::ZoomOut => viewport::zoom(state, viewport::ZOOM),
        A::PanLeft => viewport::pan(state, -1),
        A::PanRight => viewport::pan(state, 1),
        A::ShowAll => show_all(state),
        A::FitSelection | A::ZoomToRange => viewport::fit_selection(state),
        A::ViewBack => viewport::back(state),
        A::ViewForward => viewport::forward(state),
    }
    None
}

fn undo(state: &mut State) -> Option<()> {
    state.prefs.options = state.look.history.undo(&state.prefs.options)?;
    Some(())
}

fn redo(state: &mut State) -> Option<()> {
    state.prefs.options = state.look.history.redo(&state.prefs.options)?;
    Some(())
}

fn toggle_motion(state: &mut State) {
    state.look.still = !state.look.still;
    state.place.still_for_now = false;
    state.prefs.motion = match state.look.still {
        still if still == state.place.system_still => Motion::System,
        true => Motion::Reduced,
        false => Motion::Full,
    };
}

/// Copies the options of the shown run to the next run.
fn take_options(state: &mut State) {
    state.look.history.end_group();
    edit(state, options_of_run(&state.session.run));
    state.look.history.end_group();
    state.session.options_of = OptionsSource::NextRun;
    state.prefs.options_open = true;
    state.overlay.hint = Some(match state.session.run.info.origin {
        Origin::Pytorch(_) => say!("Options copied. The dataset and training step are replaced by simulated ones with the same timing.").to_owned(),
        _ => say!("Options copied").to_owned(),
    });
}

/// Closes the innermost overlay, then clears the selection. The cursor stays, because it could not be restored.
pub(super) fn escape(state: &mut State) -> Option<Effect> {
    if state.overlay.palette.take().is_some()
        || state.overlay.typing.take().is_some()
        || state.overlay.watching.take().is_some()
        || state.session.replacing.take().is_some()
        || state.overlay.question.take().is_some()
        || state.overlay.glossary.take().is_some()
    {
        return None;
    }
    let open = [
        &mut state.overlay.help_open,
        &mut state.overlay.messages_open,
        &mut state.look.search.open,
    ];
    if let Some(open) = open.into_iter().find(|open| **open) {
        *open = false;
    } else if state.session.seeking.take().is_some() {
        // The run stays paused or continues, unchanged.
    } else if let Some(last) = state.session.notices.len().checked_sub(1) {
        state.session.notices.truncate(last);
    } else if state.learn.shows_contents() {
        return learn::leave_contents(state);
    } else if state.presents() {
        state.look.presenting = false;
    } else if state.session.enlarged.is_some() {
        state.session.enlarged = None;
    } else {
        state.session.selection = None;
    }
    None
}
