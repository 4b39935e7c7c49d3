//! A background calculation about a run, restarted when the run grows, with its last result.

use std::time::Duration;

use egui::Context;
use loadscope_insight::background::{Background, Cancelled, Outcome, Progress};
use loadscope_insight::code::Question;
use loadscope_insight::platform::Platform;
use loadscope_plan::forecast::Setting;
use loadscope_trace::Nanos;
use loadscope_words::{cause, say};

/// Minimum interval between calculations for a growing run.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum interval as a multiple of the duration of the last calculation.
const INTERVAL_FACTOR: u32 = 10;

/// Inputs of a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Key {
    /// Number of the run.
    pub(super) run: u64,
    /// Number of events.
    pub(super) events: u64,
    /// Time of the last visible event.
    pub(super) end: Nanos,
    /// Question about the code.
    pub(super) code: Option<Question>,
    /// Common setting of the forecast table.
    pub(super) base: Option<Setting>,
    /// Number of the compared run.
    pub(super) other: u64,
}

impl Key {
    /// Returns true if the result includes events that `next` hides.
    fn is_ahead_of(&self, next: &Self) -> bool {
        self.run == next.run && self.end > next.end
    }

    /// Returns true if `next` has the same inputs, but for a grown run.
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

/// Environment of a calculation.
pub(super) struct JobContext<'a> {
    /// The window, which is redrawn after a result.
    pub(super) ctx: &'a Context,
    /// Clock and threads.
    pub(super) platform: Platform,
}

/// A repeated calculation and its last result.
pub(super) struct CachedJob<T> {
    job: Option<(Key, Background<T>)>,
    answer: Option<(Key, T)>,
    started_at: Option<Duration>,
    last_duration: Duration,
    /// Reason why there is no result: no thread could start, or the calculation panicked.
    failure: Option<(Key, String)>,
}

impl<T> Default for CachedJob<T> {
    fn default() -> Self {
        Self {
            job: None,
            answer: None,
            started_at: None,
            last_duration: Duration::ZERO,
            failure: None,
        }
    }
}

impl<T: Send + 'static> CachedJob<T> {
    /// Takes a finished result, and starts a calculation if the inputs changed.
    pub(super) fn update<F>(
        &mut self,
        context: &JobContext<'_>,
        key: &Key,
        grows: bool,
        job: impl FnOnce() -> F,
    ) where
        F: FnOnce(&Progress) -> Result<T, Cancelled> + Send + 'static,
    {
        let (ctx, platform) = (context.ctx, context.platform);
        let now = platform.clock.now();
        self.poll(now);
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
        self.answer.take_if(|(k, _)| k.is_ahead_of(key));
        self.job.take_if(|(k, _)| k.is_ahead_of(key));
        // A failure with other inputs does not apply.
        self.failure = self.failure.take().filter(|(k, _)| k == key);
        let answered = self.answer.as_ref().map(|(k, _)| k);
        if answered == Some(key) || self.failure.is_some() {
            self.job = None;
            return;
        }
        let under_way = self.job.as_ref().map(|(k, _)| k);
        if under_way.is_some_and(|k| k.grows_into(key)) {
            return;
        }
        let is_more_of_it = answered.is_some_and(|k| k.grows_into(key));
        let rest = MIN_INTERVAL.max(self.last_duration * INTERVAL_FACTOR);
        if let Some(since) = self.started_at.map(|at| now.saturating_sub(at))
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
            "calculation",
            move || waker.request_repaint(),
            job(),
        );
        self.started_at = Some(now);
        match started {
            Ok(job) => self.job = Some((key.clone(), job)),
            Err(e) => {
                let why = say!(
                    "cannot start a thread: {e}. Close other programs and try again.",
                    e = cause(&e)
                );
                self.failure = Some((key.clone(), why));
            }
        }
    }

    /// Takes a finished result.
    fn poll(&mut self, now: Duration) {
        let Some((key, job)) = &self.job else {
            return;
        };
        match job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(answer) => {
                self.answer = Some((key.clone(), answer));
                self.last_duration = self
                    .started_at
                    .map_or(Duration::ZERO, |at| now.saturating_sub(at));
            }
            Outcome::Broken => {
                let why = say!("the calculation failed because of a bug in Loadscope").to_owned();
                self.failure = Some((key.clone(), why));
            }
        }
        self.job = None;
    }

    /// Removes the result of another run.
    pub(super) fn clear_other_runs(&mut self, key: &Key) {
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
    }

    /// Removes the result and stops the calculation.
    pub(super) fn clear(&mut self) {
        (self.job, self.answer) = (None, None);
    }

    /// Returns the last result.
    pub(super) fn answer(&self) -> Option<&T> {
        self.answer.as_ref().map(|(_, answer)| answer)
    }

    /// Returns the last result, if it has these inputs.
    pub(super) fn answer_for_key(&self, key: &Key) -> Option<&T> {
        let answer = self.answer.as_ref().filter(|(k, _)| k == key);
        answer.map(|(_, answer)| answer)
    }

    /// Returns the last result, if it belongs to this run with this number of events.
    pub(super) fn answer_for_run(&self, run: u64, events: u64) -> Option<&T> {
        let of_it = |k: &Key| (k.run, k.events) == (run, events);
        let answer = self.answer.as_ref().filter(|(k, _)| of_it(k));
        answer.map(|(_, answer)| answer)
    }

    /// Returns the reason for a failed calculation.
    pub(super) fn failure(&self) -> Option<&String> {
        self.failure.as_ref().map(|(_, why)| why)
    }

    /// Returns the progress of the current calculation.
    pub(super) fn share(&self) -> Option<f32> {
        self.job.as_ref().map(|(_, job)| job.share())
    }
}
