//! Every test, and the fast faults.

use std::ffi::OsString;

use anyhow::Result;

use crate::setup::Ready;
use crate::steps::{cargo, finish, names_a_package, prepare_pictures};

/// The loader's threads in thousands of orders. A build of its own: nothing else works with the explorer's threads.
const EXPLORE: [&str; 7] = [
    "test",
    "--package",
    "loadscope-engine",
    "--features",
    "explore",
    "--test",
    "explore",
];

/// The tests of the program without the embedded loader. They come first, so that the program that the faults are injected into is the
/// whole one.
const WITHOUT_ENGINE: [&str; 6] = [
    "test",
    "-p",
    "loadscope",
    "-p",
    "loadscope-session",
    "--no-default-features",
];

/// Every test; xtask's own ones, and the injected faults, only when no argument selects others.
pub fn test(ready: &Ready, arguments: &[OsString]) -> Result<u8> {
    let own = match arguments {
        [] => finish(&mut cargo(ready, &["test", "--package", "xtask"]))?,
        _ => 0,
    };
    let without_engine = match arguments {
        [] => finish(&mut cargo(ready, &WITHOUT_ENGINE))?,
        _ => 0,
    };
    let mut command = cargo(ready, &["test"]);
    if !names_a_package(arguments) {
        // Not xtask: Windows does not let a program that runs be built anew.
        command.args(["--workspace", "--exclude", "xtask"]);
    }
    prepare_pictures(&mut command, ready)?;
    let others = finish(command.args(arguments))?;
    let explored = match arguments {
        [] if others == 0 => finish(&mut cargo(ready, &EXPLORE))?,
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
