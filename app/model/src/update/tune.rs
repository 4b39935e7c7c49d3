//! Progress of the runs with other arguments.

use loadscope_insight::session_event::Notice;
use loadscope_words::say;

use super::session_events::add_notice;
use crate::state::State;
use crate::trying::{Outcome, TuneRuns, TuneUpdate};

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
