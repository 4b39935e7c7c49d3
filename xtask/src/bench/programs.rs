//! The three programs: building or installing them, and one turn of one of them.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::turn::{Cost, Turn};
use crate::pytorch::{self, succeed};
use crate::setup::Ready;
use crate::steps;

/// Who does the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Loadscope,
    Pytorch,
    DataloaderRs,
    /// With the allocator that Loadscope has.
    DataloaderRsMimalloc,
    /// What reads a format in Python.
    Counterpart,
}

/// One way of doing a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub program: Program,
    /// The name of the work for this program.
    pub work: &'static str,
    pub workers: u8,
    /// `off`, `events` (told and dropped) or `log` (sorted, written and compressed).
    pub recording: &'static str,
}

impl Program {
    /// dataloader-rs shuffles with random numbers of its own.
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
            self.program, self.work, self.workers
        )?;
        if self.recording != "off" {
            write!(f, ", recording: {}", self.recording)?;
        }
        Ok(())
    }
}

/// Where the programs and the files they read are.
pub struct Programs {
    ours: PathBuf,
    libraries: PathBuf,
    peers: Option<Peers>,
    formats: Option<Script>,
    data: PathBuf,
}

/// What other loaders are.
struct Peers {
    pytorch: Script,
    dataloader_rs: PathBuf,
    dataloader_rs_mimalloc: PathBuf,
}

/// A script and what runs it.
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

/// What is prepared.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// The other loaders.
    pub peers: bool,
    /// What reads formats in Python.
    pub formats: bool,
}

impl Programs {
    /// Builds, installs and makes what is missing.
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

    /// Lets a program do its task once.
    pub fn run(&self, task: &Task, share: f64, seconds: f64) -> Result<Turn> {
        let mut command = match task.program {
            Program::Loadscope => {
                let mut command = Command::new(&self.ours);
                // Cargo would do the same for the programs that it starts.
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
                // Our own libtorch must not become that of PyTorch; nothing is asked of a network.
                command
                    .env_remove("LD_LIBRARY_PATH")
                    .env("HF_HUB_OFFLINE", "1");
                command
            }
        };
        command
            .arg(format!("work={}", task.work))
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
            Some(said) if output.status.success() => turn(&said),
            _ => bail!("{task} ended with {} and said {text:?}", output.status),
        }
    }
}

/// What a program said.
fn turn(said: &Json) -> Result<Turn> {
    let number = |name: &str| said.get(name).and_then(Json::as_u64);
    Ok(Turn {
        value: said
            .get("value")
            .and_then(Json::as_f64)
            .with_context(|| format!("there is no figure in {said}"))?,
        same: number("sum").zip(number("order")),
        lost: number("lost").unwrap_or(0),
        cost: Cost::of(said),
    })
}

/// The other loaders, and the files they read.
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

/// What reads formats in Python, and the files.
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

/// Builds the program around dataloader-rs in a target folder of its own.
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

/// Runs cargo and gives the executable of a target, wherever cargo put it.
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

/// The files to load, made by `python` where they are missing.
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
    fn a_turn_is_read_with_all_that_the_program_tells() -> Result<()> {
        let mut said: Json =
            serde_json::from_str(r#"{"value": 2.5, "sum": 7, "order": 9, "lost": 1}"#)?;
        let mut expected = Turn {
            value: 2.5,
            same: Some((7, 9)),
            lost: 1,
            cost: None,
        };
        assert_eq!(turn(&said)?, expected);
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
        assert_eq!(turn(&said)?, expected);
        assert!(turn(&serde_json::json!({"sum": 7})).is_err());
        Ok(())
    }
}
