//! Opening of files, folders and lessons, and of a recording to compare with the shown run.
//!
//! A path is checked before it is opened. An invalid one must not replace a run or cause a question. A thread does this, because
//! listing a large or remote folder takes longer than a frame.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use eframe::egui::Context;
use loadscope_insight::background::{Background, Cancelled, Outcome};
use loadscope_insight::diagnose::{ComparedRun, Role};
use loadscope_insight::loaders::Loaders;
use loadscope_model::command::{Action, Command, LearnCommand};
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_plan::dataset::dataset_kind_of;
use loadscope_session as session;
use loadscope_window::{Host as _, loader_suffix};
use loadscope_words::{cause, say};

use super::App;
use super::pending::{PathCheck, Reading};
use super::preview::{LearnTarget, Preview};
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
            Err(e) => self.notify_thread_error(&e),
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
                self.dispatch(ctx, Command::Perform(Effect::Open(path_check.path)));
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

    /// Reads a recording to compare the run with.
    pub(super) fn compare_with(&mut self, ctx: &Context, path: PathBuf) {
        let wake = Arc::clone(&self.wake);
        let from = path.clone();
        let job = Background::start(
            PLATFORM.jobs,
            "comparer",
            move || wake(),
            move |progress| {
                let read = session::open(&from, |share| progress.report(f64::from(share)).is_ok());
                // A canceled read is incomplete and must not be returned.
                progress.report(1.0).map_err(|Cancelled| Cancelled)?;
                Ok(read.map_err(|e| session::describe_open_error(&from, &e)))
            },
        );
        match job {
            Ok(job) => {
                self.comparing = Some(Reading { path, job });
                self.dispatch(ctx, Message::Comparing);
            }
            Err(e) => self.notify_thread_error(&e),
        }
    }

    /// Compares the run with the recording, once it is read.
    pub(super) fn poll_comparison(&mut self, ctx: &Context) {
        let Some(reading) = &self.comparing else {
            return;
        };
        let read = match reading.job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(read) => read,
            Outcome::Broken => Err(say!(
                "Reading {} failed unexpectedly. This is a bug in Loadscope.",
                reading.path.display()
            )),
        };
        let path = reading.path.clone();
        match read {
            Ok(opened) => {
                let name = path.file_name().unwrap_or_default();
                let mut name = name.to_string_lossy().into_owned();
                for note in opened.notes {
                    self.notify(note);
                }
                let cut = opened.cut;
                let (loaders, run) = Loaders::of(opened.fleet, None);
                name.push_str(&loader_suffix(&loaders, &run));
                // A trial is the outcome of a change to the program of the shown run.
                let tried = self.state.look.trying.as_ref();
                let tried = tried.and_then(|trying| trying.setting(&path));
                let role = match tried {
                    Some(_) => Role::After,
                    None => Role::Chosen,
                };
                let other = ComparedRun {
                    number: self.next_comparison(),
                    name: tried.unwrap_or(name),
                    run: Arc::new(run),
                    cut,
                    role,
                };
                self.dispatch(ctx, Message::Compared(other));
            }
            Err(text) => self.dispatch(ctx, Message::NotOpened(text)),
        }
        self.comparing = None;
    }

    /// Opens the lesson of the command line.
    pub(super) fn open_learn(&mut self, ctx: &Context, learn: Option<LearnTarget>) {
        match learn {
            Some(LearnTarget::Contents) => self.dispatch(ctx, Action::Learn),
            Some(LearnTarget::Lesson(number)) => self.run(ctx, LearnCommand::Lesson(number).into()),
            Some(LearnTarget::File(path)) => match Preview::start(&path, Arc::clone(&self.wake)) {
                Ok(preview) => self.preview = Some(preview),
                Err(e) => self.notify_thread_error(&e),
            },
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

    fn notify_thread_error(&mut self, error: &io::Error) {
        self.notify_error(say!(
            "cannot start a thread: {e}. Close other programs and try again.",
            e = cause(error)
        ));
    }
}
