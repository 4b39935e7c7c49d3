//! Finding about a line of code that takes much of the time of the workers.

use super::{Evidence, Finding, FindingId, Survey};
use crate::hot_code::{HotCode, callee};
use loadscope_trace::{Activity, Function, HotLine, percent};
use loadscope_words::say;

/// Minimum share of a line in its activity.
const MIN_SHARE: f64 = 0.2;

/// Reports the line of code that causes the most waiting for workers.
pub(super) fn slow(survey: &Survey) -> Option<Finding> {
    let run = survey.run;
    let fetching = HotCode::of(run, Activity::Fetching)?;
    let line = fetching.lines.first()?;
    let share = fetching.share(line);
    let work = survey.mean_work.0.max(1);
    let fetched = 1.0 - (survey.collate.0 as f64 / work as f64).min(1.0);
    let cost = survey.part_of_loading(fetched * share.share);
    let severity = survey.severity(cost)?;
    if share.share < MIN_SHARE {
        return None;
    }
    let (at, name) = (line.place(), &line.function.name);
    let called = callee(line).map(|callee| say!(", mostly in {callee}"));
    let called = called.unwrap_or_default();
    let (percentage, margin) = (percent(share.share), percent(share.margin));
    let said = survey.format_cost(cost);
    Some(Finding {
        id: FindingId::SlowLine,
        text: say!(
            "{at} in {name} takes {percentage} ± {margin} of the time of fetching{called}: {said}"
        ),
        severity,
        evidence: Evidence::Run,
        remedy: remedy(line).to_owned(),
        cost: Some(cost),
    })
}

/// Returns the remedy for a line, by the library that it calls and by its wait.
fn remedy(line: &HotLine<'_>) -> &'static str {
    let file = |found: Option<&Function>| found.map(|f| f.file.clone()).unwrap_or_default();
    let wait = file(line.usual_wait());
    let file = file(line.usual_callee());
    let is_in = |packages: &[&str]| {
        let folder = |name: &&str| {
            file.contains(&format!("/{name}/")) || file.ends_with(&format!("/{name}.py"))
        };
        packages.iter().any(folder)
    };
    if is_in(&["PIL", "cv2", "imageio", "skimage", "torchvision"]) {
        return say!("Store the images in the size that training needs, or store them decoded");
    }
    let is_network = is_in(&[
        "requests", "urllib", "urllib3", "http", "socket", "ssl", "boto3", "botocore", "s3fs",
        "fsspec",
    ]);
    match wait.as_str() {
        wait if is_network || wait == "<socket>" => {
            say!("Download the files before training, or keep them in a local cache")
        }
        "<file>" => {
            say!("Copy the dataset to a local disk, or store its samples in fewer and larger files")
        }
        _ if is_in(&["pandas", "json", "csv", "h5py", "pickle", "gzip", "zipfile"]) => say!(
            "Store the samples in a format that is faster to read, such as NumPy files or Arrow"
        ),
        _ => say!("Make this line faster, or store its result before training"),
    }
}
