//! The summary of a loader, and the messages of its run.

use std::fmt::Write as _;

use loadscope_insight::report::options::options;
use loadscope_insight::report::past;
use loadscope_trace::{Level, Origin, Run, Summary};
use loadscope_ui::timeline::chart::Chart;
use loadscope_words::say;
use serde_json::Value;

/// Returns the summary of a loader as JSON.
pub(super) fn facts(run: &Run) -> anyhow::Result<Value> {
    let mut object = serde_json::to_value(Summary::of(run))?;
    if let Some(map) = object.as_object_mut() {
        if run.has_only_parts() {
            for unknown in [
                "epochs",
                "batches",
                "samples",
                "seconds",
                "samples_per_second",
                "waited_seconds",
                "held",
                "failed",
                "discarded",
            ] {
                map.insert(unknown.to_owned(), Value::Null);
            }
        } else if run.info.python_line().is_none() && map.get("samples") == Some(&0.into()) {
            map.insert("samples".to_owned(), Value::Null);
            map.insert("samples_per_second".to_owned(), Value::Null);
        }
        let charts = Chart::all(run).into_iter().filter(Chart::is_of_part);
        let parts = charts.map(|chart| {
            let (what, of) = chart.id(run);
            serde_json::json!({ "part": of, "what": what, "mean": chart.mean(run) })
        });
        map.insert("parts".to_owned(), parts.collect());
        map.insert("past".to_owned(), past::json(run));
        map.insert("origin".to_owned(), run.info.origin.key().into());
        map.insert("pinning".to_owned(), run.info.pinning.clone().into());
        map.insert("options".to_owned(), options(run));
    }
    Ok(object)
}

/// Writes the first errors and warnings.
pub(super) fn messages(out: &mut String, run: &Run) -> std::fmt::Result {
    let is_import = matches!(run.info.origin, Origin::Import(_));
    let said = run.messages().iter();
    let said = said.filter(|(_, m)| m.level >= Level::Warning || is_import);
    for (at, m) in said.take(20) {
        let place = m.place().map(|place| format!(", {place}"));
        let place = place.unwrap_or_default();
        match m.level {
            Level::Error => writeln!(out, "{}", say!("error at {at}{place}: {}", m.text))?,
            Level::Warning => writeln!(out, "{}", say!("warning at {at}{place}: {}", m.text))?,
            Level::Info => writeln!(out, "{}", m.text)?,
        }
    }
    Ok(())
}
