//! What other settings would bring. The forecasts themselves are made elsewhere; this is what a verdict needs of them, and
//! what it says of them.

use std::fmt;

use loadscope_words::say;
use serde::{Serialize, Serializer};

use loadscope_trace::{Nanos, percent};

/// A setting that could be another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// `num_workers`
    NumWorkers(usize),
    /// `prefetch_factor`
    PrefetchFactor(usize),
    /// `num_workers` and `prefetch_factor`
    Window(usize, usize),
    /// `in_order`
    InOrder(bool),
    /// `persistent_workers`
    PersistentWorkers(bool),
    /// `num_workers`, and `persistent_workers=True`
    Kept(usize),
    /// `pin_memory`
    PinMemory(bool),
}

/// How long the run would take with a setting changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// What would be changed, in PyTorch's words.
    pub change: Change,
    /// How long it would take, s.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub took: Nanos,
    /// How long the trainer would wait, s.
    #[serde(rename = "waited_seconds", serialize_with = "seconds")]
    pub waited: Nanos,
    /// Lower end of the 90 % interval, which `high` ends: for other samples of the same kind, s.
    #[serde(serialize_with = "seconds")]
    pub low: Nanos,
    /// And at most so long, s.
    #[serde(serialize_with = "seconds")]
    pub high: Nanos,
}

/// True if what is expected to take `took`, in nine of ten cases at most `high`, is worth trying where it takes `now`, in nine of ten
/// cases at most `high_now`: what it is expected to save is not small beside what more is uncertain of it.
pub fn is_likely_less((took, high): (Nanos, Nanos), (now, high_now): (Nanos, Nanos)) -> bool {
    /// The part of the uncertainty that a saving must reach.
    const PART: f64 = 0.5;
    let (saved, uncertain) = (now.0 - took.0, high.0 - took.0);
    high <= high_now || saved as f64 >= PART * uncertain as f64
}

/// What is forecast from a run: its own setting again, to see how far forecasts can be trusted, and others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prospects {
    /// What the run took, s.
    #[serde(rename = "recorded_seconds", serialize_with = "seconds")]
    pub recorded: Nanos,
    /// What is forecast for its own setting, s: the same, if the model is right.
    #[serde(rename = "refit_seconds", serialize_with = "seconds")]
    pub refit: Nanos,
    /// The upper end of the 90 % interval of that forecast, s.
    #[serde(serialize_with = "seconds")]
    pub refit_high: Nanos,
    /// How long the trainer waits in that forecast, s.
    #[serde(rename = "refit_waited_seconds", serialize_with = "seconds")]
    pub refit_waited: Nanos,
    /// One setting changed at a time, those that are nearest to the recorded one.
    pub changes: Vec<Forecast>,
    /// Of all numbers of workers and prefetch factors that were tried the one that takes least.
    pub best: Option<Forecast>,
    /// The one with the fewest workers, then the smallest prefetch factor, within 2 % of the best.
    pub cheapest: Option<Forecast>,
    /// Why other numbers of workers are not forecast, the beginning of a sentence; `None` if they are.
    pub workers_refused: Option<String>,
    /// Other numbers of workers are forecast for a stream that they divide among themselves, which is not known of it.
    pub is_divided: bool,
    /// How long training would take with a loader that never lets it wait, and with what is done between epochs, s.
    #[serde(rename = "headroom_seconds", serialize_with = "seconds")]
    pub headroom: Nanos,
    /// What is assumed because it was not measured: sentences for people.
    pub assumptions: Vec<String>,
}

fn seconds<S: Serializer>(time: &Nanos, s: S) -> Result<S::Ok, S::Error> {
    time.as_secs_f64().serialize(s)
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let python = |on: bool| if on { "True" } else { "False" };
        match *self {
            Self::NumWorkers(n) => write!(f, "num_workers={n}"),
            Self::PrefetchFactor(n) => write!(f, "prefetch_factor={n}"),
            Self::Window(n, factor) => write!(f, "num_workers={n}, prefetch_factor={factor}"),
            Self::InOrder(on) => write!(f, "in_order={}", python(on)),
            Self::PersistentWorkers(on) => write!(f, "persistent_workers={}", python(on)),
            Self::PinMemory(on) => write!(f, "pin_memory={}", python(on)),
            Self::Kept(n) => write!(f, "num_workers={n}, persistent_workers=True"),
        }
    }
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl Change {
    /// As the subject of a sentence.
    pub fn subject(self) -> String {
        match self {
            Self::Window(n, factor) => say!("num_workers={n} with prefetch_factor={factor}"),
            Self::Kept(n) => say!("num_workers={n} with persistent_workers=True"),
            other => other.to_string(),
        }
    }

    /// How much it asks for: settings changed, then workers added to `now`.
    fn effort(self, now: usize) -> (usize, usize) {
        match self {
            Self::NumWorkers(n) => (1, n.saturating_sub(now)),
            Self::Window(n, _) | Self::Kept(n) => (2, n.saturating_sub(now)),
            _ => (1, 0),
        }
    }
}

impl Prospects {
    /// A forecast of the recorded setting that is off by more than this share shows that the model does not fit the run, and
    /// then there is no forecast for other settings.
    pub const FITS: f64 = 0.1;
    /// A forecast of the recorded setting that is off by no more than this share shows that the model fits the run well.
    pub const WELL: f64 = 0.05;
    /// A forecast of the recorded setting that is off by less than this share is not reported.
    const OFF: f64 = 0.005;
    /// Less is within the error of a forecast.
    pub const WORTH: f64 = 0.02;

    /// By how much the forecast of the recorded setting is off, as a share of what the run took.
    pub fn error(&self) -> f64 {
        match self.recorded.0 {
            took if took > 0 => self.refit.0 as f64 / took as f64 - 1.0,
            _ => 0.0,
        }
    }

    /// True if the forecast of the recorded setting is not the recorded time.
    pub fn is_off(&self) -> bool {
        self.error().abs() >= Self::OFF
    }

    /// True if the forecasts can be believed.
    pub fn fits(&self) -> bool {
        self.error().abs() <= Self::FITS
    }

    /// The base of all percentages: the forecast for the recorded settings. A gain is not the error of that forecast.
    pub fn now(&self) -> Nanos {
        self.refit
    }

    /// Change of the time from [`Prospects::now`] to `took`, as a share of it; negative is better.
    pub fn change(&self, took: Nanos) -> f64 {
        took.0 as f64 / self.now().0.max(1) as f64 - 1.0
    }

    /// Warning about rough forecasts; `None` for exact and for unreliable ones.
    pub fn caveat(&self) -> Option<String> {
        (self.is_rough() && self.fits()).then(|| {
            say!(
                "The model is {} off for the recorded settings: treat the forecasts as estimates.",
                percent(self.error().abs())
            )
        })
    }

    /// True if they are rough: the forecast of the recorded setting is off by more than [`Prospects::WELL`].
    pub fn is_rough(&self) -> bool {
        self.error().abs() > Self::WELL
    }

    /// The changes that would bring more than [`Prospects::WORTH`], the best first. Of those that are equally good the one
    /// comes first that asks for least.
    pub fn better(&self) -> Vec<Forecast> {
        let now = self.now().0 as f64;
        let limit = (now * (1.0 - Self::WORTH)) as i64;
        let all = self.changes.iter().chain(&self.cheapest);
        let own = (Nanos(now as i64), self.refit_high);
        let is_better = |f: &&Forecast| f.took.0 < limit && is_likely_less((f.took, f.high), own);
        let mut better: Vec<Forecast> = all.filter(is_better).copied().collect();
        better.sort_by_key(|f| f.took);
        better.dedup_by_key(|f| f.change);
        better
    }

    /// The change to be made first: of the best ones the one that asks for least; `workers` is how many there are.
    pub fn first(&self, workers: usize) -> Option<Forecast> {
        self.first_of(workers, |_| true)
    }

    /// The same among the `wanted` changes.
    pub(super) fn first_of(
        &self,
        workers: usize,
        wanted: impl Fn(Change) -> bool,
    ) -> Option<Forecast> {
        let mut better = self.better();
        better.retain(|f| wanted(f.change));
        let as_good = better.first()?.took.0 as f64 * (1.0 + Self::WORTH);
        let best = better.into_iter().filter(|f| f.took.0 as f64 <= as_good);
        best.min_by_key(|f| (f.change.effort(workers), f.took))
    }

    /// What else is worth a word: the best of what asks for little, be it a worker more, which most would try.
    fn second(&self, first: &Forecast, workers: usize) -> Option<Forecast> {
        let is_little = |f: &&Forecast| match f.change {
            Change::NumWorkers(n) => n == workers.saturating_add(1),
            Change::Window(..) | Change::Kept(_) => false,
            _ => true,
        };
        let better = self.better();
        let mut others = better.iter().filter(|f| f.change != first.change);
        others.find(is_little).copied()
    }

    /// Forecasts that are known for `change`; for a prefetch factor without one those for other factors.
    pub fn known(&self, change: Change) -> impl Iterator<Item = &Forecast> {
        let all = || {
            let rest = self.best.iter().chain(&self.cheapest);
            self.changes.iter().chain(rest)
        };
        let is_exact = all().any(|f| f.change == change);
        let is_it = move |f: &&Forecast| match (f.change, change) {
            (Change::PrefetchFactor(_), Change::PrefetchFactor(_)) if !is_exact => true,
            (known, _) => known == change,
        };
        all().filter(is_it)
    }

    /// `Use num_workers=5: 2.40 s forecast (−23 %)`, the remedy of findings that this change is about.
    pub fn remedy(&self, of: &Forecast) -> String {
        let (forecast, condition) = (self.forecast_of(of), self.condition(of.change));
        say!("Use {forecast}{condition}")
    }

    /// `num_workers=5: 2.40 s forecast (−23 %)`
    pub fn forecast_of(&self, of: &Forecast) -> String {
        let gain = match self.change(of.took) {
            gain if gain < 0.0 => format!("−{}", percent(-gain)),
            loss => format!("+{}", percent(loss)),
        };
        let (change, took) = (of.change, of.took.beside(self.now()));
        say!("{change}: {took} forecast ({gain})")
    }

    /// The condition under which `change` helps, the end of a sentence; empty without one.
    pub fn condition(&self, change: Change) -> &'static str {
        match change {
            Change::NumWorkers(_) | Change::Window(..) | Change::Kept(_) if self.is_divided => {
                say!(", if each worker yields its own part of the dataset")
            }
            _ => "",
        }
    }

    /// What cannot be forecast, in a sentence.
    pub fn left_out(&self) -> Option<String> {
        let why = self.workers_refused.as_ref()?;
        Some(say!("Other numbers of workers cannot be forecast: {why}"))
    }

    /// `in_order=False would take 1.17 s, and num_workers=3 would take 1.45 s`. The run had `workers` workers. `say` formats times.
    pub fn sentence(&self, workers: usize, say: impl Fn(Nanos) -> String) -> String {
        if !self.fits() {
            let share = percent(self.error().abs());
            let difference = match self.error() < 0.0 {
                true => say!("{share} less"),
                false => say!("{share} more"),
            };
            return say!(
                "The forecasts are unreliable: the model predicts {} for the recorded settings, {difference} than the recorded {}",
                say(self.refit),
                say(self.recorded),
            );
        }
        let unknown = self.workers_refused.as_ref();
        let unknown = unknown.map(|why| say!("Other numbers of workers cannot be forecast: {why}"));
        let Some(first) = self.first(workers) else {
            let which = match unknown {
                Some(_) => say!("No setting with the same num_workers"),
                None => say!("No other setting"),
            };
            let text = say!(
                "{which} is more than {:.0}\u{2009}% faster (an ideal loader would take {})",
                Self::WORTH * 100.0,
                say(self.headroom),
            );
            return with(text, unknown);
        };
        let subject = first.change.subject();
        let took = say(first.took);
        let mut text = match self.is_rough() {
            true => say!("{subject} would take about {took}"),
            false => say!("{subject} would take {took}"),
        };
        if let Some(second) = self.second(&first, workers) {
            let subject = second.change.subject();
            let (took, same) = (say(second.took), say(first.took));
            text += &match took == same {
                true => say!(", and so would {subject}"),
                false => say!(", and {subject} would take {took}"),
            };
        }
        let all = [Some(first), self.second(&first, workers)];
        let mut conditions = all.into_iter().flatten().map(|f| self.condition(f.change));
        text += conditions.find(|text| !text.is_empty()).unwrap_or("");
        with(text, unknown)
    }
}

/// Appends one or more sentences to a sentence.
fn with(text: String, more: Option<String>) -> String {
    let Some(more) = more else {
        return text;
    };
    let more = more.trim_end_matches(['.', '。']);
    say!("{text}. {more}.")
}
