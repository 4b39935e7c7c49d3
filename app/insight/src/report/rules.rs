//! Rules about a recording, for scripts and CI: `wait>10%`.

use std::fmt;
use std::str::FromStr;

use loadscope_diagnose::{Cause, Severity};
use loadscope_plan::keyvalue::{Key, KeySet, KeyValueError, real};
use loadscope_trace::{GaugeKind, Nanos, Run, bytes};
use loadscope_words::{Text, say};

use super::Report;
use crate::format::percent;

/// Condition that makes the check of a report fail.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    metric: Metric,
    is_greater: bool,
    or_equal: bool,
    limit: f64,
    unit: Unit,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Metric {
    /// Time that training waited.
    Wait,
    /// Waits with one cause.
    Blame(Cause),
    /// Time in the loader's loop.
    Run,
    /// Time that finished batches waited in the reorder buffer.
    Ready,
    /// Samples per second.
    Throughput,
    /// Number of dropped events.
    Dropped,
    /// Number of errors.
    Errors,
    /// Number of findings that are warnings or worse.
    Findings,
    /// Peak memory (PSS) of all processes together, bytes.
    Memory,
    /// Peak use of `/dev/shm`, bytes.
    Shm,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Share of the run's time.
    Percent,
    Seconds,
    /// Bytes of memory.
    Bytes,
    Plain,
}

/// Error message for an invalid rule.
#[derive(Debug, thiserror::Error)]
#[error("{}", say!("{0}. Examples: 'wait>10%', 'wait>2s', 'fetching>500ms', 'throughput<100', 'dropped>0', 'findings>0', 'memory>8GB'.", .0))]
pub struct InvalidRule(String);

/// Returns the sorted names of the quantities that rules can limit.
pub fn keys() -> Vec<&'static str> {
    let causes = Cause::ALL.into_iter().map(Cause::id);
    let mut names: Vec<_> = NAMES
        .into_iter()
        .map(|(name, _)| name)
        .chain(causes)
        .collect();
    names.sort_unstable();
    names
}

/// Returns the names as a [`KeySet`] for error messages.
fn names() -> KeySet {
    KeySet::new(
        keys()
            .into_iter()
            .map(|name| Key::once(name, Text::same(name))),
    )
}

const NAMES: [(&str, Metric); 9] = [
    ("wait", Metric::Wait),
    ("run", Metric::Run),
    ("ready", Metric::Ready),
    ("throughput", Metric::Throughput),
    ("dropped", Metric::Dropped),
    ("errors", Metric::Errors),
    ("findings", Metric::Findings),
    ("memory", Metric::Memory),
    ("shm", Metric::Shm),
];

/// Units of memory as (suffix, bytes). `B` is last, because every other unit ends in it.
const BYTES: [(&str, f64); 7] = [
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("B", 1.0),
];

impl FromStr for Rule {
    type Err = InvalidRule;

    /// Parses `NAME>LIMIT`, also with `<`, `>=` or `<=`. The name determines the units that the limit may have.
    fn from_str(text: &str) -> Result<Self, InvalidRule> {
        let no = |why: &str| InvalidRule(why.to_owned());
        let at = text
            .find(['<', '>'])
            .ok_or_else(|| no(say!("it has no < or >")))?;
        let (name, rest) = text.split_at(at);
        let is_greater = rest.starts_with('>');
        let rest = &rest[1..];
        let (or_equal, number) = match rest.strip_prefix('=') {
            Some(number) => (true, number.trim()),
            None => (false, rest.trim()),
        };
        let metric = metric(name.trim()).map_err(|mistake| no(&names().sentence(&mistake)))?;
        let in_bytes = BYTES
            .into_iter()
            .find_map(|(name, factor)| Some((number.strip_suffix(name)?, factor)));
        let (number, unit, factor) = if let Some((number, factor)) = in_bytes {
            (number, Unit::Bytes, factor)
        } else if let Some(number) = number.strip_suffix('%') {
            (number, Unit::Percent, 0.01)
        } else if let Some(number) = number.strip_suffix("ms") {
            (number, Unit::Seconds, 1e-3)
        } else if let Some(number) = number.strip_suffix('s') {
            (number, Unit::Seconds, 1.0)
        } else {
            (number, Unit::Plain, 1.0)
        };
        let limit = real(number.trim(), ..).map_err(|wrong| no(&wrong.to_string()))?;
        let is_time = matches!(
            metric,
            Metric::Wait | Metric::Blame(_) | Metric::Run | Metric::Ready
        );
        let is_memory = matches!(metric, Metric::Memory | Metric::Shm);
        match (is_time, is_memory, unit) {
            (true, _, Unit::Plain | Unit::Bytes) => {
                return Err(no(say!("the limit needs a unit: %, s or ms")));
            }
            (_, true, Unit::Plain | Unit::Percent | Unit::Seconds) => {
                return Err(no(say!(
                    "the limit needs a unit: kB, MB, GB, KiB, MiB or GiB"
                )));
            }
            (false, false, Unit::Percent | Unit::Seconds | Unit::Bytes) => {
                return Err(no(say!("the limit is a number without a unit")));
            }
            _ => {}
        }
        Ok(Self {
            metric,
            is_greater,
            or_equal,
            limit: limit * factor,
            unit,
            text: text.to_owned(),
        })
    }
}

fn metric(name: &str) -> Result<Metric, KeyValueError> {
    let own = NAMES.into_iter().find(|(own, _)| *own == name);
    let cause = || Cause::ALL.into_iter().find(|cause| cause.id() == name);
    let metric = own.map(|(_, metric)| metric);
    metric
        .or_else(|| cause().map(Metric::Blame))
        .ok_or_else(|| KeyValueError::Unknown(name.to_owned()))
}

impl Rule {
    /// Returns a message if the report breaks the rule. Returns `None` if it keeps the rule.
    ///
    /// A rule fails if the recording does not measure its quantity.
    pub fn violation(&self, report: &Report) -> Option<String> {
        let value = self.value(report);
        let Some(value) = value else {
            return Some(say!(
                "cannot check {self}: the recording does not measure it"
            ));
        };
        let is_broken = match (self.is_greater, self.or_equal) {
            (true, false) => value > self.limit,
            (true, true) => value >= self.limit,
            (false, false) => value < self.limit,
            (false, true) => value <= self.limit,
        };
        let value = match self.unit {
            Unit::Percent => percent(value),
            Unit::Seconds => Nanos::from_secs_f64(value).to_string(),
            Unit::Bytes => bytes(value),
            Unit::Plain if value.fract() == 0.0 => format!("{value:.0}"),
            Unit::Plain => format!("{value:.1}"),
        };
        is_broken.then(|| say!("failed: {self} (measured: {value})"))
    }

    fn value(&self, report: &Report) -> Option<f64> {
        let survey = &report.survey;
        let time = match self.metric {
            Metric::Wait if survey.run.has_only_parts() => None,
            Metric::Wait => Some(survey.blame.waited),
            Metric::Run => Some(survey.total()),
            Metric::Ready => survey.blame.ready_batches,
            Metric::Blame(cause) => survey.blame.time_of(cause),
            // Batches without samples: the source does not record samples.
            Metric::Throughput
                if report.summary.samples == 0 && survey.run.info.python_line().is_none() =>
            {
                None
            }
            Metric::Throughput => return Some(report.summary.samples_per_second),
            Metric::Memory => return peak(survey.run, GaugeKind::Pss),
            Metric::Shm => return peak(survey.run, GaugeKind::Shm),
            Metric::Dropped => return Some(report.summary.dropped as f64),
            Metric::Errors => return Some(report.summary.errors as f64),
            Metric::Findings => {
                let weighty = report.diagnosis.findings.iter();
                return Some(weighty.filter(|f| f.severity > Severity::Note).count() as f64);
            }
        };
        time.map(|time| match self.unit {
            Unit::Percent => survey.share(time),
            _ => time.as_secs_f64(),
        })
    }
}

/// Returns the peak of a gauge of the whole program. Returns `None` without measurements.
fn peak(run: &Run, what: GaugeKind) -> Option<f64> {
    let series = run.gauge(None, what)?;
    series.highest(Nanos(i64::MIN), Nanos::MAX)
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
