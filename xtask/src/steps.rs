//! The commands: cargo with its arguments and environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use crate::deadline;
use crate::exit::code_of;
use crate::setup::Ready;
use crate::{packages, pictures, python};

/// Builds and starts the program. Without arguments, it starts with the demo.
pub fn run(ready: &Ready, release: bool, arguments: &[OsString]) -> Result<u8> {
    let mut command = cargo(ready, &["run", "--package", "loadscope"]);
    if release {
        command.arg("--release");
    }
    finish(command.arg("--").args(or_demo(arguments)))
}

/// Returns the arguments, or `demo` without arguments.
fn or_demo(arguments: &[OsString]) -> Vec<OsString> {
    match arguments {
        [] => vec!["demo".into()],
        _ => arguments.to_vec(),
    }
}

/// Runs the benchmarks.
pub fn bench(ready: &Ready, arguments: &[OsString]) -> Result<u8> {
    let mut command = cargo(ready, &["bench"]);
    if !names_a_package(arguments) {
        command.args([
            "-p",
            "loadscope",
            "-p",
            "loadscope-engine",
            "-p",
            "loadscope-trace",
        ]);
    }
    finish(command.args(arguments))
}

/// Runs the lesson tool. Paths are relative to the working folder of the user.
pub fn lesson(workspace: &Path, arguments: &[OsString]) -> Result<u8> {
    let example = [
        "run",
        "--quiet",
        "--package",
        "loadscope-lessons",
        "--example",
        "lesson",
    ];
    let mut command = plain_cargo(&example);
    command
        .arg("--manifest-path")
        .arg(workspace.join("Cargo.toml"));
    finish(command.arg("--").args(arguments))
}

/// Exports a recording and reads the files with other programs.
pub fn readers(ready: &Ready, workspace: &Path) -> Result<u8> {
    let built = finish(&mut cargo(ready, &["build", "--package", "loadscope"]))?;
    if built != 0 {
        return Ok(built);
    }
    let program = ready
        .target
        .join("debug")
        .join(format!("loadscope{}", env::consts::EXE_SUFFIX));
    let mut check = Command::new(python::find()?);
    check
        .arg(workspace.join("tests/readers/check.py"))
        .arg(program);
    check.arg("--environment").arg(ready.target.join("readers"));
    finish(&mut check)
}

/// Runs all tests of the window and updates their reference images.
pub fn screenshots(ready: &Ready, workspace: &Path) -> Result<u8> {
    // The arguments select tests in the whole workspace. A package alone has other features and would be compiled again.
    let of_window = [
        "--workspace",
        "--exclude",
        "xtask",
        "--no-fail-fast",
        "--test",
        "all",
        "--test",
        "chinese",
    ];
    let mut command = cargo_test(ready, &of_window)?;
    prepare_pictures(&mut command, ready)?;
    let drawn = finish(command.env("UPDATE_SNAPSHOTS", "true"))?;
    // The images are compressed even after a failed test, because other tests have drawn images.
    let shrunk = pictures::shrink(workspace)?;
    Ok(if drawn == 0 { shrunk } else { drawn })
}

/// Prepares cargo with the environment of a plain call from the user's shell.
pub fn cargo(ready: &Ready, arguments: &[&str]) -> Command {
    let mut command = plain_cargo(arguments);
    for name in &ready.hidden {
        command.env_remove(name);
    }
    if cfg!(windows) {
        // Windows has no rpath and finds libraries through the PATH.
        let mut path = vec![ready.libtorch.join("lib")];
        path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
        if let Ok(path) = env::join_paths(path) {
            command.env("PATH", path);
        }
    }
    command
}

/// Prepares `cargo test` with a deadline for each test.
pub fn cargo_test(ready: &Ready, arguments: &[&str]) -> Result<Command> {
    let mut command = cargo(ready, &["test"]);
    command.args(deadline::runner()?).args(arguments);
    Ok(command)
}

/// Prepares cargo without libtorch.
pub fn plain_cargo(arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments);
    for (name, _) in env::vars_os() {
        if is_of_this_run(&name) {
            command.env_remove(name);
        }
    }
    command
}

/// Returns true for variables that cargo set for xtask. Build scripts could mistake them for their own.
fn is_of_this_run(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_"]
        .iter()
        .any(|start| name.starts_with(start))
        || ["CARGO_CRATE_NAME", "CARGO_PRIMARY_PACKAGE", "OUT_DIR"].contains(&&*name)
}

/// Returns true if the arguments before `--` select packages.
pub fn names_a_package(arguments: &[OsString]) -> bool {
    arguments
        .iter()
        .map(|argument| argument.to_string_lossy())
        .take_while(|argument| argument != "--")
        .any(|argument| {
            argument == "--package"
                || argument.starts_with("--package=")
                || (argument.starts_with("-p") && !argument.starts_with("--"))
        })
}

/// Sets the environment in which images are equal on every host.
pub fn prepare_pictures(command: &mut Command, ready: &Ready) -> Result<()> {
    command.env("LIBGL_ALWAYS_SOFTWARE", "1");
    if let Some(driver) = packages::lavapipe() {
        // The loader's current name of the variable, and the name for older loaders.
        command.env("VK_DRIVER_FILES", &driver);
        command.env("VK_ICD_FILENAMES", &driver);
    }
    if cfg!(unix) && env::var_os("XDG_RUNTIME_DIR").is_none() {
        let folder = ready.target.join("runtime");
        private_folder(&folder).with_context(|| {
            format!(
                "The folder {} could not be made. Make its parent writable",
                folder.display()
            )
        })?;
        command.env("XDG_RUNTIME_DIR", folder);
    }
    Ok(())
}

fn private_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Runs a command and returns its exit code, like a shell.
pub fn finish(command: &mut Command) -> Result<u8> {
    let status = command.status().with_context(|| {
        format!(
            "{} could not be started. Install Rust from https://rustup.rs",
            command.get_program().display()
        )
    })?;
    Ok(code_of(status))
}

/// Formats a duration in seconds or minutes.
pub fn format_duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    if seconds < 60.0 {
        format!("{seconds:.1} s")
    } else {
        format!(
            "{:.0} min {:02.0} s",
            (seconds / 60.0).floor(),
            seconds % 60.0
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_only_before_the_dashes() {
        let names = |line: &[&str]| {
            let line: Vec<_> = line.iter().map(OsString::from).collect();
            names_a_package(&line)
        };
        assert!(names(&["-p", "loadscope"]) && names(&["-ploadscope"]));
        assert!(names(&["--package=loadscope", "--", "x"]));
        assert!(!names(&["name", "--", "-p"]));
        assert!(!names(&["--profile", "release"]));
    }

    #[test]
    fn run_without_arguments_starts_the_demo() {
        assert_eq!(or_demo(&[]), ["demo"]);
        assert_eq!(or_demo(&["open".into()]), ["open"]);
    }

    #[test]
    fn variables_of_this_run_do_not_reach_the_build() {
        assert!(is_of_this_run("CARGO_PKG_VERSION".as_ref()));
        assert!(is_of_this_run("CARGO_MANIFEST_DIR".as_ref()));
        for kept in ["CARGO_TARGET_DIR", "CARGO_HOME", "CARGO_BUILD_JOBS", "PATH"] {
            assert!(!is_of_this_run(kept.as_ref()), "{kept}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn exit_codes_are_passed_on() -> Result<()> {
        let code = |script: &str| finish(Command::new("sh").args(["-c", script]));
        assert_eq!(code("exit 0")?, 0);
        assert_eq!(code("exit 101")?, 101);
        assert_eq!(code("kill -9 $$")?, 137);
        Ok(())
    }

    #[test]
    fn durations_are_readable() {
        assert_eq!(format_duration(Duration::from_millis(1240)), "1.2 s");
        assert_eq!(format_duration(Duration::from_secs(187)), "3 min 07 s");
    }
}
