//! Table of the forecasts for other settings.

use loadscope_diagnose::{Change, Forecast, ForecastSet};
use loadscope_trace::Nanos;
use loadscope_words::say;

use super::Report;

/// Table row: a setting with its measured or forecast time.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the setting, as in `in_order=False`.
    pub name: String,
    /// Measured or forecast duration of the run.
    pub took: Nanos,
    /// Waited time in `took`.
    pub waited: Nanos,
    /// Relative difference from [`ForecastSet::now`]: −0.26 is 26 % faster. `None` for the recorded settings.
    pub change: Option<f64>,
    /// The 90 % interval of `took`, as (low, high). `None` for the recorded settings and the ideal loader.
    pub between: Option<(Nanos, Nanos)>,
}

/// Returns the time outside the loop, which all forecasts include.
///
/// Returns `None` if it is at most the share [`ForecastSet::MIN_GAIN`] of the recorded time, or if the report covers only the end of the
/// run.
pub fn outside(report: &Report, prospects: &ForecastSet) -> Option<Nanos> {
    let wait_summary = &report.survey.wait_summary;
    let outside = Nanos(prospects.recorded.0 - report.survey.total().0);
    let least = ForecastSet::MIN_GAIN * prospects.recorded.0 as f64;
    (outside.0 as f64 > least && !wait_summary.is_of_the_end()).then_some(outside)
}

/// Returns the recorded settings, the forecasts sorted by time, and an ideal loader as rows.
///
/// The list is empty if the report has no forecasts or unreliable ones.
pub fn rows(report: &Report) -> Vec<Row> {
    let Some(Ok(prospects)) = &report.prospects else {
        return Vec::new();
    };
    if !prospects.fits() {
        return Vec::new();
    }
    let own = Change::NumWorkers(report.survey.run.info.options.num_workers);
    let first = prospects
        .recommended(report.survey.workers)
        .map(|f| f.change);
    let outside = outside(report, prospects);
    let recorded = Row {
        name: match (outside, first, &prospects.workers_refused) {
            (Some(outside), ..) => {
                let outside = report.survey.format_time(outside);
                say!("as recorded, with {outside} outside the loop")
            }
            (None, None, None) => {
                say!("as recorded (no other setting is clearly faster)").to_owned()
            }
            (None, ..) => say!("as recorded").to_owned(),
        },
        took: prospects.recorded,
        waited: report.survey.blame.waited,
        change: None,
        between: None,
    };
    let mut rows = vec![recorded];
    if prospects.differs_from_recorded() {
        rows.push(Row {
            name: say!("the same settings, forecast").to_owned(),
            took: prospects.refit,
            waited: prospects.refit_waited,
            change: None,
            between: None,
        });
    }
    let others = settings(prospects, first).filter(|(f, _)| f.change != own);
    let mut others: Vec<_> = others.collect();
    others.sort_by_key(|(forecast, _)| forecast.took);
    rows.extend(others.into_iter().map(|(f, mark)| Row {
        name: format!("{}{mark}", f.change),
        took: f.took,
        waited: f.waited,
        change: Some(prospects.change(f.took)),
        between: Some((f.low, f.high)),
    }));
    rows.extend(prospects.without_line.iter().map(|line| Row {
        name: say!("{} at no cost", line.line),
        took: line.took,
        waited: line.waited,
        change: Some(prospects.change(line.took)),
        between: Some((line.low, line.high)),
    }));
    rows.push(Row {
        name: say!("an ideal loader").to_owned(),
        took: prospects.headroom,
        waited: Nanos::ZERO,
        change: Some(prospects.change(prospects.headroom)),
        between: None,
    });
    rows
}

/// Returns each forecast once, with a mark at the best change of the verdict.
fn settings(
    prospects: &ForecastSet,
    first: Option<Change>,
) -> impl Iterator<Item = (Forecast, &'static str)> {
    let mut all: Vec<Forecast> = prospects.changes.clone();
    for forecast in prospects.cheapest.iter().chain(&prospects.best) {
        if all.iter().all(|f| f.change != forecast.change) {
            all.push(*forecast);
        }
    }
    all.into_iter().map(move |f| match Some(f.change) == first {
        true => (f, say!(" (best change)")),
        false => (f, ""),
    })
}

/// Returns the remarks below the table: a warning about rough forecasts, and the settings without a forecast.
pub fn remarks(report: &Report) -> Vec<String> {
    let prospects = report.prospects.as_ref().and_then(|p| p.as_ref().ok());
    let caveat = prospects.and_then(ForecastSet::caveat);
    caveat.into_iter().chain(left_out(report)).collect()
}

/// Describes the settings that the table omits. Returns `None` if the verdict contains it.
fn left_out(report: &Report) -> Option<String> {
    let Some(Ok(prospects)) = &report.prospects else {
        return None;
    };
    let is_reported = report.diagnosis.verdict.outlook.is_some() || !prospects.fits();
    prospects
        .describe_unforecast_workers()
        .filter(|_| !is_reported)
}

/// Returns the reason why the table is missing. Returns `None` if there is a table, or if no forecasts were requested.
pub fn reason(report: &Report) -> Option<String> {
    match report.prospects.as_ref()? {
        Err(reason) => Some(say!("No forecasts: {reason}")),
        Ok(prospects) if !prospects.fits() => {
            let survey = &report.survey;
            Some(prospects.sentence(0, |time| survey.format_time(time)))
        }
        Ok(_) => None,
    }
}
