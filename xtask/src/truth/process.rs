//! Programs with a deadline.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Output and exit status of a program.
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
}

/// Runs a program until its end, or kills it with all its children after the deadline.
pub fn run_with_deadline(command: &mut Command, deadline: Duration) -> Result<Ended> {
    let (mut output, mut errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(errors.try_clone()?);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    let name = command.get_program().to_owned();
    let mut child = command
        .spawn()
        .with_context(|| format!("{} could not be started", name.display()))?;
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if began.elapsed() > deadline {
            end(&mut child);
            bail!(
                "{command:?} did not end within {deadline:?}, so it was ended. It said {:?}",
                text(&mut errors)?
            );
        }
        thread::sleep(Duration::from_millis(20));
    };
    Ok(Ended {
        status,
        output: text(&mut output)?,
        errors: text(&mut errors)?,
    })
}

/// Runs a program that must succeed, and returns its output.
pub fn run_successfully(command: &mut Command, deadline: Duration) -> Result<String> {
    let ended = run_with_deadline(command, deadline)?;
    if !ended.status.success() {
        bail!(
            "{command:?} ended with {} and said {:?}",
            ended.status,
            ended.errors
        );
    }
    Ok(ended.output)
}

/// Kills a program and its children.
fn end(child: &mut Child) {
    if cfg!(unix) {
        // The program leads its own process group.
        let _ = Command::new("kill")
            .args(["-KILL", "--", &format!("-{}", child.id())])
            .stderr(Stdio::null())
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
}

fn text(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn output_and_exit_code_are_returned() -> Result<()> {
        let shell = |script: &str| run_with_deadline(Command::new("sh").args(["-c", script]), LONG);
        let ended = shell("echo out; echo err >&2; exit 3")?;
        assert_eq!((&*ended.output, &*ended.errors), ("out\n", "err\n"));
        assert_eq!(ended.status.code(), Some(3));
        let mut fails = Command::new("sh");
        assert!(run_successfully(fails.args(["-c", "exit 1"]), LONG).is_err());
        Ok(())
    }

    #[test]
    fn a_program_that_takes_too_long_is_ended_with_its_children() -> Result<()> {
        let began = Instant::now();
        let folder = tempfile::tempdir()?;
        let mark = folder.path().join("alive");
        // The child would create the file after the deadline.
        let script = format!("(sleep 1; touch '{}') & wait", mark.display());
        let mut command = Command::new("sh");
        let ended = run_with_deadline(command.args(["-c", &script]), Duration::from_millis(100));
        let error = ended
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("did not end within"), "{error}");
        assert!(began.elapsed() < LONG);
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists(), "its child lives on");
        Ok(())
    }
}
