//! Takes in what tries of other arguments say.

use crate::state::State;
use crate::trying::{News, Trying};

/// Takes in what is new.
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
            trying.get_or_insert_default().outcome = Some(outcome);
        }
    }
}
