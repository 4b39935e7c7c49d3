//! The compared programs: their build or installation, and single runs.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::measurement::{Cost, Measurement};
use crate::pytorch::{self, succeed};
use crate::setup::Ready;
use crate::steps;

/// Program that runs a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Loadscope,
    Pytorch,
    DataloaderRs,
    /// dataloader-rs with mimalloc, Loadscope's allocator.
    DataloaderRsMimalloc,
    /// Python reader of a data format.
    Counterpart,
}

/// Workload for one program with fixed settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub program: Program,
    /// Name of the workload for this program.
    pub workload: &'static str,
    pub workers: u8,
    /// `off`, `events` (received and dropped) or `log` (sorted, compressed and written).
    pub recording: &'static str,
}

impl Program {
    /// Returns true for dataloader-rs, which shuffles with its own random numbers.
    pub fn has_its_own_order(self) -> bool {
        matches!(self, Self::DataloaderRs | Self::DataloaderRsMimalloc)
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loadscope => "Loadscope",
            Self::Pytorch => "PyTorch",
            Self::DataloaderRs => "dataloader-rs",
            Self::DataloaderRsMimalloc => "dataloader-rs + mimalloc",
            Self::Counterpart => "the counterpart",
        })
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {}, {} workers",
            self.program, self.workload, self.workers
        )?;
        if self.recording != "off" {
            write!(f, ", recording: {}", self.recording)?;
        }
        Ok(())
    }
}

/// Paths of the programs and of their input files.
pub struct Programs {
    ours: PathBuf,
    libraries: PathBuf,
    peers: Option<Peers>,
    formats: Option<Script>,
    data: PathBuf,
}

/// The other loaders, PyTorch and dataloader-rs.
struct Peers {
    pytorch: Script,
    dataloader_rs: PathBuf,
    dataloader_rs_mimalloc: PathBuf,
}

/// Script with its Python interpreter.
struct Script {
    python: PathBuf,
    path: PathBuf,
}

impl Script {
    fn command(&self) -> Command {
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(&self.path);
        command
    }
}

/// Programs to prepare.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// Other loaders.
    pub peers: bool,
    /// Python readers of data formats.
    pub formats: bool,
}

impl Programs {
    /// Builds and installs missing programs, and creates missing input files.
    pub fn prepare(ready: &Ready, workspace: &Path, needs: Needs) -> Result<Self> {
        let cache = pytorch::cache()?;
        let folder = workspace.join("tests/peers");
        let formats = needs
            .formats
            .then(|| prepare_formats(&folder, &cache))
            .transpose()?;
        let peers = needs
            .peers
            .then(|| prepare_peers(ready, workspace, &folder, &cache))
            .transpose()?;
        Ok(Self {
            ours: built(
                steps::cargo(ready, &["bench", "--no-run", "--bench", "measure"])
                    .args(["-p", "loadscope-engine"]),
                "measure",
            )?,
            libraries: ready.libtorch.join("lib"),
            peers,
            formats,
            data: cache.join("data"),
        })
    }

    fn peers(&self) -> Result<&Peers> {
        self.peers.as_ref().context("the peers are not installed")
    }

    /// Runs a task once.
    pub fn run(&self, task: &Task, share: f64, seconds: f64) -> Result<Measurement> {
        let mut command = match task.program {
            Program::Loadscope => {
                let mut command = Command::new(&self.ours);
                // Cargo sets the same variable for the programs that it starts.
                command.env("LD_LIBRARY_PATH", &self.libraries);
                command.arg(format!("recording={}", task.recording));
                command
            }
            Program::Pytorch => self.peers()?.pytorch.command(),
            Program::DataloaderRs => Command::new(&self.peers()?.dataloader_rs),
            Program::DataloaderRsMimalloc => Command::new(&self.peers()?.dataloader_rs_mimalloc),
            Program::Counterpart => {
                let script = self
                    .formats
                    .as_ref()
                    .context("the counterparts are not installed")?;
                let mut command = script.command();
                // PyTorch must not load Loadscope's libtorch. The counterpart must not access the network.
                command
                    .env_remove("LD_LIBRARY_PATH")
                    .env("HF_HUB_OFFLINE", "1");
                command
            }
        };
        command
            .arg(format!("work={}", task.workload))
            .arg(format!("workers={}", task.workers))
            .arg(format!("share={share}"))
            .arg(format!("seconds={seconds}"))
            .arg(format!("data={}", self.data.display()))
            .stderr(Stdio::inherit());
        let output = command
            .output()
            .with_context(|| format!("{} could not be started", task.program))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let said: Option<Json> = text
            .lines()
            .last()
            .and_then(|line| serde_json::from_str(line).ok());
        match said {
            Some(said) if output.status.success() => measurement(&said),
            _ => bail!("{task} ended with {} and said {text:?}", output.status),
        }
    }
}

/// Parses the output of a program.
fn measurement(said: &Json) -> Result<Measurement> {
    let number = |name: &str| said.get(name).and_then(Json::as_u64);
    Ok(Measurement {
        value: said
            .get("value")
            .and_then(Json::as_f64)
            .with_context(|| format!("there is no figure in {said}"))?,
        checksums: number("sum").zip(number("order")),
        lost: number("lost").unwrap_or(0),
        cost: Cost::of(said),
    })
}

/// Prepares the other loaders and their input files.
fn prepare_peers(ready: &Ready, workspace: &Path, folder: &Path, cache: &Path) -> Result<Peers> {
    let python = pytorch::python(cache)?;
    data(&python, workspace, cache)?;
    let mimalloc = &["--features", "mimalloc"];
    Ok(Peers {
        pytorch: Script {
            python,
            path: folder.join("pytorch.py"),
        },
        dataloader_rs: dataloader_rs(ready, folder, "peers", &[])?,
        dataloader_rs_mimalloc: dataloader_rs(ready, folder, "peers-mimalloc", mimalloc)?,
    })
}

/// Prepares the Python readers and their input files.
fn prepare_formats(folder: &Path, cache: &Path) -> Result<Script> {
    let python = match env::var_os("LOADSCOPE_FORMATS_PYTHON") {
        Some(own) => own.into(),
        None => pytorch::with_formats(cache)?,
    };
    let mut make = Command::new(&python);
    make.arg("-B")
        .arg(folder.join("make_formats.py"))
        .arg(cache.join("data/formats"))
        .env_remove("LD_LIBRARY_PATH");
    succeed(&mut make, "The data of the formats could not be made")?;
    let path = folder.join("formats.py");
    Ok(Script { python, path })
}

/// Builds the dataloader-rs program in a separate target folder.
fn dataloader_rs(ready: &Ready, peers: &Path, folder: &str, features: &[&str]) -> Result<PathBuf> {
    let mut cargo = steps::cargo(ready, &["build", "--release", "--locked"]);
    cargo
        .args(features)
        .arg("--manifest-path")
        .arg(peers.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(ready.target.join(folder));
    built(&mut cargo, "loadscope-peers")
}

/// Runs cargo and returns the executable of a target from cargo's messages.
pub fn built(cargo: &mut Command, target: &str) -> Result<PathBuf> {
    let output = cargo
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("Cargo could not be started")?;
    if !output.status.success() {
        bail!("The build of {target} failed. Its errors are above.");
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let executable = text
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line).ok())
        .filter(|message| message["target"]["name"] == target)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.with_context(|| format!("cargo did not say where {target} is"))
}

/// Creates the missing input files and returns their folder.
pub fn data(python: &Path, workspace: &Path, cache: &Path) -> Result<PathBuf> {
    let data = cache.join("data");
    let mut make = Command::new(python);
    make.arg("-B")
        .arg(workspace.join("tests/peers/make_data.py"))
        .arg(workspace.join("assets/pictures"))
        .arg(&data);
    succeed(&mut make, "The files to load could not be made")?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_read_with_all_fields() -> Result<()> {
        let mut said: Json =
            serde_json::from_str(r#"{"value": 2.5, "sum": 7, "order": 9, "lost": 1}"#)?;
        let mut expected = Measurement {
            value: 2.5,
            checksums: Some((7, 9)),
            lost: 1,
            cost: None,
        };
        assert_eq!(measurement(&said)?, expected);
        let names = [
            "cost",
            "batch",
            "loading",
            "recorded_loading",
            "listening",
            "batch_events",
        ];
        for (number, name) in names.into_iter().enumerate() {
            said[name] = number.into();
        }
        expected.cost = Some(Cost {
            slower: 0.0,
            batch: 1.0,
            loading: 2.0,
            recorded_loading: 3.0,
            listening: 4.0,
            events: 5.0,
        });
        assert_eq!(measurement(&said)?, expected);
        assert!(measurement(&serde_json::json!({"sum": 7})).is_err());
        Ok(())
    }
}
