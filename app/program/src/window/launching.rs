//! Starts programs and trials of other arguments from the window, and applies their progress and end.

use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use eframe::egui::Context;
use loadscope_files::create_free_folder;
use loadscope_model::message::Message;
use loadscope_model::watching::TuneUpdate;
use loadscope_model::watching::{Program, ProgramToWatch};
use loadscope_session::Stop;
use loadscope_session::tune::Job;
use loadscope_window::Host as _;
use loadscope_words::{cause, say};

use super::launch::{Launched, Tries, notice, start};
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

/// Number of batches after which a run ends.
const BATCHES: u64 = 200;
/// Number of settings to try.
const TRIES: usize = 6;
/// Maximum number of default names for the folder.
const MOST_NAMES: u32 = 10_000;

impl App {
    /// Starts the trials.
    pub(super) fn try_program(&mut self, ctx: &Context) {
        let Some(program) = self.state.session.program.clone() else {
            return;
        };
        match self.tries(program) {
            Ok((folder, tries)) => {
                self.tries = Some(tries);
                self.dispatch(ctx, Message::Tune(TuneUpdate::Begun(folder)));
            }
            Err(why) => self.notify_error(why),
        }
    }

    /// Starts the trials for the shown loader of the program. Their recordings are in a new folder inside the program's working directory.
    fn tries(&self, program: Program) -> Result<(PathBuf, Tries), String> {
        let others = (2..=MOST_NAMES).map(|n| format!("tune-{n}"));
        let names = std::iter::once("tune".to_owned()).chain(others);
        let place = working_folder(&program);
        let folder = create_free_folder(names.map(|name| place.join(name)));
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

    /// Applies the progress of the trials.
    pub(super) fn poll_tries(&mut self, ctx: &Context) {
        while let Some(news) = self.tries.as_ref().and_then(|t| t.news.try_recv().ok()) {
            let is_over = matches!(news, TuneUpdate::Over(_));
            self.dispatch(ctx, Message::Tune(news));
            if is_over {
                self.tries = None;
            }
        }
    }
}

/// Returns the folder that a program was started in, as an absolute path, because the user sees it.
fn working_folder(program: &Program) -> PathBuf {
    let folder = program.folder.clone().unwrap_or_default();
    std::env::current_dir().unwrap_or_default().join(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_program_is_absolute() {
        let of = |folder: Option<&str>| {
            let folder = folder.map(PathBuf::from);
            working_folder(&Program {
                command: Vec::new(),
                folder,
            })
        };
        let here = std::env::current_dir().expect("a folder");
        let place = of(None);
        assert!(place.is_absolute() && place == here, "{}", place.display());
        let place = of(Some("project/tries"));
        assert!(place.is_absolute(), "{}", place.display());
        assert_eq!(place, here.join("project/tries"));
        let elsewhere = std::env::temp_dir();
        assert_eq!(of(elsewhere.to_str()), elsewhere);
    }
}
