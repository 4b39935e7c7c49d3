//! Begins to try other arguments on the program that is watched, and hears what comes of it.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Context;
use loadscope_files::new_folder_in;
use loadscope_model::message::Message;
use loadscope_model::trying::News;
use loadscope_model::watching::Program;
use loadscope_session::Stop;
use loadscope_session::tune::Job;
use loadscope_words::{cause, say};

use super::App;
use super::tries::Tries;

/// Each run ends once its loader has yielded so many batches.
const BATCHES: u64 = 200;
/// Settings that are tried.
const TRIES: usize = 6;
/// Default names that are tried for the folder.
const MOST_NAMES: u32 = 10_000;

impl App {
    /// Begins to try.
    pub(super) fn try_program(&mut self, ctx: &Context) {
        let Some(program) = self.state.session.program.clone() else {
            return;
        };
        match self.tries(program) {
            Ok((folder, tries)) => {
                self.tries = Some(tries);
                self.tell(ctx, Message::Trying(News::Begun(folder)));
            }
            Err(why) => self.complain(why),
        }
    }

    /// The session that is shown names the program; the recordings go into a folder beside it.
    fn tries(&self, program: Program) -> Result<(PathBuf, Tries), String> {
        let others = (2..=MOST_NAMES).map(|n| format!("tune-{n}"));
        let names = std::iter::once("tune".to_owned()).chain(others);
        // Shown to the user: a relative name leads nowhere.
        let folder = program.folder.clone().unwrap_or_default();
        let place = std::env::current_dir().unwrap_or_default().join(folder);
        let folder = new_folder_in(names.map(|name| place.join(name)));
        let folder = folder.map_err(|e| e.to_string())?;
        let made_at = &self.state.session.run.info.made_at;
        let job = Job {
            command: program.command,
            started_in: program.folder,
            stop: Stop::Batches(NonZeroU64::new(BATCHES).unwrap_or(NonZeroU64::MIN)),
            tries: TRIES,
            asked: Vec::new(),
            loader: made_at.as_ref().map(|at| at.name.clone()),
            all_loaders: false,
            folder: folder.clone(),
        };
        let tries = Tries::start(job, Arc::clone(&self.wake));
        let tries = tries.map_err(|e| {
            say!(
                "cannot start a thread: {e}. Close other programs and try again.",
                e = cause(&e)
            )
        })?;
        Ok((folder, tries))
    }

    /// Takes in what the tries have said.
    pub(super) fn hear_tries(&mut self, ctx: &Context) {
        while let Some(news) = self.tries.as_ref().and_then(|t| t.news.try_recv().ok()) {
            let is_over = matches!(news, News::Over(_));
            self.tell(ctx, Message::Trying(news));
            if is_over {
                self.tries = None;
            }
        }
    }
}
