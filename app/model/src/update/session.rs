//! Start of sessions, saving, and reports of the program about runs.

use std::path::PathBuf;

use loadscope_insight::diagnose::{Check, ComparedRun};
use loadscope_insight::session_event::{Notice, UnsavedRun};
use loadscope_trace::plural;
use loadscope_words::say;

use super::learn;
use super::session_events::add_notice;
use crate::prefs::Prefs;
use crate::state::{Saving, Source, State};
use crate::view::{OptionsSource, Workspace};
use crate::watching::{Outcome, TuneRuns, TuneUpdate};

/// Sets the shown run aside, and initializes the state of a new session.
pub fn begin(state: &mut State, source: Source, watched: bool) {
    let lesson_run = learn::kind_of(state, &source, watched);
    let before = state.stash_session();
    state.session.lesson_run = lesson_run;
    state.session.number = state.runs.next_number();
    state.session.previous_run = before;
    let is_ours = !watched && matches!(source, Source::Live { .. } | Source::Simulating);
    state.session.asked = is_ours.then(|| state.prefs.options.clone());
    state.session.source = source;
    state.session.watched = watched;
    if watched {
        state.session.options_of = OptionsSource::Run;
        state.overlay.watching = None;
    }
}

/// Compares the run with the forecast setting with the previous run.
pub fn check(state: &mut State, check: Check, before: ComparedRun) {
    state.session.diagnose.check = Some(check);
    state.session.diagnose.other = Some(before);
    state.prefs.workspace = Workspace::Diagnose;
}

/// Records the start of saving.
pub fn save(state: &mut State, path: PathBuf) {
    let events = state.session.run.events();
    state.session.saving = Some(Saving { path, events });
}

/// Adds recordings to the recent files. `paths` has the latest first.
pub fn recent(state: &mut State, paths: &[PathBuf]) {
    for path in paths.iter().rev() {
        Prefs::remember(&mut state.prefs.recent, path);
    }
}

/// Offers the unsaved runs of earlier windows: on the start page if it is shown, otherwise in a notice.
pub fn unsaved_runs(state: &mut State, unsaved_runs: Vec<UnsavedRun>, on_start_page: bool) {
    let count = unsaved_runs.len() as u64;
    state.place.unsaved_runs = unsaved_runs;
    if count > 0 && !on_start_page {
        let text = say!(
            "{} not saved before Loadscope ended. Close this run to open unsaved runs from the start page.",
            plural(count, say!(n: "run was"), say!(n: "runs were"))
        );
        add_notice(state, Notice::note(text));
    }
}

/// Applies the update.
pub fn apply(state: &mut State, update: TuneUpdate) {
    let trying = &mut state.look.trying;
    match update {
        TuneUpdate::Begun(folder) => {
            *trying = Some(TuneRuns {
                folder,
                ..TuneRuns::default()
            });
        }
        TuneUpdate::Line(line) => {
            if let Some(trying) = trying {
                trying.lines.push(line);
            }
        }
        TuneUpdate::Over(outcome) => {
            let notice = notice(&outcome);
            trying.get_or_insert_default().outcome = Some(outcome);
            if let Some(notice) = notice {
                add_notice(state, notice);
            }
        }
    }
}

/// Returns a notice, because runs take minutes and the user may not be watching.
fn notice(outcome: &Outcome) -> Option<Notice> {
    match outcome {
        Outcome::Compared(table) => {
            let verdict = table.verdict();
            let best = verdict.lines().next().unwrap_or_default();
            Some(Notice::note(say!("The measurement has finished. {best}.")))
        }
        Outcome::Failed(why) => Some(Notice::error(say!("The measurement failed: {why}"))),
        // The user ended the runs.
        Outcome::Ended => None,
    }
}
