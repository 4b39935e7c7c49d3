//! Background calculations of the Sampling workspace: their start, restart and results.

use std::sync::Arc;
use std::time::Duration;

use egui::Context;
use loadscope_trace::{Origin, RunOptions};
use loadscope_words::{cause, say};

use loadscope_insight::background::{Background, Outcome};
use loadscope_insight::sampling::OrderSource;
use loadscope_insight::sampling::analysis::{OrderAnalysis, Question, Refusal, answer};
use loadscope_insight::sampling::of_run::{
    generators, is_complete, known_options, labels, seeds, yielded,
};
use loadscope_insight::sampling::order::OrderCollector;
use loadscope_model::results::SamplingResults;
use loadscope_model::sampling::{epochs, order_of};
use loadscope_model::state::State;

/// Minimum interval between calculations for a growing order.
const MIN_INTERVAL: Duration = Duration::from_millis(250);

/// Maximum time per frame for collecting the order.
const COLLECT_BUDGET: Duration = Duration::from_millis(4);

/// Inputs of a result.
#[derive(Clone, Debug, PartialEq)]
struct Key {
    order: OrderSource,
    epoch: u32,
    /// Number of the run.
    run: u64,
    /// Options of a predicted order.
    options: Option<RunOptions>,
    /// Known size of a recorded order: indices, epochs, workers and completeness.
    /// The last value is the number of transitions, because batch contents arrive later.
    grown: (usize, usize, usize, bool, usize),
}

impl Key {
    /// Returns true if this has more data of the same run than `other`.
    fn is_ahead_of(&self, other: &Self) -> bool {
        let (a, b) = (self.grown, other.grown);
        self.run == other.run
            && self.order == other.order
            && (a.0 > b.0 || a.1 > b.1 || (a.3 && !b.3) || a.4 > b.4)
    }

    /// Returns true if `other` differs only in the size of the run.
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

/// Calculations of the Sampling workspace, with the last result.
#[derive(Default)]
pub struct SamplingJob {
    gathered: OrderCollector,
    job: Option<(Key, Background<Result<OrderAnalysis, Refusal>>)>,
    started_at: Option<Duration>,
    answer: Option<(Key, Result<Arc<OrderAnalysis>, Refusal>)>,
}

impl SamplingJob {
    /// Returns the last result.
    pub fn answers(&self) -> SamplingResults {
        let answer = self.answer.as_ref().map(|(_, answer)| answer);
        SamplingResults {
            answers: answer.and_then(|a| a.as_ref().ok().cloned()),
            refusal: answer.and_then(|a| a.as_ref().err().cloned()),
            share: self.job.as_ref().map(|(_, job)| job.share()),
        }
    }

    /// Takes a finished result, and starts a new calculation if the last result is outdated.
    pub fn update(&mut self, ctx: &Context, state: &State) {
        self.poll();
        let order = order_of(state);
        let (epoch, ..) = epochs(state);
        let last = state.session.run.epochs().len().saturating_sub(1);
        let looked_at = (epoch as usize).min(last);
        let session = &state.session;
        let budget = state.place.platform.budget(COLLECT_BUDGET);
        // A predicted order is compared with the recorded one, so all epochs of the run are needed.
        if order != OrderSource::Options
            && self
                .gathered
                .update(session.run_number, &session.run, looked_at, &budget)
        {
            ctx.request_repaint();
            return;
        }
        if order == OrderSource::Run && state.session.run.batches().is_empty() {
            (self.job, self.answer) = (None, None);
            return;
        }
        let key = self.key(state, epoch);
        // Discards results from data that is now hidden.
        self.answer.take_if(|(k, _)| k.is_ahead_of(&key));
        self.job.take_if(|(k, _)| k.is_ahead_of(&key));
        let kept = self.answer.as_ref().map(|(k, _)| k);
        let under_way = self.job.as_ref().map(|(k, _)| k);
        if kept == Some(&key) {
            // A running calculation has other inputs and is not needed.
            self.job = None;
            return;
        }
        let continues = |k: Option<&Key>| k.is_some_and(|k| k.is_continued_by(&key));
        // A running calculation finishes before one with newer data starts.
        if continues(under_way) {
            return;
        }
        if continues(kept) && !self.is_due(state, &key) {
            ctx.request_repaint_after(MIN_INTERVAL);
            return;
        }
        if self.answer.as_ref().is_some_and(|(k, _)| k.run != key.run) {
            self.answer = None;
        }
        self.start_job(ctx, state, key);
    }

    /// Returns true if a new calculation is due. A large order must first grow by 2 %.
    fn is_due(&self, state: &State, key: &Key) -> bool {
        if !state.session.source.is_live() {
            return true;
        }
        let before = self.answer.as_ref().map_or(0, |(k, _)| k.grown.0);
        self.started_at
            .is_none_or(|at| now(state).saturating_sub(at) >= MIN_INTERVAL)
            && (key.grown.0 < 1_000_000 || key.grown.0 - before.min(key.grown.0) > before / 50)
    }

    fn poll(&mut self) {
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
        let order = order_of(state);
        let came = order == OrderSource::Run;
        let indices = self.gathered.looked_at.indices.len();
        Key {
            order,
            epoch,
            run: state.session.run_number,
            options: match order {
                OrderSource::Run => None,
                OrderSource::Next => Some(run.info.options.clone()),
                OrderSource::Options => Some(state.prefs.options.clone()),
            },
            grown: match order {
                OrderSource::Options => Default::default(),
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

    fn start_job(&mut self, ctx: &Context, state: &State, key: Key) {
        let question = self.question(state, &key);
        let waker = ctx.clone();
        let job = Background::start(
            state.place.platform.jobs,
            "sampling",
            move || waker.request_repaint(),
            move |progress| answer(&question, progress),
        );
        self.started_at = Some(now(state));
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
        if key.order == OrderSource::Options {
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
        let yielded = (key.order == OrderSource::Run)
            .then(|| yielded(run, &self.gathered.looked_at.rows))
            .flatten();
        let is_stream = options.is_stream() && key.order == OrderSource::Next;
        let number = run.epochs().get(key.epoch as usize).map(|e| e.epoch);
        Question {
            yielded,
            epoch: match key.order {
                OrderSource::Run => number.unwrap_or_default(),
                _ => key.epoch,
            },
            recorded: (key.order == OrderSource::Run).then(|| Arc::clone(&self.gathered.looked_at)),
            len: run.info.dataset_len.filter(|_| !is_stream),
            is_complete: key.order == OrderSource::Next || is_complete(run, key.epoch as usize),
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
