//! A question about a run that is asked in the background, again when the run has grown, and the last answer to it.

use std::time::Duration;

use egui::Context;
use loadscope_insight::background::{Background, Outcome, Progress, Unwanted};
use loadscope_insight::platform::Platform;
use loadscope_plan::forecast::Setting;
use loadscope_trace::Nanos;
use loadscope_words::{cause, say};

/// A run that grows is looked at again at most so often.
const AGAIN: Duration = Duration::from_secs(1);
/// And not for more than this part of the time.
const PART: u32 = 10;

/// What an answer is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// Which run.
    pub(super) run: u64,
    /// How far it was.
    pub(super) events: u64,
    /// The instant of its last event that was shown.
    pub(super) end: Nanos,
    /// The setting that is common to the table.
    pub(super) base: Option<Setting>,
    /// Which run it is compared with.
    pub(super) other: u64,
}

impl Key {
    /// True if this is about what is hidden in `next`.
    fn is_ahead_of(&self, next: &Self) -> bool {
        self.run == next.run && self.end > next.end
    }

    /// True if `next` asks the same of a run that has grown.
    fn grows_into(&self, next: &Self) -> bool {
        let (events, end) = (next.events, next.end);
        *next
            == Self {
                events,
                end,
                ..self.clone()
            }
    }
}

/// Where a question is asked.
pub(super) struct At<'a> {
    /// The window, which is drawn again when there is an answer.
    pub(super) ctx: &'a Context,
    /// The clock and the threads.
    pub(super) platform: Platform,
}

/// A question that is asked again and again, and the last answer to it.
pub(super) struct Question<T> {
    job: Option<(Key, Background<T>)>,
    answer: Option<(Key, T)>,
    began: Option<Duration>,
    took: Duration,
    /// Why there is no answer: the thread that could not be had, or the calculation that panicked.
    broken: Option<(Key, String)>,
}

impl<T> Default for Question<T> {
    fn default() -> Self {
        Self {
            job: None,
            answer: None,
            began: None,
            took: Duration::ZERO,
            broken: None,
        }
    }
}

impl<T: Send + 'static> Question<T> {
    /// Takes the answer in, and asks if there is something new to ask.
    pub(super) fn update<F>(&mut self, at: &At<'_>, key: &Key, grows: bool, job: impl FnOnce() -> F)
    where
        F: FnOnce(&Progress) -> Result<T, Unwanted> + Send + 'static,
    {
        let (ctx, platform) = (at.ctx, at.platform);
        let now = platform.clock.now();
        self.take(now);
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
        self.answer.take_if(|(k, _)| k.is_ahead_of(key));
        self.job.take_if(|(k, _)| k.is_ahead_of(key));
        // An earlier failure says nothing about this question.
        self.broken = self.broken.take().filter(|(k, _)| k == key);
        let answered = self.answer.as_ref().map(|(k, _)| k);
        if answered == Some(key) || self.broken.is_some() {
            self.job = None;
            return;
        }
        let under_way = self.job.as_ref().map(|(k, _)| k);
        if under_way.is_some_and(|k| k.grows_into(key)) {
            return;
        }
        let is_more_of_it = answered.is_some_and(|k| k.grows_into(key));
        let rest = AGAIN.max(self.took * PART);
        if let Some(since) = self.began.map(|at| now.saturating_sub(at))
            && grows
            && is_more_of_it
            && since < rest
        {
            ctx.request_repaint_after(rest - since);
            return;
        }
        let waker = ctx.clone();
        let started = Background::start(
            platform.jobs,
            "diagnose",
            move || waker.request_repaint(),
            job(),
        );
        self.began = Some(now);
        match started {
            Ok(job) => self.job = Some((key.clone(), job)),
            Err(e) => {
                let why = say!(
                    "cannot start a thread: {e}. Close other programs and try again.",
                    e = cause(&e)
                );
                self.broken = Some((key.clone(), why));
            }
        }
    }

    /// Takes the answer in, if there is one by now.
    fn take(&mut self, now: Duration) {
        let Some((key, job)) = &self.job else {
            return;
        };
        match job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(answer) => {
                self.answer = Some((key.clone(), answer));
                self.took = self
                    .began
                    .map_or(Duration::ZERO, |at| now.saturating_sub(at));
            }
            Outcome::Broken => {
                let why = say!("the calculation failed because of a bug in Loadscope").to_owned();
                self.broken = Some((key.clone(), why));
            }
        }
        self.job = None;
    }

    /// Forgets what was about another run.
    pub(super) fn forget_others(&mut self, key: &Key) {
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
    }

    /// Forgets the answer, and stops what is under way.
    pub(super) fn forget(&mut self) {
        (self.job, self.answer) = (None, None);
    }

    /// Stops what is under way.
    pub(super) fn stop(&mut self) {
        self.job = None;
    }

    /// The last answer.
    pub(super) fn answer(&self) -> Option<&T> {
        self.answer.as_ref().map(|(_, answer)| answer)
    }

    /// The last answer, if it is about that.
    pub(super) fn answer_to(&self, key: &Key) -> Option<&T> {
        let answer = self.answer.as_ref().filter(|(k, _)| k == key);
        answer.map(|(_, answer)| answer)
    }

    /// The last answer, if it is about this run with so many events, whatever else was asked.
    pub(super) fn answer_on(&self, run: u64, events: u64) -> Option<&T> {
        let of_it = |k: &Key| (k.run, k.events) == (run, events);
        let answer = self.answer.as_ref().filter(|(k, _)| of_it(k));
        answer.map(|(_, answer)| answer)
    }

    /// Why there is no answer, if a calculation failed.
    pub(super) fn broken(&self) -> Option<&String> {
        self.broken.as_ref().map(|(_, why)| why)
    }

    /// How far the answer is, if it is being worked out.
    pub(super) fn share(&self) -> Option<f32> {
        self.job.as_ref().map(|(_, job)| job.share())
    }
}
