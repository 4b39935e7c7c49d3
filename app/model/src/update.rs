//! The only place that changes the state. Work on the engine, files or dialogs is returned as an [`Effect`].

use std::path::Path;
use std::time::Duration;

use loadscope_trace::{Nanos, RunOptions};

use crate::command::{Action, Command};
use crate::effect::{Answer, Effect, Output, Question};
use crate::message::Message;
use crate::prefs::Motion;
use crate::state::State;
use crate::typing::PathFor;
use crate::view::{Item, OptionsSource, Workspace};
use crate::watching::Watching;

mod act;
mod edit;
mod find;
mod future;
mod learn;
mod possible;
mod rebuilt;
mod runs;
mod session;
mod session_events;
mod travel;
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
        Message::Tune(update) => session::apply(state, update),
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
    match command {
        Command::Act(action) => return try_to_act(state, action),
        Command::Perform(effect) => return Some(prepare(state, effect)),
        Command::Answer(answer) => return reply(state, answer),
        Command::SaveTo(path) => return Some(write(Output::Recording(path), false)),
        Command::ExportTo(path) => return Some(write(Output::Export(path, None), false)),
        Command::Overwrite(output) => return Some(write(output, true)),
        Command::Replace(yes) => return replace(state, yes),
        Command::View(view) => set_view(state, view),
        Command::Cursor(cursor) => {
            state.session.playing = false;
            state.session.cursor = cursor;
        }
        Command::Select(item) => select(state, item),
        Command::Enlarge(picture) => state.session.enlarged = picture,
        Command::Annotate(annotations) => state.prefs.annotations = annotations,
        Command::Fold(group) => {
            if !state.look.folded.remove(&group) {
                state.look.folded.insert(group);
            }
        }
        Command::Hover(item) => state.session.hovering = item.or(state.session.hovering),
        Command::Sampling(choice) => state.session.sampling = choice,
        Command::Code(choice) => state.session.code = choice,
        Command::WhatIf(base) => state.session.diagnose.base = base.map(|b| *b),
        Command::Pick(place) => state.session.diagnose.picked = place,
        Command::ShowLoader(id) => rebuilt::show(state, id),
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
        Command::UseData { word, path } => use_data(state, word, &path),
        Command::UseFolder(path) => use_folder(state, &path),
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
        Command::Dismiss(_) => {}
    }
    None
}

/// Performs an action, or shows its obstacle.
fn try_to_act(state: &mut State, action: Action) -> Option<Effect> {
    if let Some(why) = obstacle(state, action) {
        state.overlay.hint = Some(why.to_owned());
        return None;
    }
    let effect = act(state, action);
    confirm_quit(state, effect)
}

/// Prepares the state for an effect that the user requested.
fn prepare(state: &mut State, effect: Effect) -> Effect {
    match &effect {
        Effect::ShowRun(_) | Effect::CompareRun(_) => _ = learn::leave_contents(state),
        Effect::Watch(program) => state.prefs.watched = (**program).clone(),
        Effect::RemoveUnsavedRun(path) => {
            state.place.unsaved_runs.retain(|left| left.path != *path);
        }
        _ => {}
    }
    effect
}

fn write(output: Output, replace: bool) -> Effect {
    match output {
        Output::Recording(path) => Effect::Save { path, replace },
        Output::Export(path, _) => Effect::Export { path, replace },
    }
}

/// Applies the answer to the question about replacing an existing file.
fn replace(state: &mut State, yes: bool) -> Option<Effect> {
    let output = state.session.replacing.take();
    if !yes {
        session_events::reopen_typed_path(state, &[PathFor::Save, PathFor::Export]);
    }
    output.filter(|_| yes).map(|output| write(output, true))
}

/// Selects the item, unless it is the answer to a question.
fn select(state: &mut State, item: Option<Item>) {
    if !learn::is_answer(state, item) {
        if state.session.selection != item {
            state.session.code = state.session.code.for_another_item();
        }
        state.session.selection = item;
        state.session.enlarged = None;
    }
}

fn use_data(state: &mut State, word: &str, path: &Path) {
    let dataset = edit::dataset(&state.prefs.options.dataset, word, path);
    use_dataset(state, dataset);
}

fn use_folder(state: &mut State, path: &Path) {
    state.overlay.typed = None;
    use_dataset(state, format!("folder:{}", path.display()));
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
