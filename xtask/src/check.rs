//! The steps of CI.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::setup::Ready;
use crate::steps::{cargo, finish, format_duration};
use crate::test::test;
use crate::{catalogs, import_cycles, web, wording};

/// Limit for the disk space of a clone's files, bytes.
const MOST_BYTES: u64 = 45_000_000;
/// Size of a disk block, bytes. File systems allocate whole blocks, so each small file takes one.
const BLOCK: u64 = 4096;

/// Result of a step.
enum Ended {
    /// Exit code. Zero means success.
    With(u8),
    /// Skipped. The step has printed the reason.
    NotTaken,
}

impl Ended {
    fn of(is_good: bool) -> Self {
        Self::With(u8::from(!is_good))
    }
}

type Step<'a> = (&'static str, Box<dyn Fn() -> Result<Ended> + 'a>);

/// Runs all steps, or without `keep_going` until the first failure.
pub fn check(ready: &Ready, workspace: &Path, with_tests: bool, keep_going: bool) -> Result<u8> {
    let total = Instant::now();
    let (mut failed, mut left_out) = (Vec::new(), Vec::new());
    let mut code = 0;
    for (name, step) in steps(ready, workspace, with_tests) {
        eprintln!("── {name}");
        let started = Instant::now();
        let outcome = match step()? {
            Ended::With(0) => "ok",
            Ended::With(ended) => {
                failed.push(name);
                code = if code == 0 { ended } else { code };
                "FAILED"
            }
            Ended::NotTaken => {
                left_out.push(name);
                "NOT CHECKED"
            }
        };
        eprintln!(
            "── {name}: {outcome}, {}",
            format_duration(started.elapsed())
        );
        if code != 0 && !keep_going {
            break;
        }
    }
    let total = format_duration(total.elapsed());
    if !failed.is_empty() {
        eprintln!("Failed: {} ({total}).", failed.join(", "));
    } else if left_out.is_empty() {
        eprintln!("Everything is in order ({total}).");
    } else {
        eprintln!(
            "What was checked is in order ({total}). Not checked: {}.",
            left_out.join(", ")
        );
    }
    Ok(code)
}

/// Returns the steps of CI, in their order.
fn steps<'a>(ready: &'a Ready, workspace: &'a Path, with_tests: bool) -> Vec<Step<'a>> {
    let step = |arguments: &'static [&'static str]| {
        move || finish(&mut cargo(ready, arguments)).map(Ended::With)
    };
    let clippy = step(&[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    let document = || {
        let mut command = cargo(ready, &["doc", "--workspace", "--no-deps"]);
        finish(command.env("RUSTDOCFLAGS", "-D warnings")).map(Ended::With)
    };
    let mut steps: Vec<Step<'a>> = vec![
        ("format", Box::new(step(&["fmt", "--all", "--check"]))),
        ("size", Box::new(|| size(workspace))),
        (
            "import cycles",
            Box::new(|| import_cycles(ready, workspace)),
        ),
        (
            "catalogs",
            Box::new(|| catalogs::check(workspace).map(Ended::of)),
        ),
        (
            "wording",
            Box::new(|| wording::check(workspace).map(Ended::of)),
        ),
        ("dependencies", Box::new(|| dependencies(ready))),
        ("clippy", Box::new(clippy)),
    ];
    if with_tests {
        steps.push(("tests", Box::new(|| test(ready, &[]).map(Ended::With))));
    }
    steps.push(("documentation", Box::new(document)));
    let without_engine = step(&[
        "clippy",
        "-p",
        "loadscope",
        "--no-default-features",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ]);
    steps.push(("without the embedded loader", Box::new(without_engine)));
    let browser = || web::check(ready).map(Ended::With);
    steps.push(("browser", Box::new(browser)));
    steps
}

/// Checks the dependencies by `deny.toml`: licenses, bans and sources, and known vulnerabilities if their database can be fetched.
fn dependencies(ready: &Ready) -> Result<Ended> {
    let works = |arguments: &[&str]| {
        let mut command = cargo(ready, arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !works(&["deny", "--version"]) {
        eprintln!(
            "cargo-deny is not installed, so the licences and sources of the dependencies are not checked. Install it with \
             `cargo install cargo-deny --locked`."
        );
        return Ok(Ended::NotTaken);
    }
    let mut command = cargo(ready, &["deny", "check", "--hide-inclusion-graph"]);
    command.args(["licenses", "bans", "sources"]);
    if works(&["deny", "fetch", "db"]) {
        command.arg("advisories");
    } else {
        eprintln!("The database of advisories cannot be reached, so they are not checked.");
    }
    finish(&mut command).map(Ended::With)
}

/// Checks for import cycles between the files of each crate.
fn import_cycles(ready: &Ready, workspace: &Path) -> Result<Ended> {
    let mut command = cargo(ready, &["metadata", "--no-deps", "--format-version", "1"]);
    let listed = command.output().context("cannot start cargo")?;
    anyhow::ensure!(listed.status.success(), "cargo metadata failed");
    let listed = String::from_utf8(listed.stdout).context("names of files are UTF-8")?;
    let mut code = 0;
    for root in import_cycles::roots(&listed)? {
        for cycle in import_cycles::find(&root)? {
            eprint!("Import cycle:\n{}", cycle.format(workspace));
            code = 1;
        }
    }
    if code != 0 {
        eprintln!("Move what both ends need into a file below both, or pass it as a value.");
    }
    Ok(Ended::With(code))
}

/// Checks the size of a clone's files, without the history.
fn size(workspace: &Path) -> Result<Ended> {
    let mut command = Command::new("git");
    let listed = command
        .args(["ls-files", "-z"])
        .current_dir(workspace)
        .stderr(Stdio::null())
        .output();
    let Some(listed) = listed.ok().filter(|listed| listed.status.success()) else {
        eprintln!("This is no clone, so which files belong to one is not known.");
        return Ok(Ended::NotTaken);
    };
    let listed = String::from_utf8(listed.stdout).context("names of files are UTF-8")?;
    let mut sizes = Vec::new();
    for name in listed.split_terminator('\0') {
        // Git lists removed files until the removal is committed.
        if let Ok(file) = fs::symlink_metadata(workspace.join(name)) {
            sizes.push((file.len(), name));
        }
    }
    let total = on_disk(&sizes);
    if total <= MOST_BYTES {
        return Ok(Ended::With(0));
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let largest = sizes.iter().take(10);
    let largest: Vec<String> = largest
        .map(|(bytes, name)| format!("{bytes:>9}  {name}"))
        .collect();
    eprintln!(
        "The files of a clone take {:.1} MB, and {:.0} are allowed. `cargo xtask pictures` makes pictures smaller. The largest are\n{}",
        total as f64 / 1e6,
        MOST_BYTES as f64 / 1e6,
        largest.join("\n")
    );
    Ok(Ended::With(1))
}

fn on_disk(sizes: &[(u64, &str)]) -> u64 {
    sizes
        .iter()
        .map(|(bytes, _)| bytes.next_multiple_of(BLOCK))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn git(folder: &Path, arguments: &[&str]) -> Result<()> {
        let mut command = Command::new("git");
        let status = command.args(arguments).current_dir(folder).status()?;
        anyhow::ensure!(status.success(), "git {arguments:?}");
        Ok(())
    }

    #[test]
    fn a_clone_larger_than_the_limit_fails() -> Result<()> {
        let home = tempfile::tempdir()?;
        let outcome = || size(home.path());
        assert!(matches!(outcome()?, Ended::NotTaken), "no clone yet");
        git(home.path(), &["init", "--quiet"])?;
        let file = fs::File::create(home.path().join("large"))?;
        file.set_len(MOST_BYTES / BLOCK * BLOCK)?;
        assert!(matches!(outcome()?, Ended::With(0)), "not part of it yet");
        git(home.path(), &["add", "--intent-to-add", "large"])?;
        assert!(
            matches!(outcome()?, Ended::With(0)),
            "as much as is allowed"
        );
        fs::write(home.path().join("small"), "x")?;
        git(home.path(), &["add", "--intent-to-add", "small"])?;
        assert!(matches!(outcome()?, Ended::With(1)), "a block too many");
        Ok(())
    }

    #[test]
    fn a_small_file_takes_a_block() {
        assert_eq!(
            on_disk(&[(0, "a"), (1, "b"), (4096, "c"), (4097, "d")]),
            4 * BLOCK
        );
    }
}
