//! What the system tells the window: less motion, a request to close, files dropped on it.

use std::path::PathBuf;

use eframe::egui::{Context, ViewportCommand};

use super::App;
use crate::command::{Action, Command};
use crate::prefs::Motion;
use crate::session;
use crate::theme;

impl App {
    /// Animations are off if the user says so, or if the system asks for it and the user does not object.
    pub(super) fn settle_motion(&mut self, ctx: &Context) {
        if let Some(still) = self.system_motion.answer() {
            self.state.system_still = still;
        }
        let state = &mut self.state;
        state.still = state.still_for_now
            || match state.motion {
                Motion::System => state.system_still,
                Motion::Reduced => true,
                Motion::Full => false,
            };
        theme::set_motion(ctx, !state.still);
    }

    /// The window is closed by its frame: the same question comes first.
    pub(super) fn close_request(&mut self, ctx: &Context) {
        if self.closing || !ctx.input(|i| i.viewport().close_requested()) {
            return;
        }
        self.run(ctx, Action::Quit.into());
        if !self.closing {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
        }
    }

    pub(super) fn dropped_files(&mut self, ctx: &Context) {
        let dropped = ctx.input(|i| i.raw.dropped_files.clone());
        let paths: Vec<PathBuf> = dropped.iter().map(|f| f.path().to_owned()).collect();
        match &paths[..] {
            [pictures] if pictures.is_dir() && session::look(pictures).is_err() => {
                self.run(ctx, Command::UseFolder(pictures.clone()));
            }
            files => self.open_all(ctx, files),
        }
    }
}
