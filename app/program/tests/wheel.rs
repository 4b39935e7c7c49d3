//! Python package of the wheel. Its tests are in `tests/wheel`, and need a Python with PyTorch.

#![allow(clippy::print_stderr, reason = "a test says what it did not run")]

#[allow(dead_code, reason = "it needs PyTorch, not any Python")]
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::support::{ends, libraries, pytorch};

/// Timeout of a test file.
const DEADLINE: Duration = Duration::from_secs(1800);

/// Runs a test file with this interpreter, if there is one.
fn unittest(name: &str, python: Option<PathBuf>) {
    let Some(python) = python else {
        eprintln!(
            "There is no Python with PyTorch here, so {name} was not tested: cargo xtask setup --pytorch"
        );
        return;
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = std::fs::canonicalize(root).expect("the repository");
    let paths = [root.join("app/wheel/python"), root.join("tests/wheel")];
    let mut tests = Command::new(python);
    tests
        .args(["-m", "unittest", "-v", name])
        .current_dir(root.join("tests/wheel"))
        .env("PYTHONPATH", std::env::join_paths(paths).expect("paths"))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("LOADSCOPE_BINARY", env!("CARGO_BIN_EXE_loadscope"))
        .env_remove("LD_LIBRARY_PATH");
    let mut running = tests.spawn().expect("Python starts");
    ends(&mut running, DEADLINE);
    assert!(
        running.wait().is_ok_and(|s| s.success()),
        "{name}: see above"
    );
}

#[test]
fn the_python_package_records_its_own_program() {
    unittest("test_recording", pytorch());
}

#[test]
fn named_steps_of_a_dataset_are_recorded() {
    unittest("test_stages", pytorch());
}

#[test]
fn the_python_package_reads_recordings_exactly() {
    unittest("test_results", pytorch());
}

#[test]
#[cfg(target_os = "linux")]
fn a_recorder_may_read_the_memory_of_an_attached_program() {
    unittest("test_memory_access", pytorch());
}

#[test]
#[cfg(target_os = "linux")]
fn running_programs_are_recorded_after_attach() {
    unittest("test_attach", pytorch());
}

/// Frameworks that are not installed are skipped and reported.
#[test]
fn framework_callbacks_log_the_values_of_the_report() {
    unittest("test_frameworks", libraries());
}
