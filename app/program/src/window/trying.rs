//! Runs the program that is watched with other arguments, in a thread of its own.

use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use eframe::egui::Context;
use loadscope_files::new_folder_in;
use loadscope_model::message::Message;
use loadscope_model::trying::{News, Outcome};
use loadscope_session::tune::{Job, Progress, tune};
use loadscope_session::{Stop, Waker};

use super::App;

/// Each run ends once its loader has yielded so many batches.
const BATCHES: u64 = 200;
/// Settings that are tried.
const TRIES: usize = 6;
/// Default names that are tried for the folder.
const MOST_NAMES: u32 = 10_000;

/// Tries that are under way.
pub(super) struct Tries {
    /// How often the user has asked for the end: once, and the program is asked to end in order.
    ends: Arc<AtomicUsize>,
    news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl Tries {
    fn start(job: Job, wake: Waker) -> std::io::Result<Self> {
        let (sender, news) = unbounded();
        let ends = Arc::new(AtomicUsize::new(0));
        let asked = Arc::clone(&ends);
        let thread = Builder::new()
            .name("try".to_owned())
            .spawn(move || run(&job, &asked, &sender, &wake))?;
        Ok(Self {
            ends,
            news,
            thread: Some(thread),
        })
    }

    pub fn end(&self) {
        self.ends.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for Tries {
    /// The window goes away, and with it the one who could end the program.
    fn drop(&mut self) {
        self.ends.fetch_add(2, Ordering::AcqRel);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(job: &Job, ends: &AtomicUsize, news: &Sender<News>, wake: &Waker) {
    let tell = |new| {
        // Without a window there is no reader.
        let _ = news.send(new);
        wake();
    };
    let ends = || ends.load(Ordering::Acquire);
    let mut line = |progress: Progress<'_>| tell(News::Line(progress.to_string()));
    let outcome = match tune(job, &mut line, &ends) {
        Ok(tuned) => match tuned.table {
            Some(table) => Outcome::Compared(Arc::new(table)),
            None => Outcome::Ended,
        },
        Err(e) => Outcome::Failed(e.to_string()),
    };
    tell(News::Over(outcome));
}

impl App {
    /// Begins to try.
    pub(super) fn try_program(&mut self, ctx: &Context) {
        match self.tries() {
            Ok((folder, tries)) => {
                self.tries = Some(tries);
                self.tell(ctx, Message::Trying(News::Begun(folder)));
            }
            Err(why) => self.complain(why),
        }
    }

    fn tries(&self) -> Result<(PathBuf, Tries), String> {
        let others = (2..=MOST_NAMES).map(|n| format!("tune-{n}"));
        let names = std::iter::once("tune".to_owned()).chain(others);
        let folder =
            new_folder_in(names.map(|name| self.tries_in.join(name))).map_err(|e| e.to_string())?;
        let made_at = &self.state.session.run.info.made_at;
        let job = Job {
            command: self.program.clone(),
            stop: Stop::Batches(NonZeroU64::new(BATCHES).unwrap_or(NonZeroU64::MIN)),
            tries: TRIES,
            asked: Vec::new(),
            loader: made_at.as_ref().map(|at| at.name.clone()),
            all_loaders: false,
            folder: folder.clone(),
        };
        let tries = Tries::start(job, Arc::clone(&self.wake));
        let tries = tries.map_err(|e| {
            format!("cannot start a thread: {e}. Close other programs and try again")
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

/// The program and its arguments as a person would type them, as far as they are text.
pub(super) fn shown(command: &[OsString]) -> Option<String> {
    let words: Vec<String> = command
        .iter()
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    (!words.is_empty()).then(|| words.join(" "))
}
