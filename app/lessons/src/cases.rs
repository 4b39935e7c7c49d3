//! Detective cases: twelve per seed, each with a hidden cause that the diagnosis finds.
//! The learner names the cause and chooses a remedy. A simulation of the remedy determines the score.

use loadscope_plan::forecast::{Recorded, Setting};
use loadscope_trace::{Nanos, Run, RunOptions, Summary};

use crate::query::simulated;

mod culprit;
mod draw;
mod remedy;

pub use culprit::Culprit;
pub use remedy::Remedy;

use draw::{RECORDINGS, recorded};

/// Number of cases per seed.
pub const CASES: u32 = 12;
/// Number of simulated cases, which are the first ones.
const SIMULATED: u32 = 8;
/// Maximum number of attempts to draw a case whose remedies gain enough.
const TRIES: usize = 20;
/// Minimum share of the lost time that the best remedies save.
const MIN_SAVED: f64 = 0.1;
/// Number of offered remedies.
const OFFERED: usize = 6;

/// A detective case. While it is open, the window hides the verdict and the Diagnose workspace.
#[derive(Clone, Debug)]
pub struct Case {
    /// Number, from 1.
    pub number: u32,
    /// Recorded or simulated run.
    pub run: Run,
    /// Program of the recording. `None` for a simulated run.
    pub program: Option<&'static str>,
    /// Offered remedies. The learner chooses as many as there are causes.
    pub remedies: Vec<Remedy>,
    causes: Vec<Culprit>,
    /// Outcome of each applicable remedy alone.
    outcomes: Vec<(Remedy, Outcome)>,
}

/// Result of the learner's choice.
#[derive(Clone, Debug)]
pub struct Solved {
    /// True if the learner named exactly the causes.
    pub is_named: bool,
    /// Hidden causes of the run, worst first.
    pub causes: Vec<Culprit>,
    /// Share of the possible gain that the learner reached, 0 to 100.
    pub score: u32,
    /// Durations of the run without and with the remedies.
    pub took: (Nanos, Nanos),
    /// The run with the remedies. `None` for a recording, which has only a forecast.
    pub after: Option<Run>,
    /// Best remedy for each cause.
    pub best: Vec<Remedy>,
}

/// Reason why there is no case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// The number is out of range.
    #[error("there is no case {0}: cases have the numbers 1 to {CASES}")]
    Number(u32),
    /// No attempt gave a run with the intended diagnosis and effective remedies.
    #[error("case {0} of this seed could not be made: choose another seed")]
    Draw(u32),
    /// The embedded recording cannot be read.
    #[error("the recording of {0} cannot be read: install the program again")]
    Recording(&'static str),
}

impl Case {
    /// Returns case `number`, from 1 to [`CASES`], of a seed. The case is the same on all platforms.
    ///
    /// # Errors
    /// If `number` is out of range, or no run with its causes can be drawn.
    pub fn of(seed: u64, number: u32) -> Result<Self, CaseError> {
        let at = number.checked_sub(1).filter(|at| *at < CASES);
        let at = at.ok_or(CaseError::Number(number))?;
        let mut random = draw::random(seed, number);
        let Some(at) = at.checked_sub(SIMULATED) else {
            let causes = draw::causes(seed, at as usize);
            let made = (0..TRIES).find_map(|_| {
                let run = draw::run(&causes, &mut random)?;
                let case = Self::with(number, run, None, causes.clone(), &mut random);
                case.can_be_helped().then_some(case)
            });
            return made.ok_or(CaseError::Draw(number));
        };
        let mut of_seed = draw::random(seed, 0);
        let order = draw::shuffled(&RECORDINGS, &mut of_seed);
        let (name, cause, logs) = order.get(at as usize).ok_or(CaseError::Number(number))?;
        let log = logs[usize::from(random.rand_u64() % 2 == 1)];
        let run = recorded(name, log).ok_or(CaseError::Recording(name))?;
        Ok(Self::with(
            number,
            run,
            Some(*name),
            vec![*cause],
            &mut random,
        ))
    }

    fn with(
        number: u32,
        run: Run,
        program: Option<&'static str>,
        causes: Vec<Culprit>,
        random: &mut oorandom::Rand64,
    ) -> Self {
        let mut case = Self {
            number,
            run,
            program,
            remedies: Vec::new(),
            causes,
            outcomes: Vec::new(),
        };
        case.outcomes = case.possible();
        case.remedies = case.offered(random);
        let offered = &case.remedies;
        case.outcomes.retain(|(remedy, _)| offered.contains(remedy));
        case
    }

    /// Returns true if the best remedies together recover enough of the loss of each cause.
    fn can_be_helped(&self) -> bool {
        let (as_is, ideal) = (Outcome::as_is(self), self.known(&self.best_of_all()));
        let mut causes = self
            .causes
            .iter()
            .filter(|cause| **cause != Culprit::TrainingBound);
        causes.all(|cause| {
            let before = self.loss(*cause, &as_is);
            before - self.loss(*cause, &ideal) >= MIN_SAVED * before
        })
    }

    /// Returns the number of causes.
    pub fn count(&self) -> usize {
        self.causes.len()
    }

    /// Scores the learner's causes and remedies.
    pub fn solve(&self, named: &[Culprit], chosen: &[Remedy]) -> Solved {
        let mut both = [named.to_vec(), self.causes.clone()];
        both.iter_mut().for_each(|all| {
            all.sort_unstable();
            all.dedup();
        });
        let best = self.best_of_all();
        let (outcome, ideal) = (self.known(chosen), self.known(&best));
        let causes = self.causes.iter();
        let scores = causes.map(|cause| self.score(*cause, chosen, &outcome, &ideal));
        let score = scores.sum::<f64>() / self.causes.len().max(1) as f64;
        Solved {
            is_named: both[0] == both[1],
            causes: self.causes.clone(),
            score: (score * 100.0).round() as u32,
            took: (self.run.in_loop(), outcome.time),
            after: outcome.run,
            best,
        }
    }

    /// Returns the best remedy for each cause.
    fn best_of_all(&self) -> Vec<Remedy> {
        let mut best: Vec<Remedy> = self
            .causes
            .iter()
            .filter_map(|c| self.best(*c))
            .map(|(r, _)| r)
            .collect();
        best.dedup();
        best
    }

    /// Returns the outcome of remedies, from the cache if possible. Inapplicable remedies change nothing.
    fn known(&self, remedies: &[Remedy]) -> Outcome {
        let known = self
            .outcomes
            .iter()
            .find(|(remedy, _)| remedies == [*remedy]);
        match known {
            Some((_, outcome)) => outcome.clone(),
            None => self
                .outcome(remedies)
                .unwrap_or_else(|| Outcome::as_is(self)),
        }
    }

    /// Returns the share of the possible gain for a cause. The possible gain is that of the best remedies of all causes together.
    fn score(&self, cause: Culprit, chosen: &[Remedy], outcome: &Outcome, ideal: &Outcome) -> f64 {
        let before = self.loss(cause, &Outcome::as_is(self));
        let most = before - self.loss(cause, ideal);
        if cause == Culprit::TrainingBound || most <= 0.0 {
            // No remedy saves time, so the correct choice is `Nothing`.
            return f64::from(u8::from(
                chosen.iter().all(|remedy| *remedy == Remedy::Nothing),
            ));
        }
        ((before - self.loss(cause, outcome)) / most).clamp(0.0, 1.0)
    }

    /// Returns the best remedy for a cause, and its gain.
    fn best(&self, cause: Culprit) -> Option<(Remedy, f64)> {
        if cause == Culprit::TrainingBound {
            return Some((Remedy::Nothing, 0.0));
        }
        let before = self.loss(cause, &Outcome::as_is(self));
        let gains = self.outcomes.iter();
        let gains = gains.map(|(remedy, outcome)| (*remedy, before - self.loss(cause, outcome)));
        gains.max_by(|a, b| a.1.total_cmp(&b.1))
    }

    fn loss(&self, cause: Culprit, outcome: &Outcome) -> f64 {
        match &outcome.run {
            _ if cause.costs_time() => outcome.seconds_a_sample(),
            Some(run) => cause.loss(run),
            None => cause.loss(&self.run),
        }
    }

    /// Returns all applicable remedies with their outcomes.
    fn possible(&self) -> Vec<(Remedy, Outcome)> {
        let workers = self.run.info.options.num_workers;
        let all = [
            Remedy::Workers(workers + 1),
            Remedy::Workers(workers + 2),
            Remedy::Workers(workers + 4),
            Remedy::Pin,
            Remedy::Prefetch(6),
            Remedy::AnyOrder,
            Remedy::KeepWorkers,
            Remedy::ShareStream,
            Remedy::SetEpoch,
            Remedy::CatchErrors,
            Remedy::Nothing,
        ];
        let outcome = |remedy| Some((remedy, self.outcome(&[remedy])?));
        all.into_iter().filter_map(outcome).collect()
    }

    /// Returns the best remedies and others in random order, so that the order reveals nothing.
    fn offered(&self, random: &mut oorandom::Rand64) -> Vec<Remedy> {
        let mut offered = self.best_of_all();
        let possible: Vec<Remedy> = self.outcomes.iter().map(|(remedy, _)| *remedy).collect();
        let others = draw::shuffled(&possible, random);
        for other in [Remedy::Nothing].into_iter().chain(others) {
            if offered.len() < OFFERED && !offered.contains(&other) {
                offered.push(other);
            }
        }
        draw::shuffled(&offered, random)
    }

    /// Returns the outcome of remedies. Returns `None` if they are not applicable.
    fn outcome(&self, remedies: &[Remedy]) -> Option<Outcome> {
        match self.program {
            None => {
                let mut options: RunOptions = self.run.info.options.clone();
                let applied = remedies.iter().all(|remedy| remedy.apply(&mut options));
                let run = simulated(&options).ok().filter(|_| applied)?;
                Some(Outcome {
                    time: run.in_loop(),
                    samples: Summary::of(&run).samples,
                    run: Some(run),
                })
            }
            Some(_) if remedies == [Remedy::Nothing] => Some(Outcome::as_is(self)),
            Some(_) => {
                let recorded = Recorded::of(&self.run).ok()?;
                let mut setting: Setting = recorded.setting();
                let applied = remedies.iter().all(|remedy| remedy.set(&mut setting));
                let forecast = recorded.forecast(&setting).ok().filter(|_| applied)?;
                Some(Outcome {
                    time: forecast.time,
                    samples: forecast.samples,
                    run: None,
                })
            }
        }
    }
}

#[derive(Clone, Debug)]
struct Outcome {
    time: Nanos,
    samples: u64,
    run: Option<Run>,
}

impl Outcome {
    /// Returns the outcome without remedies.
    fn as_is(case: &Case) -> Self {
        Self {
            time: case.run.in_loop(),
            samples: Summary::of(&case.run).samples,
            run: None,
        }
    }

    /// Returns the time per sample, s. A failed run is short because it trains on few samples. Times per sample stay comparable.
    fn seconds_a_sample(&self) -> f64 {
        self.time.as_secs_f64() / self.samples.max(1) as f64
    }
}
