//! Takes in what a session tells.

use std::time::{Duration, Instant};

use eframe::egui::Context;
use loadscope_model::message::Message;
use loadscope_model::notice::Notice;
use loadscope_session::Update;

use super::App;
use super::held::Next;

/// Events are taken in for at most so long a frame.
const DRAIN: Duration = Duration::from_millis(10);

impl App {
    /// Takes in what is new, for at most [`DRAIN`]. True if there is more.
    pub(super) fn drain(&mut self, ctx: &Context) -> bool {
        let start = Instant::now();
        while start.elapsed() < DRAIN {
            let Some(session) = &self.session else {
                return false;
            };
            match self.held.next(&self.state, &self.wake) {
                Next::Now => {}
                Next::Later => return !session.updates.is_empty(),
                Next::By(copies) => {
                    self.let_go_of_runs();
                    self.tell(ctx, Message::Copied(copies));
                    continue;
                }
            }
            let Ok(update) = session.updates.try_recv() else {
                return false;
            };
            if matches!(update, Update::Renewed(_)) {
                self.let_go_of_runs();
            }
            self.tell(ctx, update);
        }
        true
    }

    /// Tells the user what went wrong.
    pub(super) fn complain(&mut self, text: String) {
        self.say(Notice::error(text));
    }

    /// Tells the user.
    pub(super) fn say(&mut self, notice: Notice) {
        // Nothing has to be done outside for a notice.
        let _ = self.state.tell(Message::Notice(notice));
    }
}
