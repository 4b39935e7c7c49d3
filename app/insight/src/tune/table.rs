//! Comparison of all runs.

use loadscope_trace::{Overrides, RunOptions, SourceLine};

use super::{Expected, Measured};

/// Minimum relative difference of a significant change, even without noise.
const MIN_DIFFERENCE: f64 = 0.02;
/// Minimum ratio of a significant change to the noise, which is the spread of unchanged runs.
const NOISE_FACTOR: f64 = 2.0;
/// Maximum relative difference between equally fast settings, if the noise is not larger.
const EQUALLY_FAST: f64 = 0.02;

/// Purpose of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The unchanged program, the basis of the forecasts.
    First,
    /// The unchanged program again, to measure the noise.
    Repeat,
    /// The program with other arguments.
    Try,
}

/// One run of the program.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Purpose of the run: the basis, a repetition, or a trial.
    pub kind: Kind,
    /// Changed arguments.
    pub overrides: Overrides,
    /// Forecast of the time per batch. `None` without one.
    pub expected: Option<Expected>,
    /// Options of the loader. `None` if the loader was not recorded.
    pub options: Option<RunOptions>,
    /// Measured times. Without them, the start of a sentence with the reason.
    pub measured: Result<Measured, String>,
    /// Name of the recording in the folder.
    pub recording: String,
}

/// Result of a trial compared with the unchanged program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Significantly faster.
    Faster,
    /// Significantly slower.
    Slower,
    /// The difference can be noise.
    WithinNoise,
}

impl Outcome {
    /// Returns the name for scripts.
    pub fn id(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::WithinNoise => "within_noise",
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// Run of the program with this setting.
    pub tried: Tried,
    /// Relative change of the time per batch from the unchanged program. `None` for the unchanged program.
    pub change: Option<f64>,
    /// The 95 % confidence interval of the change.
    pub interval: Option<(f64, f64)>,
    /// Result of a trial.
    pub outcome: Option<Outcome>,
}

/// All runs of a program, in order of execution.
#[derive(Clone, Debug)]
pub struct Table {
    /// Name of the loader.
    pub loader: String,
    /// Place where the program creates the loader.
    pub made_at: Option<SourceLine>,
    /// Number of compared batches.
    pub batches: usize,
    /// Rows of the table.
    pub rows: Vec<Row>,
    /// Largest relative difference between runs of the unchanged program. `None` if there is only one.
    pub noise: Option<f64>,
    /// Notes, as complete sentences.
    pub notes: Vec<String>,
}

impl Table {
    /// Compares the runs.
    pub fn of(
        loader: String,
        made_at: Option<SourceLine>,
        runs: Vec<Tried>,
        notes: Vec<String>,
    ) -> Self {
        let own: Vec<Measured> = runs
            .iter()
            .filter(|tried| tried.kind != Kind::Try)
            .filter_map(|tried| tried.measured.clone().ok())
            .collect();
        let noise = spread(&own);
        let measured = runs.iter().filter_map(|tried| tried.measured.as_ref().ok());
        let batches = measured.map(|m| m.batches).min().unwrap_or_default();
        let rows = runs.into_iter().map(|tried| row(tried, &own, noise));
        Self {
            loader,
            made_at,
            batches,
            rows: rows.collect(),
            noise,
            notes,
        }
    }

    /// Returns the mean time per batch of the unchanged program, s.
    pub fn own(&self) -> Option<f64> {
        let own = self.rows.iter().filter(|row| row.tried.kind != Kind::Try);
        let times = own.filter_map(|row| Some(row.tried.measured.as_ref().ok()?.per_batch));
        mean(times)
    }

    /// Returns the recommended trial. It is significantly faster and about as fast as the fastest trial. Among several, it has the fewest
    /// workers, then the smallest prefetch factor.
    pub fn recommended(&self) -> Option<&Row> {
        let limit =
            time(self.fastest()?) * (1.0 + self.noise.unwrap_or_default().max(EQUALLY_FAST));
        let cost = |row: &&Row| {
            let options = row.tried.options.as_ref();
            let asks = row.tried.overrides.arguments().len();
            options.map_or((usize::MAX, usize::MAX, asks), |o| {
                (o.num_workers, o.prefetch(), asks)
            })
        };
        self.faster()
            .filter(|row| time(row) <= limit)
            .min_by_key(cost)
    }

    /// Returns the fastest of the significantly faster trials.
    pub fn fastest(&self) -> Option<&Row> {
        self.faster().min_by(|a, b| time(a).total_cmp(&time(b)))
    }

    fn faster(&self) -> impl Iterator<Item = &Row> {
        let rows = self.rows.iter();
        rows.filter(|row| row.outcome == Some(Outcome::Faster))
    }
}

/// Returns the time per batch, s.
fn time(row: &Row) -> f64 {
    let measured = row.tried.measured.as_ref();
    measured.map_or(f64::MAX, |m| m.per_batch)
}

fn row(tried: Tried, own: &[Measured], noise: Option<f64>) -> Row {
    let own: Vec<&Measured> = own.iter().collect();
    let measured = tried.measured.as_ref().ok();
    let change = measured.filter(|_| tried.kind == Kind::Try && !own.is_empty());
    let change = change.and_then(|measured| measured.change_from(&own));
    let interval = change.and_then(|(_, interval)| interval);
    Row {
        outcome: change.map(|(change, _)| outcome(change, interval, noise)),
        change: change.map(|(change, _)| change),
        interval,
        tried,
    }
}

/// Returns faster or slower only if the interval excludes zero and the change exceeds the noise between runs.
/// The interval cannot show effects on a whole run, such as another program or a warm cache.
fn outcome(change: f64, interval: Option<(f64, f64)>, noise: Option<f64>) -> Outcome {
    let min = (noise.unwrap_or_default() * NOISE_FACTOR).max(MIN_DIFFERENCE);
    match interval {
        Some((_, high)) if high < 0.0 && change < -min => Outcome::Faster,
        Some((low, _)) if low > 0.0 && change > min => Outcome::Slower,
        _ => Outcome::WithinNoise,
    }
}

/// Returns the largest difference between runs, relative to their mean.
fn spread(own: &[Measured]) -> Option<f64> {
    let times = || own.iter().map(|m| m.per_batch);
    let least = times().min_by(f64::total_cmp)?;
    let most = times().max_by(f64::total_cmp)?;
    let mean = mean(times()).filter(|mean| *mean > 0.0)?;
    (own.len() > 1).then_some((most - least) / mean)
}

fn mean(times: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = times.fold((0.0, 0u32), |(sum, count), time| (sum + time, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated;

    /// Returns a run with this number of workers. All times are multiplied by `slower`, as on a busy host.
    fn tried(kind: Kind, workers: usize, slower: f64) -> Tried {
        let options = RunOptions {
            dataset: format!("synthetic:len=600,cost_ms={},jitter=0.1", 10.0 * slower),
            batch_size: Some(10),
            num_workers: workers,
            step_ms: 20.0 * slower,
            ..RunOptions::default()
        };
        let run = simulated(&options);
        Tried {
            kind,
            overrides: Overrides {
                num_workers: (kind == Kind::Try).then_some(workers),
                ..Overrides::default()
            },
            expected: None,
            options: Some(options),
            measured: Ok(Measured::of(&run, 60).expect("batches")),
            recording: String::new(),
        }
    }

    fn table(runs: Vec<Tried>) -> Table {
        Table::of("train".to_owned(), None, runs, Vec::new())
    }

    #[test]
    fn a_fast_setting_with_few_workers_is_recommended() {
        let table = table(vec![
            tried(Kind::First, 1, 1.0),
            tried(Kind::Try, 2, 1.0),
            tried(Kind::Try, 6, 1.0),
            tried(Kind::Try, 8, 1.0),
            tried(Kind::Repeat, 1, 1.01),
        ]);
        let noise = table.noise.expect("there was a repeat");
        assert!((0.005..0.02).contains(&noise), "{noise}");
        let outcomes = table.rows.iter().map(|row| row.outcome);
        let faster = Some(Outcome::Faster);
        assert_eq!(
            outcomes.collect::<Vec<_>>(),
            [None, faster, faster, faster, None]
        );
        let best = table.recommended().expect("it is faster");
        assert_eq!(best.tried.overrides.num_workers, Some(6));
        assert!(best.change.expect("a change") < -0.5);
        assert_eq!(table.batches, 60);
        // The text must explain why a faster row is not the best one.
        let time = |row: &Row| row.tried.measured.as_ref().map(|m| m.per_batch).ok();
        let rows = table.rows.iter();
        let fastest = rows.filter_map(time).min_by(f64::total_cmp);
        let why = table.why_not_fastest();
        assert_eq!(why.is_some(), time(best) > fastest, "{why:?}");
        assert!(
            table
                .text("tune")
                .contains(why.as_deref().unwrap_or("Best"))
        );
    }

    /// Regression test: "Best: 48.8 ms (-52 %)" was above a row with 45.6 ms (-55 %), without a reason.
    #[test]
    fn a_faster_row_than_the_recommended_one_is_explained() {
        let table = table(vec![
            tried(Kind::First, 1, 1.0),
            tried(Kind::Try, 6, 1.0),
            tried(Kind::Try, 8, 0.99),
            tried(Kind::Repeat, 1, 1.06),
        ]);
        let best = table.recommended().expect("it is faster");
        assert_eq!(best.tried.overrides.num_workers, Some(6));
        let fastest = table.fastest().expect("it is faster");
        assert_eq!(fastest.tried.overrides.num_workers, Some(8));
        let why = table.why_not_fastest().expect("a reason");
        assert!(why.contains("num_workers=8"), "{why}");
        assert!(!why.contains("num_workers=6"), "{why}");
        let text = table.text("tune");
        assert!(text.contains(&why), "{text}");
    }

    #[test]
    fn a_change_within_the_noise_is_no_difference() {
        // The host becomes slower over time. Without the repeat, the trial would look worse.
        let table = table(vec![
            tried(Kind::First, 4, 1.0),
            tried(Kind::Try, 5, 1.06),
            tried(Kind::Repeat, 4, 1.1),
        ]);
        assert_eq!(
            table.rows[1].outcome,
            Some(Outcome::WithinNoise),
            "{table:#?}"
        );
        assert!(table.recommended().is_none());
    }

    #[test]
    fn a_slow_setting_is_slower_and_a_failed_one_has_no_outcome() {
        let mut failed = tried(Kind::Try, 8, 1.0);
        failed.measured = Err("it failed".to_owned());
        let table = table(vec![
            tried(Kind::First, 4, 1.0),
            tried(Kind::Try, 0, 1.0),
            failed,
            tried(Kind::Repeat, 4, 1.0),
        ]);
        assert_eq!(table.rows[1].outcome, Some(Outcome::Slower));
        assert_eq!(table.rows[2].outcome, None);
        assert!(table.recommended().is_none());
    }
}
