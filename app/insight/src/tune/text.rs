//! The table as text and as JSON.

use std::fmt::Write as _;

use loadscope_trace::{Argument, Nanos, Overrides, plural};
use loadscope_words::{display_width, pad_end, pad_start, say};
use serde_json::{Value, json};

use super::{Expected, Kind, Outcome, Row, Table};
use crate::format::{percent, signed};

impl Table {
    /// Returns the table as text. `folder` contains the recordings.
    pub fn text(&self, folder: &str) -> String {
        let mut out = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.write(&mut out, folder);
        out.trim_end().to_owned()
    }

    fn write(&self, out: &mut String, folder: &str) -> std::fmt::Result {
        let batches = plural(self.batches as u64, say!(n: "batch"), say!(n: "batches"));
        writeln!(
            out,
            "{}",
            say!(
                "{}, the first {batches}: time per batch (first batch separate)\n",
                self.loader
            )
        )?;
        self.write_rows(out)?;
        writeln!(out)?;
        match self.noise {
            Some(noise) => writeln!(
                out,
                "{}",
                say!(
                    "Repeated runs of the unchanged program differ by {}. A change counts if it is more than twice that, at least 2 %, and significant (95 %).",
                    percent(noise)
                )
            )?,
            None => writeln!(
                out,
                "{}",
                say!("There is only one run of the unchanged program, so the noise is unknown")
            )?,
        }
        let misses = self.misses().map(|share| {
            say!(
                "The forecast for the unchanged program is {} off: rely on the measured times",
                percent(share)
            )
        });
        for note in self.notes.iter().chain(&misses) {
            writeln!(out, "{note}")?;
        }
        writeln!(out, "\n{}", self.verdict())?;
        if let Some(why) = self.why_not_fastest() {
            writeln!(out, "{why}")?;
        }
        for sentence in self.consequences() {
            writeln!(out, "{sentence}")?;
        }
        writeln!(out, "{}", say!("\nRecordings of all runs: {folder}"))?;
        Ok(())
    }

    /// Returns the relative error of the forecast for the unchanged program, if it is large.
    fn misses(&self) -> Option<f64> {
        /// Same limit as in the verdict on a recording.
        const MAX_ERROR: f64 = 0.1;
        let first = self.rows.first()?;
        let expected = first.tried.expected?.per_batch;
        let measured = self.own().filter(|own| *own > 0.0)?;
        let share = (expected / measured - 1.0).abs();
        (share > MAX_ERROR).then_some(share)
    }

    /// Writes the header and one line per run, with the columns aligned.
    fn write_rows(&self, out: &mut String) -> std::fmt::Result {
        let longest = self.rows.iter().map(|row| display_width(&name(row))).max();
        let width = longest
            .unwrap_or_default()
            .max(display_width(say!(column: "setting")));
        let line = |cells: [&str; 7]| {
            let [setting, forecast, interval, measured, waited, first, change] = cells;
            let line = format!(
                "{}  {}  {}  {}  {}  {}  {change}",
                pad_end(setting, width),
                pad_start(forecast, 9),
                pad_start(interval, 20),
                pad_start(measured, 9),
                pad_start(waited, 9),
                pad_start(first, 11),
            );
            line.trim_end().to_owned()
        };
        let head = [
            say!(column: "setting"),
            say!(column: "forecast"),
            say!(column: "90 % interval"),
            say!(column: "measured"),
            say!(column: "waited"),
            say!(column: "first batch"),
            say!(column: "difference"),
        ];
        writeln!(out, "{}", line(head))?;
        for row in &self.rows {
            let expected = row
                .tried
                .expected
                .filter(|_| row.tried.kind != Kind::Repeat);
            let forecast = expected.map_or("—".to_owned(), |e| time(e.per_batch));
            let interval = expected.map_or("—".to_owned(), |e| {
                say!("{} to {}", time(e.low), time(e.high))
            });
            let cells = match &row.tried.measured {
                Ok(m) => [
                    time(m.per_batch),
                    time(m.waited),
                    time(m.first_batch),
                    change(row),
                ],
                Err(why) => ["—", "—", "—", why].map(str::to_owned),
            };
            let [measured, waited, first, change] = &cells;
            let name = name(row);
            let cells = [&name, &forecast, &interval, measured, waited, first, change];
            writeln!(out, "{}", line(cells.map(String::as_str)))?;
        }
        Ok(())
    }

    /// Returns the recommendation in one or two sentences.
    pub fn verdict(&self) -> String {
        let place = match &self.made_at {
            Some(made_at) => say!("{} ({}, line {})", made_at.name, made_at.file, made_at.line),
            None => self.loader.clone(),
        };
        let best = self.recommended();
        let Some((row, measured)) =
            best.and_then(|row| Some((row, row.tried.measured.as_ref().ok()?)))
        else {
            return match self.rows.iter().any(|row| row.outcome.is_some()) {
                true => {
                    say!("No setting is significantly faster: leave {place} unchanged")
                }
                false => say!("No run can be compared").to_owned(),
            };
        };
        let own = self.own().map_or("—".to_owned(), time);
        let share = row
            .change
            .map_or(String::new(), |c| format!(" ({})", signed(c)));
        say!(
            "Best change: {}: {} per batch instead of {own}{share}\nIn {place}, write: DataLoader(…, {}){}",
            row.tried.overrides,
            time(measured.per_batch),
            row.tried.overrides,
            self.without(row)
        )
    }

    /// Returns the reason if another row is faster than the recommended one.
    pub fn why_not_fastest(&self) -> Option<String> {
        let best = self.recommended()?;
        let fastest = self.fastest()?;
        let per_batch = fastest.tried.measured.as_ref().ok()?.per_batch;
        (fastest.tried.overrides != best.tried.overrides).then(|| {
            say!(
                "{} is not better: {} per batch is within noise, at a higher cost",
                fastest.tried.overrides,
                time(per_batch)
            )
        })
    }

    /// Lists the arguments to remove from the program because they need workers.
    fn without(&self, row: &Row) -> String {
        let first = self.rows.first().and_then(|row| row.tried.options.as_ref());
        let Some(first) = first.filter(|_| row.tried.overrides.num_workers == Some(0)) else {
            return String::new();
        };
        let gone = [
            Argument::PrefetchFactor,
            Argument::PersistentWorkers,
            Argument::Context,
            Argument::Timeout,
        ];
        let gone = gone.into_iter().filter(|one| one.in_call(first).is_some());
        let gone: Vec<&str> = gone.map(Argument::name).collect();
        match gone.is_empty() {
            true => String::new(),
            false => say!(", without {}", gone.join(say!(", "))),
        }
    }

    /// Describes other effects of the recommended setting.
    fn consequences(&self) -> Vec<&'static str> {
        let Some(row) = self.recommended() else {
            return Vec::new();
        };
        let first = self.rows.first().and_then(|row| row.tried.options.as_ref());
        let before = first.map_or(0, |o| o.num_workers);
        let o = &row.tried.overrides;
        let mut out = Vec::new();
        if let Some(workers) = o.num_workers.filter(|n| *n != before) {
            out.push(
                say!("Random numbers: with another num_workers, other workers (with other seeds) load the samples. Random augmentations change. The samples in each batch stay the same."),
            );
            if workers == 0 || before == 0 {
                out.push(
                    say!("With num_workers=0, the random numbers of the dataset come from the main process. This changes its later random numbers, also the sample order from the second epoch on, unless the loader has a generator."),
                );
            }
        }
        if o.persistent_workers.is_some() {
            out.push(
                say!("Random numbers: persistent workers are seeded once, not in every epoch. From the second epoch on, augmentations and (with shuffle=True) the sample order change."),
            );
        }
        if o.in_order == Some(false) {
            out.push(
                say!("With in_order=False, batches come in order of arrival, which differs from run to run"),
            );
        }
        if o.multiprocessing_context.is_some() {
            out.push(say!("With another start method, datasets and functions must be picklable, and the program needs `if __name__ == \"__main__\":`"));
        }
        out
    }

    /// Returns the table as JSON. `folder` contains the recordings.
    pub fn json(&self, folder: &str) -> Value {
        let expected =
            |e: Expected| json!({ "seconds": e.per_batch, "low": e.low, "high": e.high });
        let rows = self.rows.iter().map(|row| {
            let tried = &row.tried;
            let measured = tried.measured.as_ref().ok();
            json!({
                "kind": kind(tried.kind),
                "set": tried.overrides,
                "recording": tried.recording,
                "forecast": tried.expected.map(expected),
                "batches": measured.map(|m| m.batches),
                "seconds": measured.map(|m| m.per_batch),
                "waited_seconds": measured.map(|m| m.waited),
                "first_batch_seconds": measured.map(|m| m.first_batch),
                "change": row.change,
                "low": row.interval.map(|i| i.0),
                "high": row.interval.map(|i| i.1),
                "outcome": row.outcome.map(Outcome::id),
                "failed": tried.measured.as_ref().err().map(|why| plain(why)),
            })
        });
        json!({
            "loader": self.loader,
            "made_at": self.made_at,
            "folder": folder,
            "batches": self.batches,
            "noise": self.noise,
            "own_seconds": self.own(),
            "runs": rows.collect::<Vec<_>>(),
            "recommended": self.recommended().map(|row| &row.tried.overrides),
            "verdict": plain(&self.verdict()),
            "why_not_fastest": self.why_not_fastest().map(|why| plain(&why)),
            "consequences": self.consequences(),
            "notes": self.notes.iter().map(|note| plain(note)).collect::<Vec<_>>(),
        })
    }
}

/// Replaces thin spaces, which are for readers only.
fn plain(text: &str) -> String {
    text.replace('\u{2009}', " ")
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::First => "first",
        Kind::Repeat => "repeat",
        Kind::Try => "try",
    }
}

impl Row {
    /// Returns the name of the setting.
    pub fn name(&self) -> String {
        name(self)
    }

    /// Returns the difference from the unchanged program, and its significance.
    pub fn difference(&self) -> String {
        change(self)
    }
}

fn name(row: &Row) -> String {
    let own = || {
        let options = row.tried.options.as_ref();
        options.map_or(String::new(), |o| {
            format!(" (num_workers={})", o.num_workers)
        })
    };
    match row.tried.kind {
        Kind::First => say!("unchanged{}", own()),
        Kind::Repeat => say!("unchanged, again").to_owned(),
        Kind::Try => described(&row.tried.overrides),
    }
}

fn described(overrides: &Overrides) -> String {
    match overrides.is_empty() {
        true => say!("unchanged").to_owned(),
        false => overrides.to_string(),
    }
}

/// Returns the change as text: `−12 % (−13 % to −11 %), faster`.
fn change(row: &Row) -> String {
    let Some(change) = row.change else {
        return String::new();
    };
    let interval = row.interval.map_or(String::new(), |(low, high)| {
        say!(" ({} to {})", signed(low), signed(high))
    });
    let words = match row.outcome {
        Some(Outcome::Faster) => say!(", faster"),
        Some(Outcome::Slower) => say!(", slower"),
        Some(Outcome::WithinNoise) => say!(", within noise"),
        None => "",
    };
    format!("{}{interval}{words}", signed(change))
}

fn time(seconds: f64) -> String {
    Nanos::from_secs_f64(seconds).to_string()
}
