//! Runs the watched program with other arguments, on a thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{Builder, JoinHandle};

use crossbeam_channel::{Receiver, Sender, unbounded};
use loadscope_model::trying::{Outcome, TuneUpdate};
use loadscope_session::Waker;
use loadscope_session::tune::{Job, Progress, tune};

/// Trials in progress.
pub(super) struct Tries {
    /// Number of requests to end. The first one asks the program to end in order.
    ends: Arc<AtomicUsize>,
    pub news: Receiver<TuneUpdate>,
    thread: Option<JoinHandle<()>>,
}

impl Tries {
    pub fn start(job: Job, wake: Waker) -> std::io::Result<Self> {
        // The channel needs no bound: a trial sends a few messages and takes seconds.
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
    /// Ends the program, because no user could end it without the window.
    fn drop(&mut self) {
        self.ends.fetch_add(2, Ordering::AcqRel);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(job: &Job, ends: &AtomicUsize, news: &Sender<TuneUpdate>, wake: &Waker) {
    let tell = |new| {
        // Without a window there is no receiver.
        let _ = news.send(new);
        wake();
    };
    let ends = || ends.load(Ordering::Acquire);
    let mut line = |progress: Progress<'_>| tell(TuneUpdate::Line(progress.to_string()));
    let outcome = match tune(job, &mut line, &ends) {
        Ok(tuned) => match tuned.table {
            Some(table) => Outcome::Compared(Arc::new(table)),
            None => Outcome::Ended,
        },
        Err(e) => Outcome::Failed(e.to_string()),
    };
    tell(TuneUpdate::Over(outcome));
}
