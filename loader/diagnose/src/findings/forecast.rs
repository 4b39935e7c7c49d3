//! Forecasts for other settings, as a verdict uses them, and their sentences. `loadscope-plan` computes them.

use std::fmt;

use loadscope_words::say;
use serde::{Serialize, Serializer};

use loadscope_trace::{Nanos, percent};

/// A changed setting of a `DataLoader`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Value of `num_workers`.
    NumWorkers(usize),
    /// Value of `prefetch_factor`.
    PrefetchFactor(usize),
    /// Values of `num_workers` and `prefetch_factor`.
    Window(usize, usize),
    /// Value of `in_order`.
    InOrder(bool),
    /// Value of `persistent_workers`.
    PersistentWorkers(bool),
    /// Value of `num_workers`, with `persistent_workers=True`.
    Kept(usize),
    /// Value of `pin_memory`.
    PinMemory(bool),
}

/// Forecast of the run's duration with a changed setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forecast {
    /// The changed setting. In JSON: PyTorch's arguments, such as `num_workers=4`.
    pub change: Change,
    /// Forecast duration. Seconds in JSON.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub took: Nanos,
    /// Forecast time that training waits. Seconds in JSON.
    #[serde(rename = "waited_seconds", serialize_with = "seconds")]
    pub waited: Nanos,
    /// Lower end of the 90 % interval of the duration. Seconds in JSON. The interval covers other samples of the same kind.
    #[serde(serialize_with = "seconds")]
    pub low: Nanos,
    /// Upper end of the 90 % interval of the duration. Seconds in JSON.
    #[serde(serialize_with = "seconds")]
    pub high: Nanos,
}

/// Returns true if a forecast is probably faster than the current setting, from their durations and the upper ends of their 90 % intervals.
/// Either its upper end is not above the current one, or the saved time is at least half of the distance from `took` to `high`.
pub fn is_likely_less((took, high): (Nanos, Nanos), (now, high_now): (Nanos, Nanos)) -> bool {
    /// Minimum ratio of saved time to uncertainty.
    const PART: f64 = 0.5;
    let (saved, uncertain) = (now.0 - took.0, high.0 - took.0);
    high <= high_now || saved as f64 >= PART * uncertain as f64
}

/// Forecast for a run in which a line of code takes no time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineForecast {
    /// File and line: `dataset.py:42`.
    pub line: String,
    /// Duration of the run. Seconds in JSON.
    #[serde(rename = "seconds", serialize_with = "seconds")]
    pub took: Nanos,
    /// Time that training waits. Seconds in JSON.
    #[serde(rename = "waited_seconds", serialize_with = "seconds")]
    pub waited: Nanos,
    /// Lower end of the 90 % interval of `took`. Seconds in JSON.
    #[serde(rename = "low_seconds", serialize_with = "seconds")]
    pub low: Nanos,
    /// Upper end of the 90 % interval of `took`. Seconds in JSON.
    #[serde(rename = "high_seconds", serialize_with = "seconds")]
    pub high: Nanos,
}

/// Forecasts for a run: for other settings, and for the recorded ones. The latter shows the error of the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ForecastSet {
    /// Recorded duration of the run. Seconds in JSON.
    #[serde(rename = "recorded_seconds", serialize_with = "seconds")]
    pub recorded: Nanos,
    /// Forecast duration of a run with the recorded settings and without recording. Seconds in JSON. With `recording`, an exact model gives
    /// the recorded duration.
    #[serde(rename = "refit_seconds", serialize_with = "seconds")]
    pub refit: Nanos,
    /// Time that recording adds to the recorded run, as simulated. Seconds in JSON.
    #[serde(rename = "recording_seconds", serialize_with = "seconds")]
    pub recording: Nanos,
    /// Upper end of the 90 % interval of `refit`. Seconds in JSON.
    #[serde(serialize_with = "seconds")]
    pub refit_high: Nanos,
    /// Time that training waits in the forecast for the recorded settings. Seconds in JSON.
    #[serde(rename = "refit_waited_seconds", serialize_with = "seconds")]
    pub refit_waited: Nanos,
    /// Forecasts with one changed setting each: the nearest values, and the `num_workers` of `cheapest`.
    pub changes: Vec<Forecast>,
    /// The fastest of all forecast combinations of `num_workers`, `prefetch_factor` and `persistent_workers`. `None` without such
    /// forecasts.
    pub best: Option<Forecast>,
    /// The combination with the fewest workers, then the smallest prefetch factor, within 2 % of `best`. `None` without forecasts.
    pub cheapest: Option<Forecast>,
    /// Forecast for the case that the hottest line of fetching takes no time. `None` without sampled stacks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_line: Option<LineForecast>,
    /// Reason why other values of `num_workers` have no forecast, as the start of a sentence. `None` if they have one.
    pub workers_refused: Option<String>,
    /// True if the forecasts assume that workers divide the stream of an iterable dataset, which the recording does not show.
    pub is_divided: bool,
    /// Duration with an ideal loader that never delays training. Seconds in JSON. It includes the time between epochs.
    #[serde(rename = "headroom_seconds", serialize_with = "seconds")]
    pub headroom: Nanos,
    /// Assumptions that replace missing measurements, as sentences for the user.
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
    /// Returns the change as the subject of a sentence: `num_workers=4 with prefetch_factor=2`.
    pub fn subject(self) -> String {
        match self {
            Self::Window(n, factor) => say!("num_workers={n} with prefetch_factor={factor}"),
            Self::Kept(n) => say!("num_workers={n} with persistent_workers=True"),
            other => other.to_string(),
        }
    }

    /// Returns the effort of the change: the number of changed settings, then the number of workers above the recorded number.
    fn effort(self, recorded: usize) -> (usize, usize) {
        match self {
            Self::NumWorkers(n) => (1, n.saturating_sub(recorded)),
            Self::Window(n, _) | Self::Kept(n) => (2, n.saturating_sub(recorded)),
            _ => (1, 0),
        }
    }
}

impl ForecastSet {
    /// Maximum error of a model that fits the run, as a share of the recorded duration: 10 %. Above, all forecasts are unreliable.
    pub const MAX_ERROR: f64 = 0.1;
    /// Maximum error of a model that fits the run well: 5 %. Above, the forecasts are estimates.
    pub const MAX_PRECISE_ERROR: f64 = 0.05;
    /// Minimum difference that Loadscope reports: 0.5 %.
    const MIN_REPORTED_ERROR: f64 = 0.005;
    /// Minimum gain of a change, as a share: 2 %. Smaller gains are within the error of a forecast.
    pub const MIN_GAIN: f64 = 0.02;

    /// Returns the error of the forecast for the recorded settings, as a share of the recorded duration. It is negative if the forecast is
    /// too short, and 0 if no duration was recorded.
    pub fn error(&self) -> f64 {
        match self.recorded.0 {
            took if took > 0 => self.recorded_refit().0 as f64 / took as f64 - 1.0,
            _ => 0.0,
        }
    }

    /// Returns the forecast for the recorded run, including the time that recording adds.
    pub fn recorded_refit(&self) -> Nanos {
        Nanos(self.refit.0.saturating_add(self.recording.0))
    }

    /// Returns true if the forecast for the recorded settings differs by at least 0.5 % from the recorded duration.
    pub fn differs_from_recorded(&self) -> bool {
        let apart = (self.refit - self.recorded).0.unsigned_abs() as f64;
        apart >= Self::MIN_REPORTED_ERROR * self.recorded.0.max(1) as f64
    }

    /// Returns true if the forecasts are reliable: the error is at most [`ForecastSet::MAX_ERROR`].
    pub fn fits(&self) -> bool {
        self.error().abs() <= Self::MAX_ERROR
    }

    /// Returns the forecast for the recorded settings, the base of all percentages. With this base, a gain does not include the model's
    /// error.
    pub fn now(&self) -> Nanos {
        self.refit
    }

    /// Returns the change from [`ForecastSet::now`] to `took`, as a share of [`ForecastSet::now`]. Negative is faster.
    pub fn change(&self, took: Nanos) -> f64 {
        took.0 as f64 / self.now().0.max(1) as f64 - 1.0
    }

    /// Returns a warning that the forecasts are estimates. Returns `None` for exact and for unreliable forecasts.
    pub fn caveat(&self) -> Option<String> {
        (self.is_rough() && self.fits()).then(|| {
            say!(
                "The model is {} off for the recorded settings: treat the forecasts as estimates.",
                percent(self.error().abs())
            )
        })
    }

    /// Returns true if the forecasts are only estimates: the error is above [`ForecastSet::MAX_PRECISE_ERROR`].
    pub fn is_rough(&self) -> bool {
        self.error().abs() > Self::MAX_PRECISE_ERROR
    }

    /// Returns the changes that are faster by more than [`ForecastSet::MIN_GAIN`], fastest first. Uncertain gains are omitted, see
    /// [`is_likely_less`].
    pub fn better(&self) -> Vec<Forecast> {
        let now = self.now().0 as f64;
        let limit = (now * (1.0 - Self::MIN_GAIN)) as i64;
        let all = self.changes.iter().chain(&self.cheapest);
        let current = (Nanos(now as i64), self.refit_high);
        let is_better =
            |f: &&Forecast| f.took.0 < limit && is_likely_less((f.took, f.high), current);
        let mut better: Vec<Forecast> = all.filter(is_better).copied().collect();
        better.sort_by_key(|f| f.took);
        better.dedup_by_key(|f| f.change);
        better
    }

    /// Returns the recommended change: the smallest effort among the changes within 2 % of the fastest. `workers` is the recorded number.
    /// Returns `None` if no change is faster.
    pub fn recommended(&self, workers: usize) -> Option<Forecast> {
        self.recommended_among(workers, |_| true)
    }

    /// Returns the recommended change among the `wanted` changes. See [`ForecastSet::recommended`].
    pub(super) fn recommended_among(
        &self,
        workers: usize,
        wanted: impl Fn(Change) -> bool,
    ) -> Option<Forecast> {
        let mut better = self.better();
        better.retain(|f| wanted(f.change));
        let as_good = better.first()?.took.0 as f64 * (1.0 + Self::MIN_GAIN);
        let best = better.into_iter().filter(|f| f.took.0 as f64 <= as_good);
        best.min_by_key(|f| (f.change.effort(workers), f.took))
    }

    /// Returns the fastest alternative to `first` that changes one setting. For `num_workers`, it may add one worker only. Returns `None`
    /// without one.
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

    /// Returns the forecasts for `change`. For a `prefetch_factor` without a forecast, it returns those for other factors.
    pub fn forecasts_for(&self, change: Change) -> impl Iterator<Item = &Forecast> {
        let all = || {
            let rest = self.best.iter().chain(&self.cheapest);
            self.changes.iter().chain(rest)
        };
        let is_exact = all().any(|f| f.change == change);
        let matches_change = move |f: &&Forecast| match (f.change, change) {
            (Change::PrefetchFactor(_), Change::PrefetchFactor(_)) if !is_exact => true,
            (known, _) => known == change,
        };
        all().filter(matches_change)
    }

    /// Returns the remedy of a finding from its forecast, as in `Use num_workers=5: 2.40 s forecast (−23 %)`.
    pub fn remedy(&self, of: &Forecast) -> String {
        let (forecast, condition) = (self.forecast_of(of), self.condition(of.change));
        say!("Use {forecast}{condition}")
    }

    /// Returns a change with its forecast, as in `num_workers=5: 2.40 s forecast (−23 %)`.
    pub fn forecast_of(&self, of: &Forecast) -> String {
        let gain = match self.change(of.took) {
            gain if gain < 0.0 => format!("−{}", percent(-gain)),
            loss => format!("+{}", percent(loss)),
        };
        let (change, took) = (of.change, of.took.format_in_unit_of(self.now()));
        say!("{change}: {took} forecast ({gain})")
    }

    /// Returns the condition under which `change` helps, as the end of a sentence. Empty without a condition.
    pub fn condition(&self, change: Change) -> &'static str {
        match change {
            Change::NumWorkers(_) | Change::Window(..) | Change::Kept(_) if self.is_divided => {
                say!(", if each worker yields its own part of the dataset")
            }
            _ => "",
        }
    }

    /// Returns a sentence with the reason why other values of `num_workers` have no forecast. Returns `None` if they have one.
    pub fn describe_unforecast_workers(&self) -> Option<String> {
        let why = self.workers_refused.as_ref()?;
        Some(say!("Other numbers of workers cannot be forecast: {why}"))
    }

    /// Returns a summary of the forecasts, as in `in_order=False would take 1.17 s, and num_workers=3 would take 1.45 s`. `workers` is the
    /// recorded number. `say` formats times.
    pub fn sentence(&self, workers: usize, say: impl Fn(Nanos) -> String) -> String {
        if !self.fits() {
            let share = percent(self.error().abs());
            let difference = match self.error() < 0.0 {
                true => say!("{share} less"),
                false => say!("{share} more"),
            };
            return say!(
                "The forecasts are unreliable: the model predicts {} for the recorded settings, {difference} than the recorded {}",
                say(self.recorded_refit()),
                say(self.recorded),
            );
        }
        let unknown = self.workers_refused.as_ref();
        let unknown = unknown.map(|why| say!("Other numbers of workers cannot be forecast: {why}"));
        let Some(first) = self.recommended(workers) else {
            let which = match unknown {
                Some(_) => say!("No setting with the same num_workers"),
                None => say!("No other setting"),
            };
            let text = say!(
                "{which} is more than {:.0}\u{2009}% faster (an ideal loader would take {})",
                Self::MIN_GAIN * 100.0,
                say(self.headroom),
            );
            return append(text, unknown);
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
        append(text, unknown)
    }
}

fn append(text: String, more: Option<String>) -> String {
    let Some(more) = more else {
        return text;
    };
    let more = more.trim_end_matches(['.', '。']);
    say!("{text}. {more}.")
}
