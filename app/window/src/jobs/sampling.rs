//! Which question is asked, when it is asked again, and the last answer to it.

use std::sync::Arc;
use std::time::Duration;

use egui::Context;
use loadscope_trace::{Origin, RunOptions};
use loadscope_words::{cause, say};

use loadscope_insight::background::{Background, Outcome};
use loadscope_insight::sampling::OrderOf;
use loadscope_insight::sampling::analysis::{Answers, Question, Refusal, answer};
use loadscope_insight::sampling::of_run::{
    generators, is_complete, known_options, labels, seeds, yielded,
};
use loadscope_insight::sampling::order::Gathered;
use loadscope_model::answers::OfSampling;
use loadscope_model::sampling::{epochs, order_of};
use loadscope_model::state::State;

/// An order that grows is looked at again at most so often.
const AGAIN: Duration = Duration::from_millis(250);

/// An order is gathered for at most so long a frame.
const GATHER: Duration = Duration::from_millis(4);

/// What an answer is the answer to.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    of: OrderOf,
    epoch: u32,
    /// Which run.
    run: u64,
    /// The options of an order that is predicted.
    options: Option<RunOptions>,
    /// How much of an order that came is known: indices, epochs, workers, whether it is complete; and how far the run is, as contents
    /// of batches become known.
    grown: (usize, usize, usize, bool, usize),
}

impl Key {
    /// True if this knows more of the same run than `other`.
    fn is_ahead_of(&self, other: &Self) -> bool {
        let (a, b) = (self.grown, other.grown);
        self.run == other.run
            && self.of == other.of
            && (a.0 > b.0 || a.1 > b.1 || (a.3 && !b.3) || a.4 > b.4)
    }

    /// True if `other` differs only in how far the run is.
    fn is_continued_by(&self, other: &Self) -> bool {
        let grown = other.grown;
        *other
            == Self {
                grown,
                ..self.clone()
            }
    }
}

fn now(state: &State) -> Duration {
    state.place.platform.clock.now()
}

/// Asks, and keeps the answer.
#[derive(Default)]
pub struct Asker {
    gathered: Gathered,
    job: Option<(Key, Background<Result<Answers, Refusal>>)>,
    asked: Option<Duration>,
    answer: Option<(Key, Result<Arc<Answers>, Refusal>)>,
}

impl Asker {
    /// Stops what is under way.
    pub fn stop(&mut self) {
        self.job = None;
    }

    /// What is known.
    pub fn answers(&self) -> OfSampling {
        let answer = self.answer.as_ref().map(|(_, answer)| answer);
        OfSampling {
            answers: answer.and_then(|a| a.as_ref().ok().cloned()),
            refusal: answer.and_then(|a| a.as_ref().err().cloned()),
            share: self.job.as_ref().map(|(_, job)| job.share()),
        }
    }

    /// Takes in what is new, and asks if there is something to ask.
    pub fn update(&mut self, ctx: &Context, state: &State) {
        self.take_answer();
        let what = order_of(state);
        let (epoch, ..) = epochs(state);
        let last = state.session.run.epochs().len().saturating_sub(1);
        let looked_at = (epoch as usize).min(last);
        let session = &state.session;
        let budget = state.place.platform.budget(GATHER);
        // What will come is held against what came, so all epochs of the run are needed for that, too.
        if what != OrderOf::Options
            && self
                .gathered
                .update(session.run_number, &session.run, looked_at, &budget)
        {
            ctx.request_repaint();
            return;
        }
        if what == OrderOf::Run && state.session.run.batches().is_empty() {
            (self.job, self.answer) = (None, None);
            return;
        }
        let key = self.key(state, epoch);
        // What has been hidden since is not known any more.
        self.answer.take_if(|(k, _)| k.is_ahead_of(&key));
        self.job.take_if(|(k, _)| k.is_ahead_of(&key));
        let kept = self.answer.as_ref().map(|(k, _)| k);
        let under_way = self.job.as_ref().map(|(k, _)| k);
        if kept == Some(&key) {
            // Whatever else was asked is not wanted any more.
            self.job = None;
            return;
        }
        let continues = |k: Option<&Key>| k.is_some_and(|k| k.is_continued_by(&key));
        // What is under way comes to its end before it is asked about what has come since.
        if continues(under_way) {
            return;
        }
        if continues(kept) && !self.is_due(state, &key) {
            ctx.request_repaint_after(AGAIN);
            return;
        }
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
        self.ask(ctx, state, key);
    }

    /// A large order is looked at again only once it has grown by a fiftieth.
    fn is_due(&self, state: &State, key: &Key) -> bool {
        if !state.session.source.is_live() {
            return true;
        }
        let before = self.answer.as_ref().map_or(0, |(k, _)| k.grown.0);
        self.asked
            .is_none_or(|at| now(state).saturating_sub(at) >= AGAIN)
            && (key.grown.0 < 1_000_000 || key.grown.0 - before.min(key.grown.0) > before / 50)
    }

    fn take_answer(&mut self) {
        let Some((key, job)) = &self.job else {
            return;
        };
        let answer = match job.take() {
            Outcome::NotYet => return,
            Outcome::Ready(answer) => answer.map(Arc::new),
            Outcome::Broken => {
                Err(say!("The calculation stopped because of a bug in Loadscope").to_owned())
            }
        };
        self.answer = Some((key.clone(), answer));
        self.job = None;
    }

    fn key(&self, state: &State, epoch: u32) -> Key {
        let run = &state.session.run;
        let what = order_of(state);
        let came = what == OrderOf::Run;
        let indices = self.gathered.looked_at.indices.len();
        Key {
            of: what,
            epoch,
            run: state.session.run_number,
            options: match what {
                OrderOf::Run => None,
                OrderOf::Next => Some(run.info.options.clone()),
                OrderOf::Options => Some(state.prefs.options.clone()),
            },
            grown: match what {
                OrderOf::Options => Default::default(),
                _ => (
                    if came { indices } else { 0 },
                    run.epochs().len(),
                    if came { run.workers().len() } else { 0 },
                    !came || is_complete(run, epoch as usize),
                    if came { run.transitions().len() } else { 0 },
                ),
            },
        }
    }

    fn ask(&mut self, ctx: &Context, state: &State, key: Key) {
        let question = self.question(state, &key);
        let waker = ctx.clone();
        let job = Background::start(
            state.place.platform.jobs,
            "sampling",
            move || waker.request_repaint(),
            move |progress| answer(&question, progress),
        );
        self.asked = Some(now(state));
        match job {
            Ok(job) => self.job = Some((key, job)),
            Err(e) => {
                let refusal = say!(
                    "Cannot start a thread: {e}. Close other programs and try again.",
                    e = cause(&e)
                );
                self.answer = Some((key, Err(refusal)));
            }
        }
    }

    fn question(&self, state: &State, key: &Key) -> Question {
        let run = &state.session.run;
        if key.of == OrderOf::Options {
            return Question {
                options: state.prefs.options.clone(),
                epoch: key.epoch,
                is_complete: true,
                is_known: true,
                datasets: state.place.datasets,
                ..Question::default()
            };
        }
        let (options, is_known) = known_options(run, &self.gathered.digests);
        let yielded = (key.of == OrderOf::Run)
            .then(|| yielded(run, &self.gathered.looked_at.rows))
            .flatten();
        let is_stream = options.is_stream() && key.of == OrderOf::Next;
        let number = run.epochs().get(key.epoch as usize).map(|e| e.epoch);
        Question {
            yielded,
            epoch: match key.of {
                OrderOf::Run => number.unwrap_or_default(),
                _ => key.epoch,
            },
            came: (key.of == OrderOf::Run).then(|| Arc::clone(&self.gathered.looked_at)),
            len: run.info.dataset_len.filter(|_| !is_stream),
            is_complete: key.of == OrderOf::Next || is_complete(run, key.epoch as usize),
            digests: self.gathered.digests.clone(),
            epochs: self.gathered.epochs.clone(),
            seeds: seeds(run),
            generators: generators(run),
            labels: labels(run, &self.gathered.looked_at.rows),
            names: run.info.classes.clone(),
            options,
            is_known,
            is_of_engine: matches!(run.info.origin, Origin::Engine | Origin::Simulation),
            datasets: state.place.datasets,
        }
    }
}
