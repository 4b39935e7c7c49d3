//! Table of forecasts.

use std::fmt::Write as _;

use loadscope_insight::format;
use loadscope_plan::forecast::Forecast;
use loadscope_trace::{Nanos, bytes};
use loadscope_words::{pad_start, say};

use super::ForecastReport;

impl ForecastReport<'_> {
    /// Writes the table of forecasts.
    pub(super) fn table(&self, out: &mut String) -> std::fmt::Result {
        let tells_memory = self
            .outlook
            .configurations
            .iter()
            .any(|f| f.memory.is_some());
        let memory = match tells_memory {
            true => pad_start(say!(column: "memory"), 10),
            false => String::new(),
        };
        writeln!(
            out,
            "{}  {}  {}  {}  {}  {}{memory}",
            pad_start(say!(column: "workers"), 7),
            pad_start(say!(column: "prefetch"), 8),
            pad_start(say!(column: "time"), 10),
            pad_start(say!(column: "90 % interval"), 23),
            pad_start(say!(column: "waited"), 10),
            pad_start(say!(column: "of the time"), 10)
        )?;
        let all = self.outlook.configurations.iter().chain(&self.outlook.kept);
        let longest = all.map(|f| f.time).max().unwrap_or_default();
        for f in &self.outlook.configurations {
            row(out, f, longest, tells_memory, self.mark(f))?;
        }
        if !self.outlook.kept.is_empty() {
            writeln!(out, "{}", say!("With persistent_workers=True:"))?;
        }
        for f in &self.outlook.kept {
            row(out, f, longest, tells_memory, self.mark(f))?;
        }
        Ok(())
    }

    /// Returns the fastest setting of the table.
    pub(super) fn fastest(&self) -> Option<&Forecast> {
        let all = self.outlook.configurations.iter().chain(&self.outlook.kept);
        all.min_by_key(|f| (f.time, f.setting.num_workers, f.setting.prefetch_factor))
    }

    /// Returns the mark of a row. At most one row is the fastest, and at most one other row is recommended.
    fn mark(&self, f: &Forecast) -> &'static str {
        let is = |other: &Forecast| f.setting == other.setting;
        // An iterable-style dataset has a forecast for only one number of workers.
        let is_open = self.prospects.workers_refused.is_none();
        match self.fastest() {
            _ if !is_open || !self.prospects.fits() || self.change_outside_table().is_some() => "",
            Some(fastest) if is(fastest) => say!("  fastest"),
            _ if is(&self.outlook.recommended) => say!("  recommended"),
            _ => "",
        }
    }
}

/// Writes a row of the table, with times in the unit of the longest time.
fn row(
    out: &mut String,
    f: &Forecast,
    longest: Nanos,
    tells_memory: bool,
    mark: &str,
) -> std::fmt::Result {
    let say = |time: Nanos| match time.0 {
        0 => "0".to_owned(),
        _ => time.format_in_unit_of(longest),
    };
    let prefetch = match f.setting.num_workers {
        0 => "—".to_owned(),
        _ => f.setting.prefetch_factor.to_string(),
    };
    let memory = match tells_memory {
        true => format!(
            "  {:>8}",
            f.memory.map_or("—".to_owned(), |all| bytes(all as f64))
        ),
        false => String::new(),
    };
    writeln!(
        out,
        "{:>7}  {prefetch:>8}  {:>10}  {}  {:>10}  {:>10}{memory}{mark}",
        f.setting.num_workers,
        say(f.time),
        pad_start(&say!("{} to {}", say(f.low), say(f.high)), 23),
        say(f.waited),
        format::percent(f.waited_share()),
    )
}
