//! News of the runs with other arguments.

use loadscope_insight::session_event::Notice;
use loadscope_words::say;

use super::arrive::tell;
use crate::state::State;
use crate::trying::{News, Outcome, Trying};

/// Applies the news.
pub fn take(state: &mut State, news: News) {
    let trying = &mut state.look.trying;
    match news {
        News::Begun(folder) => {
            *trying = Some(Trying {
                folder,
                ..Trying::default()
            });
        }
        News::Line(line) => {
            if let Some(trying) = trying {
                trying.lines.push(line);
            }
        }
        News::Over(outcome) => {
            let notice = notice(&outcome);
            trying.get_or_insert_default().outcome = Some(outcome);
            if let Some(notice) = notice {
                tell(state, notice);
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
