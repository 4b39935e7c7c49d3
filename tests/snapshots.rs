//! Stored texts of snapshots, and their images.
//!
//! A file contains the texts of all snapshots whose names begin with the same word. The line before the texts lists their names, because
//! variants often have the same texts.

use std::collections::BTreeMap;
use std::env;
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::PathBuf;

use crate::fixture::repository;

/// Start of a line with names.
const NAMES: &str = "=== ";

/// Words of names of variants: another theme, size or language of a state that has an image.
const VARIANTS: [&str; 5] = ["light", "small", "760", "1920", "zh"];
/// Words of names of the image of a state.
const USUAL: [&str; 2] = ["dark", "1100"];

/// Images, and the snapshots that draw the same parts with other contents, or in another size or language. Those have texts only.
const SHOWN_BY: [(&str, &str); 33] = [
    ("debug_light", "debug_large"),
    ("diagnose", "chinese_diagnose_dark"),
    ("diagnose_proof", "diagnose_proof-middle"),
    (
        "exchange_spdl_dark",
        "exchange_lotus exchange_profiler_dark",
    ),
    ("help", "chinese_help"),
    ("loaders-ranks-timeline", "loaders-timeline"),
    ("options_dark-1100", "chinese_options"),
    (
        "pipeline_64",
        "pipeline_16 pipeline_16-wide pipeline_64-wide pipeline_digits",
    ),
    ("pipeline_boxes", "pipeline_boxes-off"),
    ("pipeline_gone", "pipeline_gone-16"),
    (
        "pipeline_held",
        "pipeline_any-order pipeline_end pipeline_held-wide pipeline_huge pipeline_one pipeline_start pipeline_tiny",
    ),
    (
        "pipeline_inspector-batch",
        "pipeline_inspector-long pipeline_inspector-missing pipeline_inspector-nothing pipeline_inspector-range",
    ),
    ("pipeline_inspector-enlarged", "pipeline_inspector-picture"),
    (
        "pipeline_inspector-queue",
        "pipeline_inspector-sampler pipeline_inspector-trainer",
    ),
    ("pipeline_pinned", "pipeline_tiny-pinned"),
    (
        "pipeline_selected",
        "pipeline_lane pipeline_sampler-selected",
    ),
    (
        "pipeline_table",
        "pipeline_table-narrow pipeline_table-scrolled pipeline_table-usual pipeline_table-waited",
    ),
    (
        "pipeline_variables",
        "pipeline_variables-16 pipeline_variables-alone pipeline_variables-narrow",
    ),
    ("plots_dark", "plots_empty plots_narrow plots_zoomed"),
    ("presentation_dark", "presentation_large"),
    ("quiz_choice", "chinese_quiz"),
    ("samples_dark", "samples_huge samples_usual"),
    ("sampling_by_epoch-dark", "sampling_by_rank-dark"),
    (
        "sampling_iterable",
        "sampling_empty sampling_iterable-recorded sampling_refused",
    ),
    (
        "sampling_shuffled",
        "sampling_sorted sampling_stopped-early sampling_weighted",
    ),
    (
        "states_messages-failed",
        "states_messages-empty travel_messages_dark",
    ),
    ("states_table-failed", "states_table-empty"),
    ("timeline_large", "timeline_deep"),
    ("timeline_run", "timeline_control"),
    ("timeline_samples", "timeline_inside"),
    (
        "timeline_selected",
        "timeline_lane timeline_narrow timeline_wide",
    ),
    ("travel_search-list_dark", "travel_search-empty_dark"),
    ("welcome_dark", "chinese_welcome"),
];

/// Returns true for the snapshot of a variant, as in `options_light-760`.
pub fn is_variant(name: &str) -> bool {
    name.split(['-', '_']).any(|word| VARIANTS.contains(&word)) || image_of(name).is_some()
}

/// Returns the image that shows the parts of a snapshot in [`SHOWN_BY`].
fn image_of(name: &str) -> Option<&'static str> {
    let found = SHOWN_BY
        .iter()
        .find(|(_, names)| names.split(' ').any(|n| n == name));
    found.map(|(image, _)| *image)
}

/// Returns the file with the texts of a snapshot.
fn file(name: &str) -> PathBuf {
    let group = name.split(['-', '_']).next().unwrap_or_default();
    repository("tests/snapshots").join(format!("{group}.txt"))
}

/// Returns the texts of each snapshot in a file.
fn sections(stored: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut names: Vec<String> = Vec::new();
    for line in stored.lines() {
        if let Some(line) = line.strip_prefix(NAMES) {
            names = line.split(' ').map(str::to_owned).collect();
        }
        for name in &names {
            let texts: &mut String = all.entry(name.clone()).or_default();
            if !line.starts_with(NAMES) {
                texts.push_str(line);
                texts.push('\n');
            }
        }
    }
    all
}

/// Formats the texts of snapshots for a file.
fn stored(all: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    for (name, texts) in all {
        let same = all.iter().filter(|(_, other)| *other == texts);
        let names: Vec<&str> = same.map(|(name, _)| name.as_str()).collect();
        if names.first() == Some(&name.as_str()) {
            out += &format!("{NAMES}{}\n{texts}", names.join(" "));
        }
    }
    out
}

/// Returns true if the tests should write their snapshots.
fn writes() -> bool {
    let told = env::var("UPDATE_SNAPSHOTS").unwrap_or_default();
    matches!(told.as_str(), "true" | "1" | "yes" | "on" | "force")
}

/// Stores the texts of a snapshot. Other tests store theirs at the same time.
fn store(name: &str, texts: String) -> std::io::Result<()> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let mut file = options.open(file(name))?;
    file.lock()?;
    let mut before = String::new();
    file.read_to_string(&mut before)?;
    let mut all = sections(&before);
    all.insert(name.to_owned(), texts);
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(stored(&all).as_bytes())
}

/// Compares the texts of a snapshot with the stored ones, or stores them.
pub fn compare(name: &str, texts: &[String]) {
    let now = texts.join("\n") + "\n";
    if writes() {
        store(name, now).expect("the folder of the pictures is writable");
        return;
    }
    let stored = fs::read_to_string(file(name)).unwrap_or_default();
    let before = sections(&stored).remove(name).unwrap_or_default();
    if now == before {
        return;
    }
    let differ = before.lines().zip(now.lines()).find(|(a, b)| a != b);
    let (a, b) = differ.unwrap_or_default();
    panic!(
        "the texts of the picture {name} are others: {a:?} was there, {b:?} is now, of {} lines and {} before. \
         If that is meant, draw it anew with UPDATE_SNAPSHOTS=true",
        now.lines().count(),
        before.lines().count(),
    );
}

/// Returns the name of the state that a snapshot shows, without theme, size and language.
fn state(name: &str) -> String {
    let words = name.split(['-', '_']);
    let of_state = words.filter(|word| !VARIANTS.contains(word) && !USUAL.contains(word));
    of_state.collect::<Vec<_>>().join("_")
}

#[test]
fn every_image_has_texts_and_every_state_has_an_image() {
    if writes() {
        // Not all of them exist yet.
        return;
    }
    let names = |folder: &str, end: &str| {
        let entries = fs::read_dir(repository(folder)).expect("the folder is there");
        let names = entries.filter_map(|entry| {
            let name = entry.ok()?.file_name().into_string().ok()?;
            let name = name.strip_suffix(end)?;
            // Failed tests leave `name.new` and `name.diff`.
            (!name.contains('.')).then(|| name.to_owned())
        });
        names.collect::<Vec<String>>()
    };
    let mut pictures = names("tests/snapshots", ".png");
    pictures.extend(names("screenshots", ".png"));
    let files = names("tests/snapshots", ".txt");
    let stored = files.iter().flat_map(|group| {
        let stored = fs::read_to_string(file(group)).expect("it is there");
        sections(&stored).into_keys()
    });
    let texts: Vec<String> = stored.collect();
    let shown = SHOWN_BY.iter().flat_map(|(_, names)| names.split(' '));
    let images = pictures.iter().map(String::as_str);
    let states: Vec<String> = images.chain(shown.clone()).map(state).collect();
    for name in shown {
        let is_needed = texts.iter().any(|t| t == name) && !pictures.iter().any(|p| p == name);
        assert!(is_needed, "{name} has an image or no texts");
    }
    for name in &texts {
        let has_image = match image_of(name) {
            Some(image) => pictures.iter().any(|picture| picture == image),
            None if is_variant(name) => states.contains(&state(name)),
            None => pictures.contains(name),
        };
        assert!(has_image, "{name} has no image");
    }
    for name in &pictures {
        assert!(texts.contains(name), "{name} has no texts");
    }
}

#[test]
fn equal_texts_are_stored_once() {
    let texts = [
        ("a_dark", "1\n2\n"),
        ("a_light", "3\n"),
        ("a_small", "1\n2\n"),
    ];
    let all = texts
        .map(|(name, texts)| (name.to_owned(), texts.to_owned()))
        .into();
    let text = stored(&all);
    assert_eq!(text, "=== a_dark a_small\n1\n2\n=== a_light\n3\n");
    assert_eq!(sections(&text), all);
}
