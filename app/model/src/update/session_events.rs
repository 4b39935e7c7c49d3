//! Application of session events to the state.

use std::path::{Path, PathBuf};

use loadscope_insight::format::capital;
use loadscope_insight::session_event::{About, Notice, PartialRead, SessionEvent};
use loadscope_trace::{Origin, Run, RunOptions};
use loadscope_words::say;

use super::edit::edit;
use super::future;
use super::rebuilt;
use crate::effect::Effect;
use crate::effect::Output;
use crate::prefs::Prefs;
use crate::state::{Source, State};
use crate::typing::{PathFor, TypedPath};
use crate::view::{Cursor, OptionsSource};

/// Applies a session event.
pub fn apply_event(state: &mut State, event: SessionEvent) -> Option<Effect> {
    match event {
        SessionEvent::Events(events) => {
            // The next `settle` also hides new events of other loaders.
            future::reveal(state);
            let session = &mut state.session;
            let mut others = false;
            for event in &events {
                others |= session.loaders.apply(&mut session.run, event);
            }
            session.landmarks.follow(&session.run);
            if others {
                rebuilt::forget(state);
            }
        }
        SessionEvent::Rebuilt(rebuilt) => rebuilt::replace_runs(state, rebuilt),
        SessionEvent::Loading(share) => {
            if let Source::Loading { share: shown, .. } = &mut state.session.source {
                *shown = share;
            }
        }
        SessionEvent::Partial(read) => partial(state, *read),
        SessionEvent::Loaded {
            run,
            loaders,
            landmarks,
            at,
            cut,
            notes,
        } => {
            state.session.landmarks = *landmarks;
            state.session.loaders = *loaders;
            // A cursor that the user has already moved stays in place.
            if let (Some(at), Cursor::Live) = (at, state.session.cursor) {
                state.session.cursor = Cursor::At(at);
            }
            loaded(state, *run, cut, notes);
        }
        SessionEvent::Simulated { run, landmarks } => {
            state.session.landmarks = *landmarks;
            simulated(state, *run);
        }
        SessionEvent::Ended(error) => return ended(state, error),
        SessionEvent::Saved(path) => return saved(state, &path),
        SessionEvent::Exists(output) => {
            match &output {
                Output::Recording(_) => state.session.saving = None,
                Output::Export(..) => state.session.exporting = None,
            }
            state.session.replacing = Some(output);
        }
        SessionEvent::NotSaved(text) => {
            state.session.saving = None;
            add_error(state, &text);
            reopen_typed_path(state, &[PathFor::Save]);
        }
        SessionEvent::Exporting(share) => {
            if let Some((_, shown)) = &mut state.session.exporting {
                *shown = share;
            }
        }
        SessionEvent::Exported(files) => exported(state, &files),
        SessionEvent::NotExported(why) => {
            state.session.exporting = None;
            match why {
                Some(text) => {
                    let notice = Notice::error(capital(&text));
                    let about = About::Export;
                    state.session.notices.push(Notice { about, ..notice });
                    reopen_typed_path(state, &[PathFor::Export]);
                }
                None => state.overlay.hint = Some(say!("The export was canceled").to_owned()),
            }
        }
        SessionEvent::Notice(text) => add_notice(state, Notice::note(text)),
        SessionEvent::Failed(text) => add_error(state, &text),
    }
    None
}

/// Shows the part of a file that was read so far.
fn partial(state: &mut State, read: PartialRead) {
    if !matches!(state.session.source, Source::Loading { .. }) {
        return;
    }
    state.session.run = read.run;
    state.session.loaders = read.loaders;
    state.session.landmarks = read.landmarks;
}

/// Records that the run is saved, and returns the effect that waited for it.
fn saved(state: &mut State, path: &Path) -> Option<Effect> {
    state.overlay.typed = None;
    Prefs::remember(&mut state.prefs.recent, path);
    draw_thumbnail(state, path);
    state.overlay.hint = Some(say!("Saved to {}", path.display()));
    state.session.saved = state.session.saving.take().map(|saving| saving.events);
    let waiting = state.overlay.question.take_if(|q| q.saving);
    waiting.map(|q| q.then)
}

/// Shows the last typed path again for correction, if its purpose is one of `purposes`.
/// Errors of a run do not concern paths.
pub fn reopen_typed_path(state: &mut State, purposes: &[PathFor]) {
    let is_meant = |typed: &mut TypedPath| purposes.contains(&typed.what);
    let typed = state.overlay.typed.take_if(is_meant);
    state.overlay.typing = state.overlay.typing.take().or(typed);
}

/// Records that the run was exported to these files.
fn exported(state: &mut State, files: &[PathBuf]) {
    state.overlay.typed = None;
    state.session.exporting = None;
    // The success removes notices about earlier failed exports.
    let notices = &mut state.session.notices;
    notices.retain(|notice| notice.about != About::Export);
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    state.overlay.hint = Some(say!("Exported to {}", names.join(say!(", "))));
}

/// Reports a file that could not be opened.
pub fn not_opened(state: &mut State, why: &str) {
    add_error(state, why);
    reopen_typed_path(
        state,
        &[PathFor::Open, PathFor::OpenFolder, PathFor::Compare],
    );
}

/// Shows a notice.
pub fn add_notice(state: &mut State, notice: Notice) {
    match notice.is_error {
        true => add_error(state, &notice.text),
        false => state.session.notices.push(notice),
    }
}

/// Shows an error. The command line prints the same message after the name of the program.
fn add_error(state: &mut State, text: &str) {
    let notice = Notice::error(capital(text));
    state.session.notices.push(notice);
}

/// Sets the options of the recording. Undo restores the earlier ones.
fn show_options(state: &mut State, options: &RunOptions) {
    state.look.history.end_group();
    edit(state, options.clone());
    state.look.history.end_group();
}

/// Shows a simulated run from its start, because it is complete at once.
fn simulated(state: &mut State, run: Run) {
    let note = run.messages().first().map(|(_, m)| m.text.as_str());
    let note = note.unwrap_or(say!("Simulated"));
    state.overlay.hint = Some(say!("Space plays, → steps · {note}"));
    state.session.run = run;
    state.session.source = Source::Finished;
    state.session.cursor = Cursor::Step(0);
}

fn loaded(state: &mut State, run: Run, cut: bool, notes: Vec<Notice>) {
    let Source::Loading { path, .. } = &state.session.source else {
        return;
    };
    let path = path.clone();
    state.overlay.typed = None;
    // Runs in the journal are offered from there, not as recent files.
    if !state
        .place
        .unsaved_runs
        .iter()
        .any(|left| left.path == path)
    {
        Prefs::remember(&mut state.prefs.recent, &path);
    }
    let is_reported = notes.iter().any(|note| note.is_error);
    notes.into_iter().for_each(|note| add_notice(state, note));
    if cut && !is_reported {
        let text = say!(
            "{}: The recording is truncated. Everything before the cut was read.",
            path.display()
        );
        state.session.notices.push(Notice::error(text));
    }
    // Options of engine and simulator runs become the next options. Python programs and imports cannot be run again.
    if matches!(run.info.origin, Origin::Engine | Origin::Simulation) {
        show_options(state, &run.info.options);
    }
    state.session.run = run;
    draw_thumbnail(state, &path);
    state.session.source = Source::Recording { path, cut };
    state.session.options_of = OptionsSource::Run;
}

/// Draws the thumbnail for the list of recent files.
fn draw_thumbnail(state: &mut State, path: &Path) {
    future::reveal(state);
    state.prefs.sketches.draw(path, &state.session.run);
    state.prefs.sketches.keep(&state.prefs.recent);
}

fn ended(state: &mut State, error: Option<String>) -> Option<Effect> {
    let was_read = state.is_reading();
    match state.session.source {
        // The run was refused before its first event.
        Source::Live { .. } if state.session.run.events() == 0 => {
            state.session.source = Source::None;
        }
        Source::Live { .. } => state.session.source = Source::Finished,
        Source::Loading { .. } | Source::Simulating => state.session.source = Source::None,
        Source::None | Source::Finished | Source::Recording { .. } => {}
    }
    let error = error?;
    add_error(state, &error);
    if was_read {
        reopen_typed_path(state, &[PathFor::Open, PathFor::OpenFolder]);
    }
    // The previous run is shown again, with the error.
    let was_refused = state.session.source == Source::None;
    state
        .session
        .previous_run
        .filter(|_| was_refused)
        .map(Effect::ShowRun)
}
