//! Runs the program that is watched with other arguments, in a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_model::trying::{News, Outcome};
use loadscope_session::Waker;
use loadscope_session::tune::{Job, Progress, tune};

/// Tries that are under way.
pub(super) struct Tries {
    /// How often the user has asked for the end: once, and the program is asked to end in order.
    ends: Arc<AtomicUsize>,
    pub news: Receiver<News>,
    thread: Option<JoinHandle<()>>,
}

impl Tries {
    pub fn start(job: Job, wake: Waker) -> std::io::Result<Self> {
        // No bound is needed: a handful of news a try, and a try takes seconds.
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
