//! The command that runs all tests, and the fast faults.

use std::ffi::OsString;

use anyhow::Result;

use crate::setup::Ready;
use crate::steps::{cargo_test, finish, names_a_package, prepare_pictures};

/// Tests of the loader's threads in thousands of interleavings. They need a separate build with the explorer's threads.
const EXPLORE: [&str; 6] = [
    "--package",
    "loadscope-engine",
    "--features",
    "explore",
    "--test",
    "explore",
];

/// Tests of the program without the embedded loader. They run first, because the faults need the complete program, which the last build
/// makes.
const WITHOUT_ENGINE: [&str; 5] = [
    "-p",
    "loadscope",
    "-p",
    "loadscope-session",
    "--no-default-features",
];

/// Runs all tests. With arguments, runs the selected tests, without those of xtask and without the faults.
pub fn test(ready: &Ready, arguments: &[OsString]) -> Result<u8> {
    let own = match arguments {
        [] => finish(&mut cargo_test(ready, &["--package", "xtask"])?)?,
        _ => 0,
    };
    let without_engine = match arguments {
        [] => finish(&mut cargo_test(ready, &WITHOUT_ENGINE)?)?,
        _ => 0,
    };
    let mut command = cargo_test(ready, &[])?;
    if !names_a_package(arguments) {
        // Xtask is excluded, because Windows cannot replace a running program.
        command.args(["--workspace", "--exclude", "xtask"]);
    }
    prepare_pictures(&mut command, ready)?;
    let others = finish(command.args(arguments))?;
    let explored = match arguments {
        [] if others == 0 => finish(&mut cargo_test(ready, &EXPLORE)?)?,
        _ => 0,
    };
    let faults = match arguments {
        [] if others == 0 => faults(ready)?,
        _ => 0,
    };
    Ok([others, without_engine, explored, own, faults]
        .into_iter()
        .find(|code| *code != 0)
        .unwrap_or(0))
}

/// Injects the faults of CI into the program that the tests have built.
#[cfg(target_os = "linux")]
fn faults(ready: &Ready) -> Result<u8> {
    crate::faults::run(
        ready,
        &crate::setup::workspace(),
        &crate::faults::Options::fast(),
    )
}

/// Faults can be injected only on Linux.
#[cfg(not(target_os = "linux"))]
fn faults(_: &Ready) -> Result<u8> {
    Ok(0)
}
