//! Recording of a workload, and its runs with other settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

use super::predict;
use super::process::run_successfully;
use super::setting::Setting;
use super::store::{Folder, Host, Measurement, Measurements, Tried, WorkloadMeasurements};
use super::workloads::Workload;

/// Deadline of a program. A run takes a few seconds, but spawned workers on a busy host take a minute.
const DEADLINE: Duration = Duration::from_secs(240);

/// Programs and settings of the measurements.
pub struct Runner<'a> {
    pub python: PathBuf,
    pub program: PathBuf,
    pub loadscope: PathBuf,
    pub folder: &'a Folder,
    pub rounds: u32,
}

impl Runner<'_> {
    /// Records a workload once, then runs all its settings in turn, round by round. The settings include the one that Loadscope recommends.
    pub fn measure(&self, work: &Workload, measured: &mut Measurements) -> Result<()> {
        let (data, recording) = self.recorded(work)?;
        measured.host = Host::here(&recording.torch);
        let mut settings = work.settings()?;
        let told = predict::forecast(
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
        let mut kept = WorkloadMeasurements {
            recorded: work.recorded,
            program: self.version(work)?,
            recording,
            tried: tried.collect(),
        };
        let mut failures = 0;
        for round in 1..=self.rounds {
            // The order is reversed every second round, so that drift within a round does not always affect the same settings.
            let mut order: Vec<usize> = (0..kept.tried.len()).collect();
            if round % 2 == 0 {
                order.reverse();
            }
            for at in order {
                let one = &mut kept.tried[at];
                let name = format!("{} {round}/{}: {}", work.name, self.rounds, one.setting);
                // A failed run must not discard the others.
                match self.measure_run(work, data.path(), one.setting) {
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
            self.folder.save(measured)?;
        }
        ensure!(failures == 0, "{failures} runs of {} failed", work.name);
        Ok(())
    }

    /// Records a workload again, and keeps the measurements of its settings.
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
        self.folder.save(measured)
    }

    /// Writes the input files of a workload, and records it. Returns the folder of these files and the times of the run.
    fn recorded(&self, work: &Workload) -> Result<(TempDir, Measurement)> {
        let data = tempfile::tempdir()?;
        let mut prepare = self.python();
        prepare.args(["--prepare", work.name]).arg(data.path());
        run_successfully(&mut prepare, DEADLINE)?;
        // A first run reads the files into the page cache.
        self.measure_run(work, data.path(), work.recorded)?;
        eprintln!("{}: recording {}", work.name, work.recorded);
        let recording = self.record(work, data.path())?;
        Ok((data, recording))
    }

    /// Returns a checksum of the workload's program.
    fn version(&self, work: &Workload) -> Result<u64> {
        let module = self.program.with_file_name("workloads").join(work.name);
        let module = module.with_extension("py");
        let text =
            fs::read(&module).with_context(|| format!("{} could not be read", module.display()))?;
        Ok(checksum(&text))
    }

    fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        // PyTorch must not load Loadscope's libtorch.
        command
            .arg("-B")
            .arg(&self.program)
            .env_remove("LD_LIBRARY_PATH");
        command
    }

    fn measure_run(&self, work: &Workload, data: &Path, setting: Setting) -> Result<Measurement> {
        let mut command = self.python();
        command.arg(work.name).arg(data).args(setting.arguments());
        parse_measurement(&run_successfully(&mut command, DEADLINE)?)
    }

    fn record(&self, work: &Workload, data: &Path) -> Result<Measurement> {
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
        let text = run_successfully(&mut command, DEADLINE)?;
        let size = fs::metadata(&target).map_or(0, |about| about.len());
        ensure!(size > 0, "{} was not recorded", work.name);
        parse_measurement(&text)
    }
}

/// FNV-1a, which is equal on every host.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Parses the last line with a JSON object. The recorder may print lines after it.
fn parse_measurement(text: &str) -> Result<Measurement> {
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
        // The expected number is the published FNV-1a value of this text.
        assert_eq!(checksum(b"foobar"), 0x8594_4171_f739_67e8);
        assert_ne!(checksum(b"SAMPLES = 1280"), checksum(b"SAMPLES = 2560"));
    }

    #[test]
    fn the_last_json_object_is_the_result() -> Result<()> {
        let text = "loss 2\n{\"seconds\": 1.5, \"waited\": 1.0, \"first\": 0.1, \"others\": 0.0, \"torch\": \"2.13.0\"}\nrecorded 12 batches\n";
        assert_eq!(parse_measurement(text)?.seconds, 1.5);
        assert!(parse_measurement("nothing\n").is_err());
        assert!(parse_measurement("{\"seconds\": 1.5}\n").is_err());
        Ok(())
    }
}
