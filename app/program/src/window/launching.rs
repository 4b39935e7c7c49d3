//! Starts programs from the window, watches them, and reports their end.

use std::sync::PoisonError;

use eframe::egui::Context;
use loadscope_model::message::Message;
use loadscope_model::watching::ProgramToWatch;

use super::launch::{Launched, notice, start};
use super::{App, Extent};

impl App {
    /// Starts a program and watches it. The dialog shows an error.
    pub(super) fn launch(&mut self, ctx: &Context, program: &ProgramToWatch) {
        let launched = match start(program, &mut self.outputs) {
            Ok(launched) => launched,
            Err(why) => return self.dispatch(ctx, Message::NotWatched(why)),
        };
        let (watched, restart_command) = (&launched.watched, launched.restart_command.clone());
        if let Err(e) = self.watch(ctx, watched, Extent::default(), Some(restart_command)) {
            launched.abandon();
            return self.dispatch(ctx, Message::NotWatched(e.to_string()));
        }
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        started.push(launched.watched.clone());
        drop(started);
        self.launched.push(launched);
    }

    /// Reports the end of programs that were started here.
    pub(super) fn report_ended_programs(&mut self, ctx: &Context) {
        let is_over = |launched: &mut Launched| launched.watched.has_ended();
        let over: Vec<Launched> = self.launched.extract_if(.., is_over).collect();
        for launched in over {
            let end = launched.watched.wait();
            self.dispatch(ctx, Message::Notice(notice(&launched, end)));
        }
    }
}
