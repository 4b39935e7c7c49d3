//! The one place that changes the state. What needs the engine, a file or a dialog comes out as an [`Effect`].

use std::time::Duration;

use loadscope_trace::{Nanos, Origin, RunOptions};

use crate::clipboard;
use crate::command::{Action, Command};
use crate::effect::Effect;
use crate::message::Message;
use crate::prefs::Motion;
use crate::question::{Answer, Output, Question};
use crate::state::State;
use crate::view::{Cursor, Lower, OptionsOf, Workspace};
use loadscope_insight::landmarks::Goal;

mod arrive;
mod find;
mod lanes;
pub mod loader;
mod look;
mod possible;
mod session;
mod take;
mod travel;

pub use look::drive;
use look::{drive_to, set_view};
pub use possible::{NO_ENGINE, is_possible, obstacle};
pub use travel::SPEEDS;
use travel::{advance, seek};

/// Takes a message in.
pub fn update(state: &mut State, message: impl Into<Message>) -> Option<Effect> {
    match message.into() {
        Message::Command(command) => return carry_out(state, command),
        Message::Arrived(arrival) => return arrive::arrive(state, arrival),
        Message::Frame { elapsed, search } => return frame(state, elapsed, search),
        Message::Begun { source, watched } => session::begin(state, source, watched),
        Message::Closed => state.forget_run(),
        Message::Drawing => state.session.hovered = state.session.hovering.take(),
        Message::Drawn { ms } => state.look.frame_ms += (ms - state.look.frame_ms) * 0.1,
        Message::Driven(view) => drive_to(state, view),
        Message::LetGo => state.look.history.let_go(),
        Message::Checked(why_not) => state.look.options_error = why_not,
        Message::Notice(notice) => arrive::tell(state, notice),
        Message::Looking(path) => state.overlay.looking = path,
        Message::Comparing => state.prefs.workspace = Workspace::Diagnose,
        Message::Compared(other) => state.session.diagnose.other = Some(other),
        Message::Checking { check, before } => session::check(state, *check, before),
        Message::Answered(answers) => state.session.answers = *answers,
        Message::Saving(path) => session::save(state, path),
        Message::Exporting(path) => state.session.exporting = Some((path, 0.0)),
        Message::Recent(paths) => session::recent(state, &paths),
        Message::LeftOver(runs, on_start_page) => session::left_over(state, runs, on_start_page),
        Message::NotLeftOver(path) => state.place.left_over.retain(|left| left.path != path),
        Message::Splits(splits) => state.prefs.splits = splits,
        Message::Window(place) => state.prefs.window = place,
        Message::SystemStill(still) => {
            state.place.system_still = still;
            settle_motion(state);
        }
    }
    None
}

/// Time has passed: what plays goes on, and what is looked for is looked for further.
fn frame(state: &mut State, elapsed: Nanos, search: Duration) -> Option<Effect> {
    let effect = seek(state);
    advance(state, elapsed);
    let session = &state.session;
    let searches = &mut state.look.search;
    searches.advance(&session.run, &session.landmarks, search);
    effect
}

/// Animations are off if the user says so, or if the system asks for it and the user does not object.
fn settle_motion(state: &mut State) {
    state.look.still = state.place.still_for_now
        || match state.prefs.motion {
            Motion::System => state.place.system_still,
            Motion::Reduced => true,
            Motion::Full => false,
        };
}

/// Carries a command out.
fn carry_out(state: &mut State, command: Command) -> Option<Effect> {
    if !matches!(command, Command::Hover(_)) {
        state.overlay.hint = None;
    }
    let effect = match command {
        Command::Act(action) => match obstacle(state, action) {
            Some(why) => {
                state.overlay.hint = Some(why.to_owned());
                None
            }
            None => act(state, action),
        },
        Command::Answer(answer) => return reply(state, answer),
        Command::Copy(text) => Some(Effect::Copy(text)),
        Command::Open(path) => Some(Effect::Open(path)),
        Command::Check(check) => Some(Effect::Check(check)),
        Command::CompareWith(path) => Some(Effect::Compare(path)),
        Command::SaveTo(path) => Some(write(Output::Recording(path), false)),
        Command::ExportTo(path) => Some(write(Output::Export(path, None), false)),
        Command::Overwrite(output) => Some(write(output, true)),
        Command::Replace(yes) => {
            let output = state.session.replacing.take();
            output.filter(|_| yes).map(|output| write(output, true))
        }
        Command::RemoveLeftOver(path) => {
            state.place.left_over.retain(|left| left.path != path);
            Some(Effect::RemoveLeftOver(path))
        }
        other => {
            change(state, other);
            None
        }
    };
    ask_first(state, effect)
}

fn write(output: Output, replace: bool) -> Effect {
    match output {
        Output::Recording(path) => Effect::Save { path, replace },
        Output::Export(path, _) => Effect::Export { path, replace },
    }
}

/// The commands that have no effect outside.
fn change(state: &mut State, command: Command) {
    match command {
        Command::View(view) => set_view(state, view),
        Command::Cursor(cursor) => {
            state.session.playing = false;
            state.session.cursor = cursor;
        }
        Command::Select(item) => {
            state.session.selection = item;
            state.session.enlarged = None;
        }
        Command::Enlarge(picture) => state.session.enlarged = picture,
        Command::Fold(group) => {
            if !state.look.folded.remove(&group) {
                state.look.folded.insert(group);
            }
        }
        Command::Hover(item) => state.session.hovering = item.or(state.session.hovering),
        Command::Sampling(choice) => state.session.sampling = choice,
        Command::WhatIf(base) => state.session.diagnose.base = base.map(|b| *b),
        Command::Pick(place) => state.session.diagnose.picked = place,
        Command::ShowLoader(id) => loader::show(state, id),
        Command::TypePath(typed) => state.overlay.typing = typed,
        Command::StopComparing => state.session.diagnose.other = None,
        Command::Edit(options) => edit(state, *options),
        Command::OptionsOf(of) => state.session.options_of = of,
        Command::UseFolder(path) => {
            let options = RunOptions {
                dataset: format!("folder:{}", path.display()),
                // The demo's slowness is not the user's.
                extra_cost: String::new(),
                ..state.prefs.options.clone()
            };
            state.look.history.let_go();
            edit(state, options);
            state.prefs.options_open = true;
            state.session.options_of = OptionsOf::Form;
        }
        Command::Goal(goal) => state.look.goal = goal,
        Command::Search(text) => state.look.search.set(text),
        Command::Hit(at) => find::jump(state, at),
        Command::Palette(palette) => state.overlay.palette = palette,
        Command::Mark(mark) => state.session.markers.apply(mark),
        Command::Say(notice) if notice.is_error => state.session.notices.push(notice),
        Command::Say(notice) => state.overlay.hint = Some(notice.text),
        Command::Speed(speed) => state.look.speed = speed,
        Command::Theme(theme) => state.prefs.theme = theme,
        Command::Dismiss(at) => {
            if at < state.session.notices.len() {
                state.session.notices.remove(at);
            }
        }
        Command::Act(_)
        | Command::Answer(_)
        | Command::Copy(_)
        | Command::Check(_)
        | Command::CompareWith(_)
        | Command::Open(_)
        | Command::ExportTo(_)
        | Command::Overwrite(_)
        | Command::Replace(_)
        | Command::RemoveLeftOver(_)
        | Command::SaveTo(_) => {}
    }
}

/// A run that was not saved is not replaced without a question.
fn ask_first(state: &mut State, effect: Option<Effect>) -> Option<Effect> {
    let effect = effect?;
    if !(effect.replaces_the_run() && state.prefs.asks && state.is_unsaved()) {
        return Some(effect);
    }
    state.overlay.palette = None;
    state.session.question = Some(Question {
        then: effect,
        saving: false,
    });
    None
}

fn reply(state: &mut State, answer: Answer) -> Option<Effect> {
    let question = state.session.question.take()?;
    match answer {
        Answer::Cancel => None,
        Answer::Discard => {
            state.session.discarded = true;
            Some(question.then)
        }
        Answer::Save => {
            state.session.question = Some(Question {
                saving: true,
                ..question
            });
            Some(Effect::AskSave)
        }
    }
}

fn edit(state: &mut State, options: RunOptions) {
    if options != state.prefs.options {
        state.look.history.change(&state.prefs.options);
        state.prefs.options = options;
    }
}

/// The form gets what the run has that is shown.
fn take_options(state: &mut State) {
    state.look.history.let_go();
    edit(state, take::options(&state.session.run));
    state.look.history.let_go();
    state.session.options_of = OptionsOf::Form;
    state.prefs.options_open = true;
    state.overlay.hint = Some(match state.session.run.info.origin {
        Origin::Pytorch(_) => "The form has these options; its data set and its training are stood in for by waiting as long".to_owned(),
        _ => "The form has these options".to_owned(),
    });
}

/// What one types to watch a program.
pub const WATCH: &str = "loadscope watch -- python train.py";

#[expect(clippy::too_many_lines, reason = "one arm an action")]
fn act(state: &mut State, action: Action) -> Option<Effect> {
    use Action as A;
    match action {
        A::RunDemo => return Some(Effect::Demo),
        A::Run => return Some(Effect::Start),
        A::Simulate => return Some(Effect::Simulate),
        A::Stop => return Some(Effect::Stop),
        A::Open => return Some(Effect::AskOpen),
        A::Compare => return Some(Effect::AskCompare),
        A::OpenFolder => return Some(Effect::AskOpenFolder),
        A::Save => return Some(Effect::AskSave),
        A::Export => return Some(Effect::AskExport),
        A::CancelExport => return Some(Effect::CancelExport),
        A::ChooseFolder => return Some(Effect::AskFolder),
        A::WatchProgram => {
            state.overlay.hint = Some(format!("Copied; type it in a terminal: {WATCH}"));
            return Some(Effect::Copy(WATCH.to_owned()));
        }
        A::SavePicture => return clipboard::picture(state).map(Effect::AskPicture),
        A::CopyValues | A::CopyContent | A::CopyIndices | A::CopyVariables => {
            return clipboard::text(state, action).map(Effect::Copy);
        }
        A::Close => return Some(Effect::Close),
        A::Quit => return Some(Effect::Quit),
        // The window knows which theme is shown.
        A::ToggleTheme => return Some(Effect::ToggleTheme),
        A::PauseResume | A::StepForward => return travel::play_or_step(state, action),
        A::Undo => undo(state)?,
        A::Redo => redo(state)?,
        A::TakeOptions => take_options(state),
        A::NextSpan => lanes::to_neighbour(state, true),
        A::PreviousSpan => lanes::to_neighbour(state, false),
        A::LaneUp => lanes::to_lane(state, false),
        A::LaneDown => lanes::to_lane(state, true),
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
        A::ClearMarkers => state.session.markers.apply(crate::markers::Mark::Clear),
        A::Escape => escape(state),
        A::GoToStart => {
            state.session.playing = false;
            state.session.cursor = Cursor::Step(0);
        }
        A::NextBatch => return travel::to_moment(state, Goal::Batch, true),
        A::PreviousBatch => return travel::to_moment(state, Goal::Batch, false),
        A::NextStall => return travel::to_moment(state, Goal::Stall, true),
        A::PreviousStall => return travel::to_moment(state, Goal::Stall, false),
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
        A::ShowDebug => state.prefs.workspace = Workspace::Debug,
        A::ShowSampling => state.prefs.workspace = Workspace::Sampling,
        A::ShowDiagnose => state.prefs.workspace = Workspace::Diagnose,
        A::ShowTimeline => state.look.lower = Lower::Timeline,
        A::ShowBatches => state.look.lower = Lower::Batches,
        A::ShowPlots => state.look.lower = Lower::Plots,
        A::ShowLoaders => {
            state.prefs.workspace = Workspace::Debug;
            state.look.lower = Lower::Loaders;
        }
        A::NextLoader => loader::show_neighbour(state, true),
        A::PreviousLoader => loader::show_neighbour(state, false),
        A::ToggleOptions => state.prefs.options_open = !state.prefs.options_open,
        A::ToggleInspector => state.prefs.inspector_open = !state.prefs.inspector_open,
        A::ToggleVariables => state.prefs.variables_open = !state.prefs.variables_open,
        A::ToggleMotion => toggle_motion(state),
        A::ToggleAsking => state.prefs.asks = !state.prefs.asks,
        A::ShowMessages => state.overlay.messages_open = !state.overlay.messages_open,
        A::Palette => {
            state.overlay.palette = match state.overlay.palette {
                Some(_) => None,
                None => Some(crate::palette::Palette::default()),
            };
        }
        A::Help => state.overlay.help_open = !state.overlay.help_open,
        A::ZoomIn => look::zoom(state, 1.0 / look::ZOOM),
        A::ZoomOut => look::zoom(state, look::ZOOM),
        A::PanLeft => look::pan(state, -1),
        A::PanRight => look::pan(state, 1),
        A::ShowAll => set_view(state, None),
        A::FitSelection | A::ZoomToRange => look::fit_selection(state),
        A::ViewBack => look::back(state),
        A::ViewForward => look::forward(state),
    }
    None
}

/// Takes the last change to the options back.
fn undo(state: &mut State) -> Option<()> {
    state.prefs.options = state.look.history.undo(&state.prefs.options)?;
    Some(())
}

/// Makes the change to the options again that was taken back last.
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

/// Innermost first: what lies on top, then the selection. Never the moment that is looked at: it would be lost.
fn escape(state: &mut State) {
    if state.overlay.palette.take().is_some()
        || state.overlay.typing.take().is_some()
        || state.session.replacing.take().is_some()
        || state.session.question.take().is_some()
    {
        return;
    }
    let open = [
        &mut state.overlay.help_open,
        &mut state.overlay.messages_open,
        &mut state.look.search.open,
    ];
    if let Some(open) = open.into_iter().find(|open| **open) {
        *open = false;
    } else if state.session.seeking.take().is_some() {
        // The run stays held, or goes on, as it was.
    } else if let Some(last) = state.session.notices.len().checked_sub(1) {
        state.session.notices.truncate(last);
    } else if state.session.enlarged.is_some() {
        state.session.enlarged = None;
    } else {
        state.session.selection = None;
    }
}

#[cfg(test)]
mod tests;
