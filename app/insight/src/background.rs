//! A calculation on another thread, with progress. Dropping its handle cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crossbeam_channel::{Receiver, TryRecvError, bounded};

use crate::platform::Jobs;

/// Handle of a running calculation.
#[derive(Debug)]
pub struct Background<T> {
    progress: Arc<Progress>,
    answer: Receiver<T>,
}

/// State of a calculation.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome<T> {
    /// The calculation is running.
    NotYet,
    /// The calculation returned this answer.
    Ready(T),
    /// The calculation ended without an answer, which is a bug.
    Broken,
}

impl<T: Send + 'static> Background<T> {
    /// Starts `job`. `wake` is called when the job ends.
    ///
    /// # Errors
    /// If no thread is available.
    pub fn start(
        jobs: &dyn Jobs,
        name: &str,
        wake: impl Fn() + Send + 'static,
        job: impl FnOnce(&Progress) -> Result<T, Cancelled> + Send + 'static,
    ) -> std::io::Result<Self> {
        let progress = Arc::new(Progress::default());
        let (tell, answer) = bounded(1);
        let told = Arc::clone(&progress);
        let job = move || {
            // Drop also runs if the job panics, so the waiting thread always wakes up.
            let _wake = CallOnDrop(wake);
            let tell = tell;
            if let Ok(answer) = job(&told) {
                let _ = tell.send(answer);
            }
        };
        jobs.start(name, Box::new(job))?;
        Ok(Self { progress, answer })
    }

    /// Returns the progress of the calculation, 0 to 1.
    pub fn share(&self) -> f32 {
        self.progress.share()
    }

    /// Returns the answer if the calculation has ended.
    pub fn take(&self) -> Outcome<T> {
        match self.answer.try_recv() {
            Ok(answer) => Outcome::Ready(answer),
            Err(TryRecvError::Empty) => Outcome::NotYet,
            Err(TryRecvError::Disconnected) => Outcome::Broken,
        }
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        self.progress.cancel();
    }
}

struct CallOnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for CallOnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Progress that a calculation shares with the thread that waits for it.
#[derive(Debug, Default)]
pub struct Progress {
    permille: AtomicU32,
    cancelled: AtomicBool,
}

/// The result is no longer needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

impl Progress {
    /// Number of indices between two reports of progress.
    pub const PIECE: usize = 1 << 20;

    /// Reports that `share` (0 to 1) is done.
    ///
    /// # Errors
    /// If the result is no longer needed.
    pub fn report(&self, share: f64) -> Result<(), Cancelled> {
        let permille = (share.clamp(0.0, 1.0) * 1000.0) as u32;
        self.permille.store(permille, Ordering::Relaxed);
        match self.cancelled.load(Ordering::Relaxed) {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }

    /// Returns the last reported progress, 0 to 1.
    pub fn share(&self) -> f32 {
        self.permille.load(Ordering::Relaxed) as f32 / 1000.0
    }

    /// Cancels the calculation.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    struct Threads;

    impl Jobs for Threads {
        fn start(&self, name: &str, job: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
            let thread = std::thread::Builder::new().name(name.to_owned());
            thread.spawn(job).map(drop)
        }
    }

    #[test]
    fn a_job_returns_its_answer_and_stops_when_dropped() {
        let job = Background::start(&Threads, "adds", || {}, |_| Ok(1 + 1)).unwrap();
        assert_eq!(job.answer.recv_timeout(Duration::from_secs(10)), Ok(2));
        let (say, stopped) = bounded(1);
        let endless = Background::<()>::start(
            &Threads,
            "endless",
            || {},
            move |progress| loop {
                if let Err(cancelled) = progress.report(0.5) {
                    let _ = say.send(());
                    return Err(cancelled);
                }
            },
        )
        .unwrap();
        assert_eq!(endless.take(), Outcome::NotYet);
        drop(endless);
        assert!(stopped.recv_timeout(Duration::from_secs(10)).is_ok());
    }
}
