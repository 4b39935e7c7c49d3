//! Opens lessons in the window.

use eframe::egui::Context;
use loadscope_model::command::{Action, LearnCommand};
use loadscope_words::say;

use super::App;
use super::preview::{Learn, Preview};

impl App {
    /// Opens the lesson of the command line.
    pub(super) fn open_learn(&mut self, ctx: &Context, learn: Option<Learn>) {
        match learn {
            Some(Learn::Contents) => self.tell(ctx, Action::Learn),
            Some(Learn::Lesson(number)) => self.run(ctx, LearnCommand::Lesson(number).into()),
            Some(Learn::File(path)) => {
                match Preview::of(&path, std::sync::Arc::clone(&self.wake)) {
                    Ok(preview) => self.preview = Some(preview),
                    Err(error) => self.complain(say!(
                        "cannot start a thread: {e}. Close other programs and try again.",
                        e = loadscope_words::cause(&error)
                    )),
                }
            }
            None => {}
        }
    }

    /// Applies a change of the lesson file.
    pub(super) fn take_preview(&mut self, ctx: &Context) {
        let news = self.preview.as_ref().and_then(Preview::news);
        if let Some((path, read)) = news {
            self.run(ctx, LearnCommand::Preview(path, read).into());
        }
    }
}
