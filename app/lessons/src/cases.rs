//! Detective cases: twelve by seed, each with a hidden cause that the diagnosis finds. The learner names the cause and a remedy; the
//! remedy is simulated, and what it gains is the score.

use loadscope_plan::forecast::{Recorded, Setting};
use loadscope_trace::{Nanos, Run, RunOptions, Summary};

use crate::query::simulated;

mod culprit;
mod draw;
mod recordings;
mod remedy;

pub use culprit::Culprit;
pub use remedy::Remedy;

use recordings::{RECORDINGS, recorded};

/// Cases of a seed.
pub const CASES: u32 = 12;
/// The first of them are simulated.
const SIMULATED: u32 = 8;
/// A case is drawn anew so often until its remedies gain enough.
const TRIES: usize = 20;
/// This share of what is lost has to be gained by the best remedies.
const WORTH: f64 = 0.1;
/// So many remedies are offered.
const OFFERED: usize = 6;

/// A case. While it is open, the window hides the verdict and the Diagnose workspace.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number, from 1.
    pub number: u32,
    /// What happened.
    pub run: Run,
    /// The program it was recorded from; `None`: it was simulated.
    pub program: Option<&'static str>,
    /// What the learner may choose from; as many as there are causes.
    pub remedies: Vec<Remedy>,
    causes: Vec<Culprit>,
    /// What comes of each remedy that makes sense, alone.
    outcomes: Vec<(Remedy, Outcome)>,
}

/// What came of a learner's choice.
#[derive(Clone, Debug)]
pub struct Solved {
    /// All causes were named, and no others.
    pub is_named: bool,
    /// The causes.
    pub causes: Vec<Culprit>,
    /// How much of what can be gained is gained, 0 to 100.
    pub score: u32,
    /// How long the run took, and how long it takes with the remedies.
    pub took: (Nanos, Nanos),
    /// The run with the remedies; `None` for a recording, of which there is only a forecast.
    pub after: Option<Run>,
    /// The remedies that gain most for each cause.
    pub best: Vec<Remedy>,
}

/// Why there is no case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoCase {
    /// There are only so many.
    #[error("there is no case {0}: cases have the numbers 1 to {CASES}")]
    Number(u32),
    /// Nothing was drawn that the diagnosis agrees with.
    #[error("case {0} of this seed could not be made: choose another seed")]
    Draw(u32),
    /// The recording that comes with the program cannot be read.
    #[error("the recording of {0} cannot be read: install the program again")]
    Recording(&'static str),
}

impl Case {
    /// Case `number`, from 1 to [`CASES`], of a seed: the same everywhere.
    ///
    /// # Errors
    /// If there is no such case.
    pub fn of(seed: u64, number: u32) -> Result<Self, NoCase> {
        let at = number.checked_sub(1).filter(|at| *at < CASES);
        let at = at.ok_or(NoCase::Number(number))?;
        let mut random = draw::random(seed, number);
        let Some(at) = at.checked_sub(SIMULATED) else {
            let causes = draw::causes(seed, at as usize);
            let made = (0..TRIES).find_map(|_| {
                let run = draw::run(&causes, &mut random)?;
                let case = Self::with(number, run, None, causes.clone(), &mut random);
                case.can_be_helped().then_some(case)
            });
            return made.ok_or(NoCase::Draw(number));
        };
        let mut of_seed = draw::random(seed, 0);
        let order = draw::shuffled(&RECORDINGS, &mut of_seed);
        let (name, cause, logs) = order.get(at as usize).ok_or(NoCase::Number(number))?;
        let log = logs[usize::from(random.rand_u64() % 2 == 1)];
        let run = recorded(name, log).ok_or(NoCase::Recording(name))?;
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

    /// True if the best remedies together gain something worth the name for each cause.
    fn can_be_helped(&self) -> bool {
        let (as_is, ideal) = (Outcome::as_is(self), self.known(&self.best_of_all()));
        let mut causes = self
            .causes
            .iter()
            .filter(|cause| **cause != Culprit::TrainingBound);
        causes.all(|cause| {
            let before = self.loss(*cause, &as_is);
            before - self.loss(*cause, &ideal) >= WORTH * before
        })
    }

    /// How many causes there are to be named.
    pub fn count(&self) -> usize {
        self.causes.len()
    }

    /// Judges what a learner named and chose.
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

    /// The remedies that gain most, one for each cause.
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

    /// What comes of remedies, looked up where it is known; what makes no sense changes nothing.
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

    /// The share of what can be gained for a cause: with the best remedies of all causes together.
    fn score(&self, cause: Culprit, chosen: &[Remedy], outcome: &Outcome, ideal: &Outcome) -> f64 {
        let before = self.loss(cause, &Outcome::as_is(self));
        let most = before - self.loss(cause, ideal);
        if cause == Culprit::TrainingBound || most <= 0.0 {
            // Nothing can be gained: what changes nothing is right.
            return f64::from(u8::from(
                chosen.iter().all(|remedy| *remedy == Remedy::Nothing),
            ));
        }
        ((before - self.loss(cause, outcome)) / most).clamp(0.0, 1.0)
    }

    /// The remedy that gains most for a cause, and how much.
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

    /// What can be changed at all, and what comes of it.
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

    /// The best remedy for each cause among others, in an order that gives nothing away.
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

    /// What comes of remedies; `None`: they make no sense here.
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

/// What comes of remedies.
#[derive(Clone, Debug)]
struct Outcome {
    time: Nanos,
    samples: u64,
    run: Option<Run>,
}

impl Outcome {
    /// What is without any.
    fn as_is(case: &Case) -> Self {
        Self {
            time: case.run.in_loop(),
            samples: Summary::of(&case.run).samples,
            run: None,
        }
    }

    /// A run that ends with an error is short, and has trained little: what counts is how long a sample takes.
    fn seconds_a_sample(&self) -> f64 {
        self.time.as_secs_f64() / self.samples.max(1) as f64
    }
}
