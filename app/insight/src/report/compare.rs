//! Comparison of two recordings: changes with bootstrap confidence intervals.

use std::fmt::Write as _;

use loadscope_diagnose::{Cause, FindingId, Severity, Survey};
use loadscope_trace::{Activity, Lane, Nanos, Run};
use loadscope_words::{display_width, pad_end, say};
use serde_json::{Map, Value, json};

use super::{Report, phases};
use crate::Datasets;
use distribution::quantiles;
use measure::measures;
use paired::Noise;
use pieces::{CONFIDENCE, epochs_of, piece, summed, yield_the_same};

pub mod differ;
mod distribution;
mod measure;
mod paired;
mod pieces;
pub mod rules;

pub use distribution::Quantile;
pub(crate) use measure::change_of;
pub use measure::{Measure, change, shown};
pub(crate) use pieces::Drawn;
pub use pieces::Outcome;

/// Minimum width of the column of names, characters.
const NAMES: usize = 24;

/// Two runs and their differences.
pub struct Comparison<'a> {
    /// Report of the first run.
    pub a: Report<'a>,
    /// Report of the second run.
    pub b: Report<'a>,
    /// Number of compared epochs: the epochs that both runs have, from the first.
    pub epochs: usize,
    /// Measures of both runs. Empty if one run has no batches.
    pub measures: Vec<Measure>,
    /// Quantiles of the batch times of both runs.
    pub distributions: Vec<Quantile>,
}

impl<'a> Comparison<'a> {
    /// Compares two runs, each with a flag that is true if its file is truncated.
    pub fn of(a: (&'a Run, bool), b: (&'a Run, bool), datasets: Datasets) -> Self {
        let epochs = a.0.epochs().len().min(b.0.epochs().len());
        let piece = piece(a.0, epochs).max(piece(b.0, epochs));
        let (of_a, of_b) = (epochs_of(a.0, epochs, piece), epochs_of(b.0, epochs, piece));
        let times = |of: &[Vec<Vec<Drawn>>], time: fn(&Drawn) -> f64| -> Vec<Vec<f64>> {
            let pieces = of.iter().flatten();
            pieces.map(|p| p.iter().map(time).collect()).collect()
        };
        let quantiles_of = |id, time| quantiles(id, &times(&of_a, time), &times(&of_b, time));
        let mut distributions = quantiles_of("wait_seconds", |d| d.waited * 1e-9);
        distributions.extend(quantiles_of("work_seconds", |d| d.work * 1e-9));
        let is_paired = yield_the_same(a.0, b.0, epochs);
        let noise = is_paired.then(|| Noise::between(&of_a, &of_b));
        let measures = measures(&summed(&of_a), &summed(&of_b), noise);
        Self {
            distributions,
            a: Report::of(a.0, a.1, datasets),
            b: Report::of(b.0, b.1, datasets),
            epochs,
            measures,
        }
    }

    /// Returns the significance of the change in throughput.
    pub fn outcome(&self) -> Outcome {
        let first = self.measures.first();
        first.map_or(Outcome::Unclear, |m| m.outcome)
    }

    /// Describes the changes in throughput and waits, with the names A and B.
    pub fn sentence(&self) -> String {
        self.sentence_of("A", "B")
    }

    /// Returns the text of [`Comparison::sentence`] with the names `a` and `b`.
    pub fn sentence_of(&self, a: &str, b: &str) -> String {
        let describe = |m: &Measure| format!("{} {}", shown(m).0, change(m));
        let waits = self.waits(b);
        if let (Outcome::Unclear, Some(m), Some(waits)) =
            (self.outcome(), self.measures.first(), &waits)
        {
            return say!(
                "{waits}. Throughput: no statistically significant change, {}.",
                change(m)
            );
        }
        let rate = self.rate(a, b, describe);
        match waits {
            Some(waits) => say!("{rate}. {waits}."),
            None => rate,
        }
    }

    /// Describes the change in throughput. `describe` formats a measure with its change.
    fn rate(&self, a: &str, b: &str, describe: impl Fn(&Measure) -> String) -> String {
        let both = self
            .times()
            .map(|(of_a, of_b)| say!("{b} took {of_b}, {a} {of_a}"));
        match (self.outcome(), self.measures.first()) {
            (Outcome::Improved, Some(m)) => say!("{b} is faster: {}", describe(m)),
            (Outcome::Worse, Some(m)) => say!("{b} is slower: {}", describe(m)),
            (_, Some(m)) => match (both, m.low) {
                (Some(both), Some(_)) => say!(
                    "{both}, but batch times vary too much for this to be significant: {}",
                    describe(m)
                ),
                (Some(both), None) => {
                    say!(
                        "{both}, but there are too few batches to tell whether this is significant"
                    )
                }
                (None, Some(_)) => say!("No statistically significant change: {}", describe(m)),
                (None, None) => say!("Too few batches to compare").to_owned(),
            },
            _ => say!("Too few batches to compare").to_owned(),
        }
    }

    /// Returns the change in waits, as in `B waits longer: 89 % instead of 55 % of the time, +34 points (+2 to +71)`.
    ///
    /// Returns `None` if the change is not significant.
    fn waits(&self, b: &str) -> Option<String> {
        let m = self.measures.iter().find(|m| m.id == "wait_share")?;
        let (_, of_a, of_b) = shown(m);
        let change = change(m);
        match m.outcome {
            Outcome::Improved => Some(say!(
                "{b} waits less: {of_b} instead of {of_a} of the time, {change}"
            )),
            Outcome::Worse => Some(say!(
                "{b} waits longer: {of_b} instead of {of_a} of the time, {change}"
            )),
            Outcome::Unclear => None,
        }
    }

    /// Returns one line with the options that differ.
    pub fn options(&self) -> String {
        differ::line(&self.a.survey.run.info, &self.b.survey.run.info)
    }

    /// Returns one warning for each difference in dataset or batch size.
    pub fn warnings(&self) -> Vec<String> {
        differ::warnings(&self.a.survey.run.info, &self.b.survey.run.info)
    }

    /// Returns the durations of both runs.
    ///
    /// Returns `None` if they differ in epochs or samples, or by at most 5 % in duration.
    fn times(&self) -> Option<(Nanos, Nanos)> {
        const NOTICEABLE: f64 = 0.05;
        let [a, b] = [&self.a.summary, &self.b.summary];
        let are_equal = (a.epochs, a.samples) == (b.epochs, b.samples);
        let differ = (a.seconds - b.seconds).abs() > NOTICEABLE * a.seconds.max(b.seconds);
        let time = Nanos::from_secs_f64;
        (are_equal && differ).then(|| (time(a.seconds), time(b.seconds)))
    }

    /// Returns the findings of the first run only and of the second run only. Notes are excluded.
    pub fn findings(&self) -> (Vec<FindingId>, Vec<FindingId>) {
        let ids = |r: &Report| -> Vec<FindingId> {
            let weighty = r.diagnosis.findings.iter();
            weighty
                .filter(|f| f.severity > Severity::Note)
                .map(|f| f.id)
                .collect()
        };
        let (a, b) = (ids(&self.a), ids(&self.b));
        let without = |of: &[FindingId], other: &[FindingId]| {
            let left = of.iter().filter(|id| !other.contains(id));
            left.copied().collect()
        };
        (without(&a, &b), without(&b, &a))
    }

    /// Returns the comparison as a JSON object.
    pub fn json(&self) -> Value {
        let (gone, new) = self.findings();
        let blame = |r: &Report| -> Map<String, Value> {
            let causes = Cause::ALL.into_iter();
            let time = |c| r.survey.blame.time_of(c).map(Nanos::as_secs_f64);
            causes
                .map(|c| (c.id().to_owned(), json!(time(c))))
                .collect()
        };
        let about = |r: &Report| match &r.loader {
            Some(loader) => loader.json().0,
            None => Value::Null,
        };
        json!({
            "loaders": [about(&self.a), about(&self.b)],
            "outcome": self.outcome(),
            "options_that_differ": differ::between(&self.a.survey.run.info, &self.b.survey.run.info)
                .into_iter()
                .map(|d| json!({ "name": d.name, "a": d.a, "b": d.b }))
                .collect::<Vec<_>>(),
            "epochs": self.epochs,
            "confidence": CONFIDENCE,
            "measures": self.measures,
            "distributions": self.distributions,
            "run_seconds": [self.a.survey.total().as_secs_f64(), self.b.survey.total().as_secs_f64()],
            "waited_seconds":
                [self.a.survey.blame.waited.as_secs_f64(), self.b.survey.blame.waited.as_secs_f64()],
            "blame": [blame(&self.a), blame(&self.b)],
            "step_phases": [self.a.phases_json(), self.b.phases_json()],
            "findings_gone": gone,
            "findings_new": new,
            "verdicts": [self.a.diagnosis.verdict.text(), self.b.diagnosis.verdict.text()],
        })
    }

    /// Returns the comparison as text for a terminal.
    pub fn text(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out.trim_end().to_owned()
    }

    /// Writes the comparison: warnings, the change in throughput, measures, causes and findings.
    fn write(&self, out: &mut String) -> std::fmt::Result {
        let warnings = self.warnings();
        for warning in &warnings {
            writeln!(out, "{warning}")?;
        }
        if !warnings.is_empty() {
            writeln!(out)?;
        }
        writeln!(out, "{}\n", self.sentence())?;
        for (name, report) in [("A", &self.a), ("B", &self.b)] {
            writeln!(out, "{name}  {}", report.diagnosis.verdict.text())?;
            if let Some(loader) = &report.loader {
                writeln!(out, "   {}", loader.sentence())?;
            }
        }
        writeln!(out, "   {}\n", self.options())?;
        let names = self.distributions.iter().map(Quantile::label);
        let wide = names
            .map(|name| display_width(&name))
            .max()
            .unwrap_or_default();
        let wide = wide.max(NAMES);
        let empty = pad_end("", wide);
        writeln!(
            out,
            "{empty}{:>12}{:>12}  {}",
            "A",
            "B",
            say!("change (95\u{2009}% interval)")
        )?;
        for m in &self.measures {
            let (name, a, b) = shown(m);
            writeln!(out, "{}{a:>12}{b:>12}  {}", pad_end(name, wide), change(m))?;
        }
        let of = |q: &Quantile| q.a.max(q.b);
        let longest = self.distributions.iter().map(of).fold(0.0, f64::max);
        for q in &self.distributions {
            let time = |s: f64| beside(Nanos::from_secs_f64(s), Nanos::from_secs_f64(longest));
            writeln!(
                out,
                "{}{:>12}{:>12}  {}",
                pad_end(&q.label(), wide),
                time(q.a),
                time(q.b),
                q.change()
            )?;
        }
        let (a, b) = (&self.a.survey, &self.b.survey);
        let longest = a.total().max(b.total());
        writeln!(
            out,
            "{}",
            say!("\nShare of time waiting, from left to right, on the same time axis")
        )?;
        for (name, survey) in [("A", a), ("B", b)] {
            writeln!(out, "{name}  {}", strip(survey, longest))?;
        }
        self.write_causes(out, wide, longest)?;
        self.write_phases(out, wide)?;
        let (gone, new) = self.findings();
        for (word, ids) in [
            (say!("Resolved findings"), gone),
            (say!("New findings"), new),
        ] {
            if !ids.is_empty() {
                let titles: Vec<&str> = ids.into_iter().map(FindingId::title).collect();
                writeln!(out, "{}", say!("\n{word}: {}", titles.join(say!(", "))))?;
            }
        }
        if self.a.survey.run.epochs().len() != self.b.survey.run.epochs().len() {
            writeln!(
                out,
                "{}",
                say!(
                    "\nOnly the first {} epochs were compared, because one run is shorter",
                    self.epochs
                )
            )?;
        }
        Ok(())
    }

    /// Writes the waits of both runs by cause. Names are padded to `wide` characters, and times have the unit of `longest`.
    fn write_causes(&self, out: &mut String, wide: usize, longest: Nanos) -> std::fmt::Result {
        let (a, b) = (&self.a.survey, &self.b.survey);
        writeln!(out, "{}", say!("\nWaits by cause"))?;
        for cause in Cause::ALL {
            let (x, y) = (a.blame.time_of(cause), b.blame.time_of(cause));
            if x.unwrap_or_default().0 <= 0 && y.unwrap_or_default().0 <= 0 {
                continue;
            }
            let say = |t: Option<Nanos>| t.map_or("—".to_owned(), |t| beside(t, longest));
            writeln!(
                out,
                "{}{:>12}{:>12}",
                pad_end(cause.label(), wide),
                say(x),
                say(y)
            )?;
        }
        Ok(())
    }

    /// Writes the mean time per training step of each phase, if both runs have phases.
    fn write_phases(&self, out: &mut String, wide: usize) -> std::fmt::Result {
        let (Some(a), Some(b)) = (&self.a.phases, &self.b.phases) else {
            return Ok(());
        };
        let longest = self.a.survey.step.max(self.b.survey.step);
        let a = phases::all(a, &self.a.survey);
        let b = phases::all(b, &self.b.survey);
        writeln!(out, "{}", say!("\nTraining step, mean time"))?;
        for (a, b) in a.zip(b).filter(|(a, b)| a.time.max(b.time).0 > 0) {
            let name = pad_end(a.phase.label(), wide);
            let (a, b) = (beside(a.time, longest), beside(b.time, longest));
            writeln!(out, "{name}{a:>12}{b:>12}")?;
        }
        Ok(())
    }
}

/// Formats a time in the unit of `longest`. Zero has no unit.
fn beside(time: Nanos, longest: Nanos) -> String {
    match time {
        Nanos(0) => "0".to_owned(),
        time => time.format_in_unit_of(longest),
    }
}

/// Length of the longer run, characters.
const PARTS: i64 = 64;
/// Characters by share of time waiting, from 0 % to 100 %.
const LEVELS: [char; 9] = ['·', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns one character for each 1/`PARTS` of `longest` that `run` covers.
pub fn strip(run: &Survey, longest: Nanos) -> String {
    let at = |k: i64| {
        let offset = i128::from(longest.0) * i128::from(k) / i128::from(PARTS);
        run.start + Nanos(i64::try_from(offset).unwrap_or(i64::MAX))
    };
    let parts = (0..PARTS).map(|k| (at(k), at(k + 1).min(run.end)));
    let parts = parts.take_while(|(from, to)| from < to);
    let level = |(from, to): (Nanos, Nanos)| {
        let waited = run
            .run
            .spent(Lane::Trainer, from, to)
            .time_in(Activity::Waiting);
        let share = waited.0 as f64 / (to - from).0 as f64;
        let top = (LEVELS.len() - 1) as f64;
        // The level is rounded up, so that a short wait is visible.
        let level = (share * top).ceil().clamp(0.0, top);
        LEVELS[level as usize]
    };
    parts.map(level).collect()
}

#[cfg(test)]
mod tests;
