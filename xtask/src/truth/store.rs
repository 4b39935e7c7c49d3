//! Measurements, and the folder that contains them.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use super::setting::Setting;

/// All measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measurements {
    pub host: Host,
    /// Workloads by name.
    pub works: BTreeMap<String, WorkloadMeasurements>,
}

/// Host of the measurements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    pub processor: String,
    pub cores: usize,
    pub torch: String,
}

/// Measurements of one workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkloadMeasurements {
    pub recorded: Setting,
    /// Checksum of the program.
    #[serde(default)]
    pub program: u64,
    /// Times of the recorded run, as the program measured them.
    pub recording: Measurement,
    pub tried: Vec<Tried>,
}

/// Measured setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    pub setting: Setting,
    /// One entry per round.
    pub turns: Vec<Measurement>,
}

/// Output of one run of a program. Times are seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measurement {
    /// Time from before `iter(loader)` of the first epoch to the end of the last epoch.
    pub seconds: f64,
    /// Part of `seconds` outside of training steps.
    pub waited: f64,
    /// Time until the first batch.
    pub first: Option<f64>,
    /// Number of cores that other programs used during the run.
    pub others: f64,
    pub torch: String,
}

impl Host {
    /// Describes this host.
    pub fn here(torch: &str) -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let name = info
            .lines()
            .find_map(|line| line.strip_prefix("model name"))
            .map_or("unknown processor", |rest| {
                rest.trim_start_matches([' ', '\t', ':'])
            });
        Self {
            processor: name.to_owned(),
            cores: thread::available_parallelism().map_or(1, usize::from),
            torch: torch.to_owned(),
        }
    }
}

/// Folder with recordings and measurements.
pub struct Folder(PathBuf);

impl Folder {
    /// Creates the folder if it is missing.
    pub fn new(path: &Path) -> Result<Self> {
        fs::create_dir_all(path.join("recordings"))
            .with_context(|| format!("{} could not be made", path.display()))?;
        Ok(Self(path.to_owned()))
    }

    /// Opens a folder that an earlier run filled.
    pub fn existing(path: &Path) -> Result<Self> {
        let folder = Self(path.to_owned());
        let file = folder.file();
        match file.is_file() {
            true => Ok(folder),
            false => bail!(
                "{} does not exist. Measure first with --keep {}",
                file.display(),
                path.display()
            ),
        }
    }

    fn file(&self) -> PathBuf {
        self.0.join("measurements.json")
    }

    /// Returns the path of a workload's recording.
    pub fn recording(&self, name: &str) -> PathBuf {
        self.0.join("recordings").join(format!("{name}.jsonl.zst"))
    }

    /// Reads the measurements. Returns an empty set if the folder is new.
    pub fn measurements(&self) -> Result<Measurements> {
        let file = self.file();
        match fs::read_to_string(&file) {
            Ok(text) => serde_json::from_str(&text)
                .with_context(|| format!("{} is not what --keep writes", file.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Measurements::default()),
            Err(error) => {
                Err(error).with_context(|| format!("{} could not be read", file.display()))
            }
        }
    }

    /// Writes the measurements. Called after every round, because measuring takes long.
    pub fn save(&self, measured: &Measurements) -> Result<()> {
        let file = self.file();
        let half = file.with_extension("json.half");
        fs::write(&half, serde_json::to_string_pretty(measured)?)
            .and_then(|()| fs::rename(&half, &file))
            .with_context(|| format!("{} could not be written", file.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_round_trip() -> Result<()> {
        let home = tempfile::tempdir()?;
        assert!(
            Folder::existing(home.path()).is_err(),
            "nothing was kept there"
        );
        let folder = Folder::new(home.path())?;
        assert_eq!(folder.measurements()?, Measurements::default());
        let turn = Measurement {
            seconds: 1.5,
            waited: 1.0,
            first: None,
            others: 0.1,
            torch: "2.13.0".to_owned(),
        };
        let work = WorkloadMeasurements {
            recorded: Setting::workers(2),
            program: 7,
            recording: turn.clone(),
            tried: vec![Tried {
                setting: "num_workers=4,in_order=false".parse()?,
                turns: vec![turn],
            }],
        };
        let measured = Measurements {
            host: Host::here("2.13.0"),
            works: BTreeMap::from([("jpeg".to_owned(), work)]),
        };
        folder.save(&measured)?;
        assert_eq!(Folder::existing(home.path())?.measurements()?, measured);
        Ok(())
    }
}
