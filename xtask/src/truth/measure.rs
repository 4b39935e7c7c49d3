//! Recording a workload, and running it with other settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::kept::{Folder, Host, Measurements, Tried, Turn, Work};
use super::predict;
use super::process::succeeds;
use super::setting::Setting;
use super::workloads::Workload;

/// So long a program has. It takes a few seconds; spawned workers on a busy host take a minute.
const DEADLINE: Duration = Duration::from_secs(240);

/// What it takes to measure.
pub struct Lab<'a> {
    pub python: PathBuf,
    pub program: PathBuf,
    pub loadscope: PathBuf,
    pub folder: &'a Folder,
    pub rounds: u32,
}

impl Lab<'_> {
    /// Records a workload once, then runs all its settings in turn, round after round. The setting that Loadscope recommends is among
    /// them, whichever that is.
    pub fn measure(&self, work: &Workload, measured: &mut Measurements) -> Result<()> {
        let (data, recording) = self.recorded(work)?;
        measured.host = Host::here(&recording.torch);
        let mut settings = work.settings()?;
        let told = predict::of(
            &self.loadscope,
            &self.folder.recording(work.name),
            &settings,
        )?;
        if !settings.contains(&told.recommended) {
            settings.push(told.recommended);
        }
        let tried = settings.into_iter().map(|setting| Tried {
            setting,
            turns: Vec::new(),
        });
        let mut kept = Work {
            recorded: work.recorded,
            program: self.version(work)?,
            recording,
            tried: tried.collect(),
        };
        let mut failures = 0;
        for round in 1..=self.rounds {
            // There and back: what drifts over a round does not always strike the same ones.
            let mut order: Vec<usize> = (0..kept.tried.len()).collect();
            if round % 2 == 0 {
                order.reverse();
            }
            for at in order {
                let one = &mut kept.tried[at];
                let name = format!("{} {round}/{}: {}", work.name, self.rounds, one.setting);
                // One that fails must not take the others with it.
                match self.turn(work, data.path(), one.setting) {
                    Ok(turn) => {
                        let (took, others) = (turn.seconds, turn.others);
                        eprintln!("{name}: {took:.3} s, others used {others:.1} cores");
                        one.turns.push(turn);
                    }
                    Err(error) => {
                        eprintln!("{name}: {error:#}");
                        failures += 1;
                    }
                }
            }
            measured.works.insert(work.name.to_owned(), kept.clone());
            self.folder.keep(measured)?;
        }
        ensure!(failures == 0, "{failures} runs of {} failed", work.name);
        Ok(())
    }

    /// Records a workload anew; what was measured of its settings stays.
    pub fn record_only(&self, work: &Workload, measured: &mut Measurements) -> Result<()> {
        let Some(kept) = measured.works.get_mut(work.name) else {
            bail!(
                "no result of {} is stored. Measure it without --record-only",
                work.name
            );
        };
        ensure!(
            kept.program == self.version(work)?,
            "the program of {} has changed since its settings were measured. Measure them again without --record-only",
            work.name
        );
        let (_, recording) = self.recorded(work)?;
        kept.recording = recording;
        self.folder.keep(measured)
    }

    /// Writes the files that a workload reads, and records it. What the program said of its time, and the folder of those files.
    fn recorded(&self, work: &Workload) -> Result<(TempDir, Turn)> {
        let data = tempfile::tempdir()?;
        let mut prepare = self.python();
        prepare.args(["--prepare", work.name]).arg(data.path());
        succeeds(&mut prepare, DEADLINE)?;
        // Reading the files for the first time is no part of it.
        self.turn(work, data.path(), work.recorded)?;
        eprintln!("{}: recording {}", work.name, work.recorded);
        let recording = self.record(work, data.path())?;
        Ok((data, recording))
    }

    /// What the program of a workload is like.
    fn version(&self, work: &Workload) -> Result<u64> {
        let module = self.program.with_file_name("workloads").join(work.name);
        let module = module.with_extension("py");
        let text =
            fs::read(&module).with_context(|| format!("{} could not be read", module.display()))?;
        Ok(checksum(&text))
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        // Our own libtorch must not become that of PyTorch.
        command
            .arg("-B")
            .arg(&self.program)
            .env_remove("LD_LIBRARY_PATH");
        command
    }

    fn turn(&self, work: &Workload, data: &Path, setting: Setting) -> Result<Turn> {
        let mut command = self.python();
        command.arg(work.name).arg(data).args(setting.arguments());
        said(&succeeds(&mut command, DEADLINE)?)
    }

    fn record(&self, work: &Workload, data: &Path) -> Result<Turn> {
        let target = self.folder.recording(work.name);
        let mut command = Command::new(&self.loadscope);
        command
            .args(["record", "--force", "-o"])
            .arg(&target)
            .arg("--")
            .arg(&self.python)
            .arg("-B")
            .arg(&self.program)
            .arg(work.name)
            .arg(data)
            .args(work.recorded.arguments())
            .env_remove("LD_LIBRARY_PATH");
        let text = succeeds(&mut command, DEADLINE)?;
        let size = fs::metadata(&target).map_or(0, |about| about.len());
        ensure!(size > 0, "{} was not recorded", work.name);
        said(&text)
    }
}

/// FNV-1a: the same number everywhere.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The last line that is an object of JSON: behind it the recorder may have said something.
fn said(text: &str) -> Result<Turn> {
    let line = text.lines().rev().find(|line| line.starts_with('{'));
    let line =
        line.with_context(|| format!("the program did not say how long it took, but {text:?}"))?;
    serde_json::from_str(line).with_context(|| format!("the program said {line:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_has_another_checksum() {
        // The published value of FNV-1a for this text.
        assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
        assert_ne!(checksum(b"SAMPLES = 1280"), checksum(b"SAMPLES = 2560"));
    }

    #[test]
    fn the_last_object_is_what_a_program_says() -> Result<()> {
        let text = "loss 2\n{\"seconds\": 1.5, \"waited\": 1.0, \"first\": 0.1, \"others\": 0.0, \"torch\": \"2.13.0\"}\nrecorded 12 batches\n";
        assert_eq!(said(text)?.seconds, 1.5);
        assert!(said("nothing\n").is_err());
        assert!(said("{\"seconds\": 1.5}\n").is_err());
        Ok(())
    }
}
