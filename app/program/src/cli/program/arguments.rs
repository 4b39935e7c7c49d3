//! Arguments of the recorded program, and the request to its probe.

use std::ffi::OsString;

use anyhow::anyhow;
use clap::Args;
use loadscope_words::say;

use super::super::number::whole_number;
use super::super::output::SelectArgs;
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
        Watched::start(&self.command, request, Output::Inherited)
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
