//! Checks a file or folder before it is opened. An invalid one must not replace a run or cause a question. A thread does this, because
//! listing a large or remote folder takes longer than a frame.

use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Context;
use loadscope_insight::background::{Background, Outcome};
use loadscope_model::command::Command;
use loadscope_model::message::Message;
use loadscope_plan::dataset::dataset_kind_of;
use loadscope_session as session;
use loadscope_words::{cause, say};

use super::App;
use super::pending::PathCheck;
use crate::desktop::PLATFORM;

impl App {
    /// Checks a path and opens it.
    pub(super) fn check_and_open(&mut self, ctx: &Context, path: PathBuf) {
        self.start_path_check(ctx, path, false, None);
    }

    /// Checks a path, opens it, and runs `then`.
    pub(super) fn check_and_open_then(&mut self, ctx: &Context, path: PathBuf, then: Command) {
        self.start_path_check(ctx, path, false, Some(then));
    }

    /// Checks a dropped path and opens it. A file that is not a recording is opened as data, an unknown folder as images.
    pub(super) fn check_and_open_dropped(&mut self, ctx: &Context, path: PathBuf) {
        self.start_path_check(ctx, path, true, None);
    }

    fn start_path_check(
        &mut self,
        ctx: &Context,
        path: PathBuf,
        or_data: bool,
        then: Option<Command>,
    ) {
        let (asked, wake) = (path.clone(), Arc::clone(&self.wake));
        let look = move |_: &_| {
            Ok(session::check_path(&asked).map_err(|e| session::describe_open_error(&asked, &e)))
        };
        match Background::start(PLATFORM.jobs, "looker", move || wake(), look) {
            Ok(job) => {
                self.path_check = Some(PathCheck {
                    path: path.clone(),
                    or_data,
                    then,
                    job,
                });
                self.dispatch(ctx, Message::CheckingFile(Some(path)));
            }
            Err(e) => self.notify_error(say!(
                "cannot start a thread: {e}. Close other programs and try again.",
                e = cause(&e)
            )),
        }
    }

    /// Opens the checked path, or shows the reason why not.
    pub(super) fn poll_path_check(&mut self, ctx: &Context) {
        let Some(path_check) = &self.path_check else {
            return;
        };
        let looked = match path_check.job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(looked) => looked,
            Outcome::Broken => Err(say!(
                "Reading {} failed unexpectedly. This is a bug in Loadscope.",
                path_check.path.display()
            )),
        };
        let Some(path_check) = self.path_check.take() else {
            return;
        };
        self.dispatch(ctx, Message::CheckingFile(None));
        match looked {
            Ok(()) => {
                self.dispatch(ctx, Command::Open(path_check.path));
                if let Some(then) = path_check.then {
                    self.run(ctx, then);
                }
            }
            Err(why) if path_check.or_data => {
                let path = path_check.path;
                match dataset_kind_of(&path) {
                    Some(word) => self.dispatch(ctx, Command::UseData { word, path }),
                    None if path.is_dir() => self.dispatch(ctx, Command::UseFolder(path)),
                    None => self.dispatch(ctx, Message::NotOpened(why)),
                }
            }
            Err(why) => self.dispatch(ctx, Message::NotOpened(why)),
        }
    }
}
