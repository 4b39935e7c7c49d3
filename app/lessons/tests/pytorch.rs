//! Test that PyTorch prints the stored outputs of the lessons' programs. Without PyTorch, the test prints a note.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use loadscope_lessons::{BuiltInPrograms, ProgramCatalog};

/// All programs together take half a minute on an idle host.
const DEADLINE: Duration = Duration::from_secs(600);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../assets/lessons/code")
}

/// Returns the Python of `LOADSCOPE_PROBE_PYTHON`, or the one of `cargo xtask setup --pytorch`.
fn pytorch() -> Option<PathBuf> {
    if let Some(own) = std::env::var_os("LOADSCOPE_PROBE_PYTHON") {
        return Some(own.into());
    }
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = folder("LOADSCOPE_CACHE")
        .or_else(|| Some(folder("XDG_CACHE_HOME")?.join("loadscope")))
        .or_else(|| Some(folder("HOME")?.join(".cache/loadscope")))?;
    let python = cache.join("peers/venv/bin/python");
    let check = "import torch; assert torch.__version__.startswith('2.13.')";
    let mut asked = Command::new(&python);
    asked
        .args(["-c", check])
        .env_remove("LD_LIBRARY_PATH")
        .stderr(Stdio::null());
    asked.status().is_ok_and(|s| s.success()).then_some(python)
}

#[test]
fn programs_print_their_stored_output() {
    let Some(python) = pytorch() else {
        // No other test may print that it was skipped.
        println!(
            "not compared: no Python with PyTorch 2.13; `cargo xtask setup --pytorch` makes one"
        );
        return;
    };
    let mut command = Command::new(python);
    command
        .arg(folder().join("run.py"))
        .arg("--check")
        .env_remove("LD_LIBRARY_PATH");
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("Python starts");
    let begun = Instant::now();
    while child.try_wait().expect("it can be asked").is_none() {
        if begun.elapsed() > DEADLINE {
            child.kill().expect("it can be ended");
            panic!("the programs of the lessons did not end within {DEADLINE:?}");
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let done = child.wait_with_output().expect("it has ended");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{out}\n{err}");
}

#[test]
fn every_program_is_built_in_and_has_an_output() {
    let files = std::fs::read_dir(folder())
        .expect("the folder is there")
        .flatten();
    let mut names: Vec<String> = files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".py") && name != "run.py")
        .map(|name| name.trim_end_matches(".py").to_owned())
        .collect();
    names.sort();
    let mut known: Vec<&str> = BuiltInPrograms::names().collect();
    known.sort_unstable();
    assert_eq!(names, known);
    for name in known {
        let code = BuiltInPrograms.code(name).expect("it is known");
        assert!(!code.output.trim().is_empty(), "{name} printed nothing");
    }
}
