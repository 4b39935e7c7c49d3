//! Opens lessons in the window.

use eframe::egui::Context;
use loadscope_model::command::{Action, LearnCommand};
use loadscope_words::say;

use super::App;
use super::preview::{LearnTarget, Preview};

impl App {
    /// Opens the lesson of the command line.
    pub(super) fn open_learn(&mut self, ctx: &Context, learn: Option<LearnTarget>) {
        match learn {
            Some(LearnTarget::Contents) => self.dispatch(ctx, Action::Learn),
            Some(LearnTarget::Lesson(number)) => self.run(ctx, LearnCommand::Lesson(number).into()),
            Some(LearnTarget::File(path)) => {
                match Preview::start(&path, std::sync::Arc::clone(&self.wake)) {
                    Ok(preview) => self.preview = Some(preview),
                    Err(error) => self.notify_error(say!(
                        "cannot start a thread: {e}. Close other programs and try again.",
                        e = loadscope_words::cause(&error)
                    )),
                }
            }
            None => {}
        }
    }

    /// Applies a change of the lesson file.
    pub(super) fn poll_preview(&mut self, ctx: &Context) {
        let news = self.preview.as_ref().and_then(Preview::updates);
        if let Some((path, read)) = news {
            self.run(ctx, LearnCommand::Preview(path, read).into());
        }
    }
}
