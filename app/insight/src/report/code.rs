//! Lines of code that take the time of fetching, collating and training.

use loadscope_diagnose::{HotCode, SampleShare, callee};
use loadscope_trace::{Activity, HotLine, Run, count};
use loadscope_words::say;
use serde_json::{Value, json};

use crate::format::percent;

/// Maximum number of lines per activity in a text.
const MAX_LINES: usize = 5;

/// Minimum share of a line in a text.
const MIN_SHARE: f64 = 0.02;

/// Lines of one activity.
pub struct Section {
    /// Activity and number of samples, as in `Fetching, 412 samples`.
    pub heading: String,
    /// Lines, the hottest first.
    pub rows: Vec<Row>,
}

/// Line of code in a table.
pub struct Row {
    /// File and line, as in `dataset.py:42`.
    pub place: String,
    /// Function, with the library function that the line calls: `load_image → convert (PIL/Image.py)`.
    pub function: String,
    /// Share of the samples.
    pub share: SampleShare,
}

/// Returns the lines of each activity with enough samples.
pub fn hot_code(run: &Run) -> Vec<HotCode<'_>> {
    let activities = HotCode::ACTIVITIES.into_iter();
    let known = activities.filter_map(|activity| HotCode::of(run, activity));
    known.filter(|code| !code.lines.is_empty()).collect()
}

/// Returns the tables of a text.
pub fn sections(code: &[HotCode<'_>]) -> Vec<Section> {
    let section = |code: &HotCode<'_>| {
        let (activity, samples) = (code.activity.label(), count(code.samples));
        let shown = code.lines.iter().map(|line| (line, code.share(line)));
        let shown = shown.filter(|(_, share)| share.share >= MIN_SHARE);
        Section {
            heading: say!("{activity}, {samples} samples"),
            rows: (shown.take(MAX_LINES))
                .map(|(line, share)| Row {
                    place: line.place(),
                    function: function(line),
                    share,
                })
                .collect(),
        }
    };
    code.iter().map(section).collect()
}

fn function(line: &HotLine<'_>) -> String {
    let name = &line.function.name;
    match callee(line) {
        Some(callee) => format!("{name} → {callee}"),
        None => name.clone(),
    }
}

/// Returns the hottest line of the activity that limits the program: of training if it hardly waits, else of fetching or collating.
pub fn headline(code: &[HotCode<'_>], is_waiting: bool) -> Option<String> {
    let is_wanted = |code: &&HotCode<'_>| (code.activity != Activity::Training) == is_waiting;
    let most = code.iter().filter(is_wanted);
    most.max_by_key(|code| code.samples)?.sentence()
}

/// Returns a share with its margin, as in `71 % ± 4 %`.
pub fn share(share: SampleShare) -> String {
    format!("{} ± {}", percent(share.share), percent(share.margin))
}

/// Returns all lines for scripts.
pub fn json(code: &[HotCode<'_>]) -> Value {
    let line = |code: &HotCode<'_>, line: &HotLine<'_>| {
        let share = code.share(line);
        json!({
            "file": line.function.file,
            "line": line.line,
            "function": line.function.name,
            "samples": line.samples,
            "share": share.share,
            "margin": share.margin,
            "calls": line.callee.map(|(function, samples)| json!({
                "file": function.file,
                "function": function.name,
                "samples": samples,
            })),
            "wait": line.wait.map(|(call, samples)| json!({
                "call": call.name,
                "object": call.waits_for(),
                "samples": samples,
            })),
        })
    };
    let section = |code: &HotCode<'_>| {
        let lines: Vec<Value> = code.lines.iter().map(|one| line(code, one)).collect();
        json!({
            "activity": code.activity.id(),
            "samples": code.samples,
            "lines": lines,
        })
    };
    code.iter().map(section).collect()
}
