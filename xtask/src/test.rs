//! Every test, and the fast faults.

use std::ffi::OsString;

use anyhow::Result;

use crate::setup::Ready;
use crate::steps::{cargo_test, finish, names_a_package, prepare_pictures};

/// Tests of the loader's threads in thousands of orders. They need a build of their own, with the explorer's threads.
const EXPLORE: [&str; 6] = [
    "--package",
    "loadscope-engine",
    "--features",
    "explore",
    "--test",
    "explore",
];

/// The tests of the program without the embedded loader. They run first: the faults need the complete program, which the last build makes.
const WITHOUT_ENGINE: [&str; 5] = [
    "-p",
    "loadscope",
    "-p",
    "loadscope-session",
    "--no-default-features",
];

/// Runs every test. With arguments, runs the tests that they select, without those of xtask and without the faults.
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
        // Not xtask: Windows does not let a program that runs be built anew.
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

/// The faults that CI injects into the program, which the tests have built.
#[cfg(target_os = "linux")]
fn faults(ready: &Ready) -> Result<u8> {
    crate::faults::run(
        ready,
        &crate::setup::workspace(),
        &crate::faults::Options::fast(),
    )
}

/// Elsewhere there is no way to inject them.
#[cfg(not(target_os = "linux"))]
fn faults(_: &Ready) -> Result<u8> {
    Ok(0)
}
