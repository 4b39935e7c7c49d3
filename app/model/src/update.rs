//! The only place that changes the state. Work on the engine, files or dialogs is returned as an [`Effect`].

use std::time::Duration;

use loadscope_trace::{Nanos, RunOptions};

use crate::command::Command;
use crate::effect::Effect;
use crate::message::Message;
use crate::prefs::Motion;
use crate::question::{Answer, Output, Question};
use crate::state::State;
use crate::typing::PathFor;
use crate::view::{OptionsSource, Workspace};
use crate::watching::Watching;

mod act;
mod data;
mod edit;
mod escape;
mod find;
mod future;
mod lanes;
mod learn;
pub mod loader;
mod options_from_run;
mod possible;
mod rebuilt;
mod runs;
mod session;
mod session_events;
mod travel;
mod tune;
mod viewport;

pub use act::WATCH;
use act::act;
use edit::edit;
pub use learn::{by_digit, candidates, has_wandered, takes_digits, takes_place};
pub use possible::{IN_PAGE, NO_ENGINE, is_possible, obstacle};
pub use travel::SPEEDS;
use travel::{advance, seek};
pub use viewport::drive;
use viewport::{drive_to, set_view};

/// Applies a message to the state and returns the effect to perform.
pub fn update(state: &mut State, message: impl Into<Message>) -> Option<Effect> {
    let effect = apply_message(state, message.into());
    future::settle(state);
    effect
}

fn apply_message(state: &mut State, message: Message) -> Option<Effect> {
    match message {
        Message::Command(command) => return carry_out(state, command),
        Message::Session(event) => {
            let effect = session_events::apply_event(state, event);
            learn::after_session_event(state);
            return effect;
        }
        Message::Frame { elapsed, search } => return frame(state, elapsed, search),
        Message::Begun { source, watched } => session::begin(state, source, watched),
        Message::Watches(program) => state.session.program = Some(program),
        Message::Closed => _ = state.stash_session(),
        Message::Shown(number) => runs::show(state, number),
        Message::SessionFor(number, event) => runs::apply_event_for(state, number, event),
        Message::Dropped(number) => runs::drop(state, number),
        Message::Emptied(number) => runs::empty(state, number),
        Message::Drawing => state.session.hovered = state.session.hovering.take(),
        Message::Drawn { ms } => state.look.frame_ms += (ms - state.look.frame_ms) * 0.1,
        Message::Driven(view) => drive_to(state, view),
        Message::EditEnded => state.look.history.end_group(),
        Message::Checked(problems) => state.look.problems = problems,
        Message::Notice(notice) => session_events::add_notice(state, notice),
        Message::NotWatched(why) => {
            if let Some(watching) = &mut state.overlay.watching {
                watching.problem = Some(why);
            }
        }
        Message::NotOpened(why) => session_events::not_opened(state, &why),
        Message::CheckingFile(path) => state.overlay.checking_file = path,
        Message::Comparing => state.prefs.workspace = Workspace::Diagnose,
        Message::Compared(other) => {
            state.overlay.typed = None;
            state.session.diagnose.other = Some(other);
        }
        Message::Checking { check, before } => session::check(state, *check, before),
        Message::Results(answers) => state.session.results = *answers,
        Message::Prepared(prepared) => learn::prepared(state, prepared),
        Message::Tune(update) => tune::apply(state, update),
        Message::Saving(path) => session::save(state, path),
        Message::Exporting(path) => state.session.exporting = Some((path, 0.0)),
        Message::Recent(paths) => session::recent(state, &paths),
        Message::UnsavedRuns(runs, on_start_page) => {
            session::unsaved_runs(state, runs, on_start_page)
        }
        Message::UnsavedRunSaved(path) => state.place.unsaved_runs.retain(|left| left.path != path),
        Message::Splits(splits) => state.prefs.splits = splits,
        Message::Window(place) => state.prefs.window = place,
        Message::Unattended(unattended) => state.look.unattended = unattended,
        Message::ReducedMotion(still) => {
            state.place.system_still = still;
            settle_motion(state);
        }
    }
    None
}

/// Advances playback, seeking and searching by the elapsed time.
fn frame(state: &mut State, elapsed: Nanos, search: Duration) -> Option<Effect> {
    let effect = seek(state);
    advance(state, elapsed);
    learn::frame(state, elapsed);
    let session = &state.session;
    let budget = state.place.platform.budget(search);
    let searches = &mut state.look.search;
    searches.advance(&session.run, &session.landmarks, &budget);
    effect
}

/// Turns animations off if the user or the system asks for it. The user's setting has priority.
fn settle_motion(state: &mut State) {
    state.look.still = state.place.still_for_now
        || match state.prefs.motion {
            Motion::System => state.place.system_still,
            Motion::Reduced => true,
            Motion::Full => false,
        };
}

/// Applies a command of the user, and returns the effect to perform outside the state.
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
        Command::ShowRun(number) => {
            _ = learn::leave_contents(state);
            Some(Effect::ShowRun(number))
        }
        Command::CompareRun(number) => {
            _ = learn::leave_contents(state);
            Some(Effect::CompareRun(number))
        }
        Command::DropRun(number) => Some(Effect::DropRun(number)),
        Command::AskData { word, is_folder } => Some(Effect::AskData { word, is_folder }),
        Command::ChooseScript => Some(Effect::AskScript),
        Command::WatchProgram(program) => {
            state.prefs.watched = (*program).clone();
            Some(Effect::Watch(program))
        }
        Command::SaveTo(path) => Some(write(Output::Recording(path), false)),
        Command::ExportTo(path) => Some(write(Output::Export(path, None), false)),
        Command::Overwrite(output) => Some(write(output, true)),
        Command::Replace(yes) => {
            let output = state.session.replacing.take();
            if !yes {
                session_events::reopen_typed_path(state, &[PathFor::Save, PathFor::Export]);
            }
            output.filter(|_| yes).map(|output| write(output, true))
        }
        Command::RemoveUnsavedRun(path) => {
            state.place.unsaved_runs.retain(|left| left.path != path);
            Some(Effect::RemoveUnsavedRun(path))
        }
        other => {
            change(state, other);
            None
        }
    };
    confirm_quit(state, effect)
}

fn write(output: Output, replace: bool) -> Effect {
    match output {
        Output::Recording(path) => Effect::Save { path, replace },
        Output::Export(path, _) => Effect::Export { path, replace },
    }
}

/// Applies a command that has no effect outside the state.
fn change(state: &mut State, command: Command) {
    match command {
        Command::View(view) => set_view(state, view),
        Command::Cursor(cursor) => {
            state.session.playing = false;
            state.session.cursor = cursor;
        }
        Command::Select(item) if learn::is_answer(state, item) => {}
        Command::Select(item) => {
            state.session.selection = item;
            state.session.enlarged = None;
        }
        Command::Enlarge(picture) => state.session.enlarged = picture,
        Command::Annotate(annotations) => state.prefs.annotations = annotations,
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
        Command::AskProgram(program) => {
            state.overlay.watching = program.map(|program| Watching::of(*program));
        }
        Command::UseScript(path) => {
            let watching = state.overlay.watching.take();
            state.overlay.watching = watching.map(|watching| watching.with_script(&path));
        }
        Command::TypePath(typed) => state.overlay.typing = typed,
        Command::Typed(typed) => {
            (state.overlay.typing, state.overlay.typed) = (None, Some(typed));
        }
        Command::StopComparing => state.session.diagnose.other = None,
        Command::StarRun(number) => runs::star(state, number),
        Command::Edit(options) => edit(state, *options),
        Command::OptionsSource(of) => state.session.options_of = of,
        Command::UseData { word, path } => {
            let dataset = data::dataset(&state.prefs.options.dataset, word, &path);
            use_dataset(state, dataset);
        }
        Command::UseFolder(path) => {
            state.overlay.typed = None;
            use_dataset(state, format!("folder:{}", path.display()));
        }
        Command::Learn(command) => learn::carry_out(state, command),
        Command::Goal(goal) => state.look.goal = goal,
        Command::Search(text) => state.look.search.set(text),
        Command::Glossary(typed) => state.overlay.glossary = typed,
        Command::Filter(text) => state.session.filter = text,
        Command::Hit(at) => find::jump(state, at),
        Command::Palette(palette) => state.overlay.palette = palette,
        Command::EditMarker(mark) => state.session.markers.apply(mark),
        Command::Notify(notice) if notice.is_error => state.session.notices.push(notice),
        Command::Notify(notice) => state.overlay.hint = Some(notice.text),
        Command::Speed(speed) => state.look.speed = speed,
        Command::Theme(theme) => state.prefs.theme = theme,
        Command::Dismiss(at) if at < state.session.notices.len() => {
            state.session.notices.remove(at);
        }
        Command::Dismiss(_)
        | Command::Act(_)
        | Command::Answer(_)
        | Command::Copy(_)
        | Command::Check(_)
        | Command::CompareWith(_)
        | Command::ShowRun(_)
        | Command::CompareRun(_)
        | Command::DropRun(_)
        | Command::AskData { .. }
        | Command::ChooseScript
        | Command::WatchProgram(_)
        | Command::Open(_)
        | Command::ExportTo(_)
        | Command::Overwrite(_)
        | Command::Replace(_)
        | Command::RemoveUnsavedRun(_)
        | Command::SaveTo(_) => {}
    }
}

/// Sets the user's dataset for the next run, without the artificial costs of the demo.
fn use_dataset(state: &mut State, dataset: String) {
    let options = RunOptions {
        dataset,
        extra_cost: String::new(),
        ..state.prefs.options.clone()
    };
    state.look.history.end_group();
    edit(state, options);
    state.prefs.options_open = true;
    state.session.options_of = OptionsSource::NextRun;
}

/// Asks before the window closes with unsaved runs. Starting another run needs no question, because it only sets the run aside.
fn confirm_quit(state: &mut State, effect: Option<Effect>) -> Option<Effect> {
    let effect = effect?;
    if effect != Effect::Quit || !state.prefs.asks || state.unsaved() == 0 {
        return Some(effect);
    }
    state.overlay.palette = None;
    state.overlay.question = Some(Question {
        then: effect,
        saving: false,
    });
    None
}

fn reply(state: &mut State, answer: Answer) -> Option<Effect> {
    let question = state.overlay.question.take()?;
    match answer {
        Answer::Cancel => None,
        Answer::Keep => Some(question.then),
        Answer::Discard => {
            runs::discard_all(state);
            Some(question.then)
        }
        Answer::Save => {
            state.overlay.question = Some(Question {
                saving: true,
                ..question
            });
            Some(Effect::AskSave)
        }
    }
}

#[cfg(test)]
mod tests;
