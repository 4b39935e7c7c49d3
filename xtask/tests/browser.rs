//! Crates for a browser must not name clocks and threads. `std` compiles there, but its clocks and threads panic.

use std::fs::{read_dir, read_to_string};
use std::path::{Path, PathBuf};

/// Crates that are compiled for a browser, as in `xtask/src/web.rs`.
const CRATES: [&str; 11] = [
    "loader/words",
    "loader/column",
    "loader/diagnose",
    "loader/trace",
    "loader/plan",
    "app/insight",
    "app/lessons",
    "app/model",
    "app/ui",
    "app/window",
    "app/web",
];
/// Files that a browser build replaces.
const DESKTOP: [&str; 1] = ["loader/plan/src/cpu/threads.rs"];
/// Forbidden names.
const NAMES: [&str; 8] = [
    "Instant",
    "SystemTime",
    "UNIX_EPOCH",
    "std::thread",
    "thread::",
    "available_parallelism",
    "std::net",
    "std::process",
];

/// Returns the numbered lines of code before the tests, without comments.
fn product(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate();
    lines
        .take_while(|(_, line)| line.trim_end() != "#[cfg(test)]" || line.starts_with(' '))
        .map(|(k, line)| (k + 1, line.split("//").next().unwrap_or_default()))
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'))
}

fn named(text: &str) -> Vec<(usize, &'static str)> {
    let mut all = Vec::new();
    for (number, line) in product(text) {
        let is_named = |name: &&&str| {
            words(line).any(|word| match name.contains("::") {
                true => word.contains(**name),
                false => word.split("::").any(|part| part == **name),
            })
        };
        all.extend(NAMES.iter().filter(is_named).map(|name| (number, *name)));
    }
    all
}

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in read_dir(folder).expect("the folder is there").flatten() {
        let path = entry.path();
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test {
            into.push(path);
        }
    }
}

#[test]
fn crates_for_a_browser_name_no_clock_and_no_thread() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    let root = root.expect("the workspace is around it");
    let mut found = Vec::new();
    let mut looked_at = 0;
    for name in CRATES {
        let mut all = Vec::new();
        files(&root.join(name).join("src"), &mut all);
        looked_at += all.len();
        for path in all {
            let short = path.strip_prefix(root).expect("it is below").to_owned();
            if DESKTOP.iter().any(|known| short == Path::new(known)) {
                continue;
            }
            let text = read_to_string(&path).expect("it is readable");
            for (line, name) in named(&text) {
                found.push(format!("{}:{line} names {name}", short.display()));
            }
        }
    }
    assert!(looked_at > 200, "only {looked_at} files were found");
    assert!(
        found.is_empty(),
        "take it from `Platform` instead:\n{}",
        found.join("\n")
    );
}

#[test]
fn clocks_and_threads_are_found_by_name() {
    let text = "use std::time::{Duration, Instant};\n// Instant\nlet a = std::thread::spawn(f);\nlet instants = 1;\n#[cfg(test)]\nmod tests {\n    use std::time::SystemTime;";
    assert_eq!(
        named(text),
        [(1, "Instant"), (3, "std::thread"), (3, "thread::")]
    );
}
