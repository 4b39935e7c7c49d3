//! Python scripts that compare Loadscope with PyTorch and other readers, in the environments of [`pytorch`]. Each script describes its
//! options.

use std::env;
use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde_json::Value as Json;

use crate::pytorch::{self, succeed};
use crate::setup::{Ready, workspace};
use crate::steps;

/// Arguments of a script.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Options of the script. `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

impl Arguments {
    fn has(&self, option: &str) -> bool {
        let with_value = format!("{option}=");
        self.arguments
            .iter()
            .any(|one| one == option || one.to_string_lossy().starts_with(&with_value))
    }

    /// Removes an option, and returns its value.
    fn take(&mut self, option: &str) -> Result<Option<OsString>> {
        let found = find(&self.arguments, option)?;
        Ok(found.map(|(words, value)| {
            self.arguments.drain(words);
            value
        }))
    }

    /// Prepares a script with its arguments, and with an optimised Loadscope unless they name one.
    fn script(&self, ready: &Ready, python: &Path, name: &str) -> Result<Command> {
        let mut command = command(python, name);
        if !self.has("--loadscope") && !self.has("--help") {
            command
                .arg("--loadscope")
                .arg(built(ready, &["--release"])?);
        }
        command.args(&self.arguments);
        Ok(command)
    }
}

/// Finds `--option VALUE` or `--option=VALUE`. Returns the positions of its words, and its value. The last one counts, as in argparse.
fn find(arguments: &[OsString], option: &str) -> Result<Option<(Range<usize>, OsString)>> {
    let with_value = format!("{option}=");
    for (at, one) in arguments.iter().enumerate().rev() {
        if one == option {
            let value = arguments.get(at + 1);
            return match value.filter(|value| !value.to_string_lossy().starts_with('-')) {
                Some(value) => Ok(Some((at..at + 2, value.clone()))),
                None => bail!("{option} has no value. Write {option}=VALUE"),
            };
        }
        if let Some(value) = one.to_string_lossy().strip_prefix(&with_value) {
            return Ok(Some((at..at + 1, value.into())));
        }
    }
    Ok(None)
}

/// Records typical programs and writes tests/pytorch/KINDS.md.
pub fn kinds(ready: &Ready, arguments: Arguments) -> Result<u8> {
    typical(ready, arguments, "kinds.py", "KINDS.md")
}

/// Checks the verdicts on training runs with injected bottlenecks, tries the suggested changes, and writes tests/pytorch/CAUSES.md.
pub fn causes(ready: &Ready, arguments: Arguments) -> Result<u8> {
    typical(ready, arguments, "causes.py", "CAUSES.md")
}

fn typical(ready: &Ready, mut arguments: Arguments, name: &str, page: &str) -> Result<u8> {
    let python = match arguments.take("--python")? {
        Some(own) => own.into(),
        None => pytorch::with_libraries(&pytorch::cache()?)?,
    };
    let mut command = arguments.script(ready, &python, &format!("pytorch/{name}"))?;
    steps::finish(
        command
            .arg("--results")
            .arg(tests().join("pytorch").join(page)),
    )
}

/// Compares forecasts with real PyTorch, and writes tests/pytorch/TRUTH.md.
pub fn truth(ready: &Ready, arguments: &Arguments) -> Result<u8> {
    let python = pytorch::python(&pytorch::cache()?)?;
    steps::finish(&mut arguments.script(ready, &python, "pytorch/truth/compare.py")?)
}

/// Runs a script that generates programs, such as `lines`, and writes its page in tests/pytorch.
pub fn generated(ready: &Ready, arguments: &Arguments, name: &str) -> Result<u8> {
    let python = pytorch::python(&pytorch::cache()?)?;
    let mut command = arguments.script(ready, &python, &format!("pytorch/{name}.py"))?;
    let page = format!("pytorch/{}.md", name.to_uppercase());
    command
        .arg("--results")
        .arg(tests().join(page))
        .arg(&python);
    steps::finish(&mut command)
}

/// Runs programs with and without recording, in turn, and writes tests/pytorch/OVERHEAD.md.
pub fn overhead(ready: &Ready, arguments: &Arguments) -> Result<u8> {
    let python = pytorch::python(&pytorch::cache()?)?;
    let mut command = arguments.script(ready, &python, "pytorch/overhead.py")?;
    command
        .arg("--data")
        .arg(data(&python)?)
        .arg("--results")
        .arg(tests().join("pytorch/OVERHEAD.md"))
        .arg(&python);
    steps::finish(&mut command)
}

/// Runs random programs in PyTorch and in the engine. With `--write`, stores the result in tests/reference/DIFFERENTIAL.md.
pub fn differential(ready: &Ready, mut arguments: Arguments) -> Result<u8> {
    let python = pytorch::with_libraries(&pytorch::cache()?)?;
    let mut command = command(&python, "reference/differential.py");
    if let Some(at) = arguments.arguments.iter().position(|one| one == "--write") {
        arguments.arguments.remove(at);
        command
            .arg("--results")
            .arg(tests().join("reference/DIFFERENTIAL.md"));
    }
    command.args(&arguments.arguments);
    if !arguments.has("--help") {
        let parity = "test --workspace --exclude xtask --test parity --no-run";
        let parity: Vec<&str> = parity.split(' ').collect();
        let engine = executable(&mut steps::cargo(ready, &parity), "parity")?;
        command.arg("--engine").arg(engine);
    }
    steps::finish(&mut command)
}

/// Compares with PyTorch, dataloader-rs and Python readers, and writes tests/peers/RESULTS.md and FORMATS.md.
pub fn peers(ready: &Ready, arguments: &[OsString]) -> Result<u8> {
    let cache = pytorch::cache()?;
    let python = pytorch::python(&cache)?;
    let mut command = command(&python, "peers/compare.py");
    command.args(arguments);
    if arguments.iter().any(|one| one == "--help") {
        return steps::finish(&mut command);
    }
    let only = find(arguments, "--only")?;
    let only = only.map(|(_, names)| names.to_string_lossy().into_owned());
    let wants = |is_format: bool| {
        only.as_ref().is_none_or(|names| {
            names
                .split(',')
                .any(|name| name.starts_with("formats") == is_format)
        })
    };
    if wants(true) {
        command.arg("--formats").arg(prepared_formats(&cache)?);
    }
    if wants(false) {
        data(&python)?;
        let mimalloc = &["--features", "mimalloc"];
        command
            .arg("--pytorch")
            .arg(&python)
            .arg("--rust")
            .arg(dataloader_rs(ready, "peers", &[])?)
            .arg("--rust-mimalloc")
            .arg(dataloader_rs(ready, "peers-mimalloc", mimalloc)?);
    }
    let mut measure = steps::cargo(ready, &["bench", "--no-run", "--bench", "measure"]);
    command
        .arg("--measure")
        .arg(executable(
            measure.args(["-p", "loadscope-engine"]),
            "measure",
        )?)
        .arg("--libraries")
        .arg(ready.libtorch.join("lib"))
        .arg("--data")
        .arg(cache.join("data"));
    steps::finish(&mut command)
}

/// Prepares the Python readers and their input files.
fn prepared_formats(cache: &Path) -> Result<PathBuf> {
    let python = match env::var_os("LOADSCOPE_FORMATS_PYTHON") {
        Some(own) => own.into(),
        None => pytorch::with_formats(cache)?,
    };
    let mut make = command(&python, "peers/make_formats.py");
    succeed(
        make.arg(cache.join("data/formats")),
        "The data of the formats could not be made",
    )?;
    Ok(python)
}

/// Builds the dataloader-rs program in a separate target folder.
fn dataloader_rs(ready: &Ready, folder: &str, features: &[&str]) -> Result<PathBuf> {
    let mut cargo = steps::cargo(ready, &["build", "--release", "--locked"]);
    cargo
        .args(features)
        .arg("--manifest-path")
        .arg(tests().join("peers/Cargo.toml"))
        .arg("--target-dir")
        .arg(ready.target.join(folder));
    executable(&mut cargo, "loadscope-peers")
}

/// Creates the missing input files and returns their folder.
fn data(python: &Path) -> Result<PathBuf> {
    let data = pytorch::cache()?.join("data");
    let mut make = command(python, "peers/make_data.py");
    make.arg(workspace().join("assets/pictures")).arg(&data);
    succeed(&mut make, "The files to load could not be made")?;
    Ok(data)
}

/// Returns the folder of the tests.
pub fn tests() -> PathBuf {
    workspace().join("tests")
}

/// Prepares a script of `tests`. Its PyTorch must not load Loadscope's libtorch.
pub fn command(python: impl AsRef<OsStr>, script: &str) -> Command {
    let mut command = Command::new(python);
    command
        .arg("-B")
        .arg(tests().join(script))
        .env_remove("LD_LIBRARY_PATH");
    command
}

/// Builds Loadscope and returns the path of the executable.
pub fn built(ready: &Ready, options: &[&str]) -> Result<PathBuf> {
    let mut build = steps::cargo(ready, &["build", "--package", "loadscope"]);
    executable(build.args(options), "loadscope")
}

/// Runs cargo and returns the executable of a target from cargo's messages.
pub fn executable(cargo: &mut Command, target: &str) -> Result<PathBuf> {
    let output = cargo
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("Cargo could not be started")?;
    if !output.status.success() {
        bail!("The build of {target} failed. Its errors are above.");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line).ok());
    let mut executables = messages
        .filter(|message| message["target"]["name"] == target)
        .filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    executables
        .next_back()
        .with_context(|| format!("cargo named no executable of {target}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(words: &[&str]) -> Arguments {
        Arguments {
            arguments: words.iter().map(OsString::from).collect(),
        }
    }

    #[test]
    fn options_are_found_and_removed() -> Result<()> {
        for python in [&["--python", "python3"][..], &["--python=python3"]] {
            let rest = ["--loadscope=x", "--only", "jpeg"];
            let mut arguments = arguments(&[python, &rest].concat());
            assert!(arguments.has("--loadscope") && !arguments.has("--help"));
            assert_eq!(arguments.take("--python")?, Some("python3".into()));
            assert_eq!(arguments.take("--python")?, None);
            assert_eq!(arguments.arguments, rest);
        }
        Ok(())
    }

    #[test]
    fn options_are_parsed_as_by_argparse() -> Result<()> {
        for words in [&["jpeg", "--only"][..], &["--only", "--quick"]] {
            let error = arguments(words).take("--only").expect_err("no value");
            assert!(error.to_string().contains("--only has no value"));
        }
        for words in [
            &["--only", "w1", "--only", "formats"][..],
            &["--only", "w1", "--only=formats"],
        ] {
            assert_eq!(arguments(words).take("--only")?, Some("formats".into()));
        }
        Ok(())
    }

    /// The scripts need PyTorch only for their measurements.
    #[test]
    fn pages_of_forecasts_have_all_rows() -> Result<()> {
        let mut test = command(crate::python::find()?, "pytorch/truth/test_compare.py");
        assert!(test.status()?.success());
        let mut test = command(crate::python::find()?, "peers/test_compare.py");
        assert!(test.status()?.success());
        Ok(())
    }
}
