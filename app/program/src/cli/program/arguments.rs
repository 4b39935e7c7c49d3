//! Arguments of the recorded program, and the request to its probe.

use std::ffi::OsString;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use loadscope_words::say;

use super::super::number::whole_number;
use super::super::output::{SelectArgs, time};
use super::super::stacks::StackArgs;
use super::super::web::WebArgs;
use loadscope_insight::tune::overrides_of_all;
use loadscope_model::watching::Program;
#[cfg(unix)]
use loadscope_session::Remote;
use loadscope_session::{Output, ProgramError, Request, Watched};

/// The program to record.
#[derive(Debug, Args)]
pub struct ProgramArgs {
    /// About once per second, keep up to N images and waveforms of a batch, at most 64
    ///
    /// The first numbers and texts of each field are kept too.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = whole_number(0_u32, 64))]
    previews: u32,
    /// Override a DataLoader argument, such as num_workers=8 (can be repeated)
    ///
    /// Arguments: num_workers, prefetch_factor, persistent_workers, pin_memory, in_order, multiprocessing_context. A loader that would
    /// reject the value keeps its own. Your files are not changed.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Apply --set only to loaders created in this file or line [default: all]
    ///
    /// Examples: train.py, train.py:42.
    #[arg(long, value_name = "FILE[:LINE]", requires = "set")]
    loader: Option<String>,
    /// Run the program on another host over ssh
    ///
    /// HOST, USER@HOST or HOST:FOLDER. Loadscope installs nothing there. The variable LOADSCOPE_SSH sets the ssh command.
    #[cfg(unix)]
    #[arg(long, value_name = "HOST[:FOLDER]")]
    ssh: Option<Remote>,
    /// Print the cause if training waits for a batch for TIME, such as 60s or 5m, at least 1s (Linux)
    ///
    /// The line contains the cause, the remedy, and a command for all stacks. The recording contains it as a warning. No process is stopped.
    ///
    /// Training steps, validation and time in which a worker finishes work do not count.
    #[arg(long, value_name = "TIME", value_parser = alarm)]
    #[cfg_attr(unix, arg(conflicts_with = "ssh"))]
    alarm: Option<Duration>,
    #[command(flatten)]
    stacks: StackArgs,
    #[command(flatten)]
    pub(super) select: SelectArgs,
    #[command(flatten)]
    pub(super) web: WebArgs,
    /// Program and its arguments, such as python train.py --epochs 3
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl ProgramArgs {
    /// Returns the request to the probe.
    pub(super) fn request(&self) -> anyhow::Result<Request> {
        let overrides =
            overrides_of_all(&self.set).map_err(|text| anyhow!(say!("--set: {text}")))?;
        Ok(Request {
            previews: self.previews,
            set: self.loader.clone(),
            overrides,
            ..Request::default()
        })
    }

    /// Starts the program, here or on the host of `--ssh`.
    pub(super) fn start(&self, request: &Request) -> Result<Watched, ProgramError> {
        #[cfg(unix)]
        if let Some(remote) = &self.ssh {
            return Watched::start_remote(remote, &self.command, request);
        }
        let watched = Watched::start(&self.command, request, Output::Inherited)?;
        self.stacks.apply(&watched);
        if let Some(limit) = self.alarm {
            watched.set_alarm(limit);
        }
        Ok(watched)
    }

    /// Returns the program for further runs. Returns `None` for a program on another host.
    pub(super) fn repeatable(&self) -> Option<Program> {
        #[cfg(unix)]
        if self.ssh.is_some() {
            return None;
        }
        Some(Program {
            command: self.command.clone(),
            folder: None,
        })
    }

    /// Returns the host of `--ssh`.
    pub(super) fn host(&self) -> Option<String> {
        #[cfg(unix)]
        if let Some(remote) = &self.ssh {
            return Some(remote.to_string());
        }
        None
    }
}

/// Minimum time of an alarm. Two samples of the stacks are one second apart.
const LEAST_ALARM: Duration = Duration::from_secs(1);

/// Parses the time of an alarm.
fn alarm(text: &str) -> Result<Duration, String> {
    if !cfg!(target_os = "linux") {
        let text = say!("the alarm needs Linux. Leave out --alarm, or run the program on Linux.");
        return Err(text.to_owned());
    }
    let time = Duration::from_secs_f64(time(text)?.as_secs_f64());
    match time < LEAST_ALARM {
        true => Err(say!(
            "{text} is too short: expected at least 1s, such as 60s"
        )),
        false => Ok(time),
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_has_a_unit_and_at_least_a_second() {
        assert_eq!(alarm("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(alarm("2m"), Ok(Duration::from_secs(120)));
        assert!(alarm("500ms").is_err_and(|why| why.contains("at least 1s")));
        assert!(alarm("60").is_err_and(|why| why.contains("90s")));
    }
}
