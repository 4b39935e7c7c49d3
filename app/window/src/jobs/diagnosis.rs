//! What is asked in the background, when it is asked again, and the last answers.

use std::sync::Arc;
use std::time::Duration;

use egui::Context;
use loadscope_trace::{Nanos, Run, RunId};
use loadscope_words::say;

use loadscope_insight::background::{Background, Outcome, Progress, Unwanted};
use loadscope_insight::diagnose::compared::Compared;
use loadscope_insight::diagnose::look::Look;
use loadscope_insight::diagnose::what_if::{Costs, WhatIf, costs};
use loadscope_insight::platform::Platform;
use loadscope_model::answers::OfDiagnosis;
use loadscope_model::state::{Source, State};
use loadscope_plan::forecast::Setting;

/// A run that grows is looked at again at most so often.
const AGAIN: Duration = Duration::from_secs(1);
/// And not for more than this part of the time.
const PART: u32 = 10;

/// What an answer is about.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    /// Which run.
    run: u64,
    /// How far it was.
    events: u64,
    /// The instant of its last event that was shown.
    end: Nanos,
    /// The setting that is common to the table.
    base: Option<Setting>,
    /// Which run it is compared with.
    other: u64,
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
struct At<'a> {
    ctx: &'a Context,
    platform: Platform,
}

/// A question that is asked again and again, and the last answer to it.
struct Question<T> {
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
    fn update<F>(&mut self, at: &At<'_>, key: &Key, grows: bool, job: impl FnOnce() -> F)
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
                let why = say!("cannot start a thread: {e}. Close other programs and try again");
                self.broken = Some((key.clone(), why));
            }
        }
    }

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
                let why = say!("the calculation failed unexpectedly; this is a bug in Loadscope")
                    .to_owned();
                self.broken = Some((key.clone(), why));
            }
        }
        self.job = None;
    }

    /// Forgets what was about another run.
    fn forget_others(&mut self, key: &Key) {
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
    }

    fn forget(&mut self) {
        (self.job, self.answer) = (None, None);
    }

    fn answer(&self) -> Option<&T> {
        self.answer.as_ref().map(|(_, answer)| answer)
    }
}

/// What was found, agreeing with what is forecast.
struct Agreed {
    /// What was found.
    found: Arc<Look>,
    /// What is forecast, if anything is by now.
    forecast: Option<Arc<WhatIf>>,
    /// Both together.
    look: Arc<Look>,
}

/// Asks, and keeps the answers.
#[derive(Default)]
pub struct Asker {
    look: Question<Arc<Look>>,
    costs: Question<Costs>,
    what_if: Question<Result<Arc<WhatIf>, String>>,
    compared: Question<Arc<Compared>>,
    /// The answer of `look`, agreeing with that of `what_if`.
    agreed: Option<Agreed>,
}

impl Asker {
    /// Stops what is under way.
    pub fn stop(&mut self) {
        self.look.job = None;
        self.costs.job = None;
        self.what_if.job = None;
        self.compared.job = None;
    }

    /// What is known.
    pub fn answers(&self) -> OfDiagnosis {
        OfDiagnosis {
            look: self.agreed.as_ref().map(|agreed| Arc::clone(&agreed.look)),
            what_if: self.what_if.answer().and_then(|w| w.as_ref().ok()).cloned(),
            refusal: self.refusal(),
            share: self.share(),
            compared: self.compared.answer().cloned(),
        }
    }

    /// Why it is not known what other settings would bring.
    fn refusal(&self) -> Option<String> {
        let of_costs = self.costs.answer().and_then(|c| c.as_ref().err());
        let of_table = self.what_if.answer().and_then(|w| w.as_ref().err());
        let broken = [&self.costs.broken, &self.what_if.broken];
        let broken = broken.into_iter().flatten().map(|(_, why)| why).next();
        of_costs.or(of_table).or(broken).cloned()
    }

    /// How far the forecast is, if one is on its way.
    fn share(&self) -> Option<f32> {
        let costs = self.costs.job.as_ref().map(|_| 0.0);
        costs.or(self.what_if.job.as_ref().map(|(_, job)| job.share()))
    }

    /// Takes in what is new, and asks if there is something to ask.
    pub fn update(&mut self, ctx: &Context, state: &State) {
        self.ask(ctx, state);
        self.agree();
    }

    /// The findings advise what the table beside them says.
    fn agree(&mut self) {
        let Some(look) = self.look.answer() else {
            self.agreed = None;
            return;
        };
        let what_if = self.what_if.answer().and_then(|w| w.as_ref().ok());
        let is_made = |agreed: &Agreed| {
            Arc::ptr_eq(&agreed.found, look)
                && agreed.forecast.as_ref().map(Arc::as_ptr) == what_if.map(Arc::as_ptr)
        };
        if self.agreed.as_ref().is_some_and(is_made) {
            return;
        }
        let prospects = what_if.and_then(|w| w.prospects.as_ref());
        let agreed = match prospects {
            Some(prospects) => Arc::new(look.agreeing(prospects)),
            None => Arc::clone(look),
        };
        self.agreed = Some(Agreed {
            found: Arc::clone(look),
            forecast: what_if.cloned(),
            look: agreed,
        });
    }

    fn ask(&mut self, ctx: &Context, state: &State) {
        if !state.has_run() || state.session.run.epochs().is_empty() {
            self.look.forget();
            self.costs.forget();
            self.what_if.forget();
            self.compared.forget();
            return;
        }
        let grows = state.session.source == Source::Live { paused: false };
        let key = Key {
            run: state.session.run_number,
            events: state.session.run.version(),
            end: state.session.run.end(),
            base: None,
            other: 0,
        };
        let run = || state.session.run.now();
        let datasets = state.place.datasets;
        let at = At {
            ctx,
            platform: state.place.platform,
        };
        self.look.update(&at, &key, grows, || {
            let run: Arc<Run> = run();
            let loaders = &state.session.loaders;
            let id = loaders.shown();
            // One that is alone is not read twice.
            let all = match loaders.are_many() {
                true => loaders.now(&state.session.run),
                false => Vec::new(),
            };
            move |progress: &Progress| {
                let all: Vec<(RunId, &Run)> = all.iter().map(|(id, run)| (*id, &**run)).collect();
                Look::among(&all, id, &run, datasets, progress).map(Arc::new)
            }
        });
        // Forecasts are made of what has come to rest.
        if grows {
            self.costs.forget_others(&key);
            self.what_if.forget_others(&key);
            self.compared.forget_others(&key);
            return;
        }
        self.costs.update(&at, &key, false, || {
            let run = run();
            move |_: &Progress| Ok(costs(&run))
        });
        self.forecast(&at, state, &key);
        self.compare(&at, state, key);
    }

    fn forecast(&mut self, at: &At<'_>, state: &State, key: &Key) {
        let known = self.costs.answer.as_ref().filter(|(k, _)| k == key);
        let Some(recorded) = known.and_then(|(_, c)| c.as_ref().ok()) else {
            if known.is_some() {
                self.what_if.forget();
            }
            return;
        };
        let recorded = Arc::clone(recorded);
        let base = state.session.diagnose.base.clone();
        let key = Key {
            base: base.clone(),
            ..key.clone()
        };
        let last = self.what_if.answer.as_ref().filter(|(k, _)| {
            let of_now = (key.run, key.events);
            (k.run, k.events) == of_now
        });
        let known = last.and_then(|(_, w)| w.as_ref().ok()?.prospects.clone());
        self.what_if.update(at, &key, false, || {
            move |progress: &Progress| {
                let table = WhatIf::explore(&recorded, base, known, progress)?;
                Ok(table.map(Arc::new))
            }
        });
    }

    fn compare(&mut self, at: &At<'_>, state: &State, key: Key) {
        let Some(other) = &state.session.diagnose.other else {
            self.compared.forget();
            return;
        };
        let key = Key {
            other: other.number,
            ..key
        };
        let cut = matches!(state.session.source, Source::Recording { cut: true, .. });
        let datasets = state.place.datasets;
        self.compared.update(at, &key, false, || {
            let (name, this) = (other.name.clone(), state.session.run.now());
            let (other, other_cut) = (Arc::clone(&other.run), other.cut);
            move |_: &Progress| {
                let compared = Compared::of(&name, (&other, other_cut), (&this, cut), datasets);
                Ok(Arc::new(compared))
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use loadscope_insight::platform::Jobs;

    use super::*;

    struct Threads;

    impl Jobs for Threads {
        fn start(&self, _: &str, job: Box<dyn FnOnce() + Send>) -> std::io::Result<()> {
            std::thread::Builder::new().spawn(job).map(drop)
        }
    }

    /// It was once reported as a lack of memory or threads, which misleads.
    #[test]
    fn a_calculation_that_panics_is_reported_as_a_bug() {
        let key = Key {
            run: 1,
            events: 1,
            end: Nanos::ZERO,
            base: None,
            other: 0,
        };
        let mut question = Question::<u8>::default();
        let at = At {
            ctx: &Context::default(),
            platform: Platform {
                jobs: &Threads,
                ..Platform::default()
            },
        };
        question.update(&at, &key, false, || {
            |_: &Progress| -> Result<u8, Unwanted> { panic!("on purpose") }
        });
        let until = Instant::now() + Duration::from_secs(20);
        while question.broken.is_none() {
            assert!(Instant::now() < until, "it did not end");
            std::thread::sleep(Duration::from_millis(5));
            question.take(Duration::ZERO);
        }
        let asker = Asker {
            what_if: Question {
                broken: question.broken,
                ..Question::default()
            },
            ..Asker::default()
        };
        let why = asker.answers().refusal.expect("there is no answer");
        assert!(why.contains("a bug in Loadscope"), "{why}");
        assert!(!why.contains("Close other programs"), "{why}");
    }
}
