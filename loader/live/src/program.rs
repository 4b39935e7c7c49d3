//! Starts a program with the probe in its Python processes, or attaches to a running one.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use loadscope_files::TemporaryFolder;
use loadscope_words::say;

use crate::attach::{AttachError, RequestFile, Running, UnattachableReason};
#[cfg(unix)]
use crate::remote::{Remote, RemoteSettings};
#[cfg(unix)]
use crate::signals::{ProcessId, SignalForwarder, any_received, restore_inherited};
use crate::{Listener, Request, UnrecordedScanner, variable};

pub use ending::End;
use ending::end_of;
pub use error::ProgramError;
use prepare::{prepare_listener, prepend_python_path, token};

mod ending;
mod error;
mod prepare;

/// Prefix of the names of temporary folders with the probe.
const FOLDER: &str = "loadscope-run-";

/// Standard streams of the program.
#[derive(Debug, Default)]
pub enum Output {
    /// The streams of this process.
    #[default]
    Inherited,
    /// No input, and output to this file. The program has its own process group. Its remaining processes can be killed,
    /// and Ctrl-C in the terminal does not reach it.
    File(File),
}

/// A recorded program, with the temporary folder of its probe.
pub struct Program {
    process: Process,
    end: Option<End>,
    /// True if the program leads its own process group.
    leads: bool,
    folder: TemporaryFolder,
    /// Request file for processes that do not inherit the environment variables.
    _request_file: Option<RequestFile>,
    /// Signals to this process that are for the program, if it is in the same process group.
    #[cfg(unix)]
    forwarder: Option<SignalForwarder>,
}

/// The process that represents the program.
enum Process {
    /// A child process.
    Started(Child),
    /// A local `ssh` process that started the program on another host.
    Remote(Child),
    /// A process that was already running. The program does not know this process, and continues after a detach.
    Running { process: Running, is_detached: bool },
}

/// Way to give a running program the socket address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attach {
    /// A request file. Python checks for it after `python -m loadscope install`.
    RequestFile,
    /// The program requested the recording itself and receives the address.
    Listen,
}

/// Address and token of the listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Address in the probe's format: `unix:PATH`.
    pub to: String,
    /// Token that each process must send in its first line.
    pub token: String,
}

impl Program {
    /// Starts `command` in `folder`, or in the current folder. Its Python processes send their events to the [`Listener`].
    ///
    /// # Errors
    /// If the folder for the probe cannot be created, or the program cannot be started.
    pub fn start(
        command: &[OsString],
        folder: Option<&Path>,
        request: &Request,
        output: Output,
    ) -> Result<(Self, Listener), ProgramError> {
        let place = TemporaryFolder::new(FOLDER).map_err(ProgramError::Preparing)?;
        let (listener, token) = prepare_listener(&place, true)?;
        let path = prepend_python_path(place.path()).map_err(ProgramError::Preparing)?;
        let address = listener.address().map_err(ProgramError::Preparing)?;
        let (to, word) = (address.clone(), token.clone());
        let (name, arguments) = command.split_first().ok_or_else(|| {
            let nothing =
                io::Error::new(io::ErrorKind::InvalidInput, say!("the command is missing"));
            ProgramError::Starting(OsString::new(), nothing)
        })?;
        let mut start = Command::new(name);
        start
            .args(arguments)
            .env("PYTHONPATH", path)
            .env(variable::TO, address)
            .env(variable::TOKEN, token);
        for (name, value) in request.variables() {
            match value {
                Some(value) => start.env(name, value),
                None => start.env_remove(name),
            };
        }
        folder.map(|folder| start.current_dir(folder));
        let leads = matches!(output, Output::File(_));
        if let Output::File(file) = output {
            let same = file.try_clone().map_err(ProgramError::Preparing)?;
            start.stdin(Stdio::null()).stdout(file).stderr(same);
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut start, 0);
        }
        #[cfg(unix)]
        if !leads {
            crate::streams::start_like_shell(&mut start);
        }
        #[cfg(unix)]
        restore_inherited(&mut start);
        #[cfg(unix)]
        let forwarder = (!leads).then(SignalForwarder::for_group);
        let child = start
            .spawn()
            .map_err(|e| ProgramError::Starting(name.clone(), e))?;
        #[cfg(unix)]
        if let Some(forwarder) = &forwarder {
            forwarder.begin();
        }
        // The request file is optional, because the environment variables also contain the address.
        let asked = Running::of(child.id()).ok();
        let asked = asked.and_then(|run| RequestFile::new(run, &to, &word, request.previews).ok());
        Ok((
            Self {
                process: Process::Started(child),
                end: None,
                leads,
                folder: place,
                _request_file: asked,
                #[cfg(unix)]
                forwarder,
            },
            listener,
        ))
    }

    /// Starts `command` on another host with `ssh`. The program has a terminal there if this process has one.
    ///
    /// # Errors
    /// If `ssh` cannot be started, or an argument of the command cannot be passed to it.
    #[cfg(unix)]
    pub fn start_remote(
        remote: &Remote,
        command: &[OsString],
        request: &Request,
    ) -> Result<(Self, Listener), ProgramError> {
        let place = TemporaryFolder::new(FOLDER).map_err(ProgramError::Preparing)?;
        let (listener, token) = prepare_listener(&place, false)?;
        let mut variables = request.variables().to_vec();
        variables.push((variable::TOKEN, Some(token.clone())));
        let settings = RemoteSettings {
            socket: &place.path().join("socket"),
            variables,
            to: variable::TO,
            token: &token,
        };
        let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let name = || OsString::from(format!("ssh {remote}"));
        let mut start = remote
            .command(command, &settings, has_terminal)
            .map_err(|e| ProgramError::Starting(name(), e))?;
        crate::streams::start_like_shell(&mut start);
        restore_inherited(&mut start);
        let forwarder = SignalForwarder::for_group();
        let child = start
            .spawn()
            .map_err(|e| ProgramError::Starting(name(), e))?;
        forwarder.begin();
        let program = Self {
            process: Process::Remote(child),
            end: None,
            leads: false,
            folder: place,
            _request_file: None,
            forwarder: Some(forwarder),
        };
        Ok((program, listener))
    }

    /// Records a running program from its next loader iterator on.
    ///
    /// # Errors
    /// If the process does not exist or belongs to another user, or if the socket cannot be created.
    pub fn attach(
        pid: u32,
        how: Attach,
        previews: u32,
    ) -> Result<(Self, Listener, Address), AttachError> {
        let process = Running::of(pid)?;
        if how == Attach::RequestFile
            && let Some(silent) = UnattachableReason::of(pid)
        {
            return Err(AttachError::Unattachable(pid, silent));
        }
        let place = TemporaryFolder::new(FOLDER).map_err(AttachError::Request)?;
        let token = token().map_err(AttachError::Request)?;
        #[cfg(unix)]
        let listener = Listener::unix(&place.path().join("socket"), token.clone());
        #[cfg(not(unix))]
        let listener = Listener::tcp(token.clone());
        let listener = listener.map_err(AttachError::Request)?;
        let to = listener.address().map_err(AttachError::Request)?;
        let asked = match how {
            Attach::RequestFile => Some(
                RequestFile::new(process, &to, &token, previews).map_err(AttachError::Request)?,
            ),
            Attach::Listen => None,
        };
        let program = Self {
            process: Process::Running {
                process,
                is_detached: false,
            },
            end: None,
            leads: false,
            folder: place,
            _request_file: asked,
            #[cfg(unix)]
            forwarder: None,
        };
        Ok((program, listener, Address { to, token }))
    }

    /// Returns true if the program was running before the recording. Such a program continues after the recording.
    pub fn was_already_running(&self) -> bool {
        matches!(self.process, Process::Running { .. })
    }

    /// Returns true if the program is detached.
    pub fn is_detached(&self) -> bool {
        matches!(
            self.process,
            Process::Running {
                is_detached: true,
                ..
            }
        )
    }

    /// Returns true if its processes are on this host, where `/proc` shows them.
    pub fn is_local(&self) -> bool {
        !matches!(self.process, Process::Remote(_))
    }

    /// Returns a search for processes without the probe. Returns `None` for programs on another host and for programs that were already
    /// running.
    pub fn unrecorded_scanner(&self) -> Option<UnrecordedScanner> {
        let looks = self.is_local() && !self.was_already_running();
        looks.then(|| UnrecordedScanner::new(self.pid(), self.folder.path()))
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        match &self.process {
            Process::Started(child) | Process::Remote(child) => child.id(),
            Process::Running { process, .. } => process.pid(),
        }
    }

    /// Returns the program's end, if it has ended.
    pub fn ended(&mut self) -> Option<End> {
        if self.end.is_none() {
            self.end = match &mut self.process {
                Process::Started(child) | Process::Remote(child) => {
                    child.try_wait().ok().flatten().map(end_of)
                }
                Process::Running {
                    process,
                    is_detached,
                } => (*is_detached || !process.is_alive()).then_some(End::Code(0)),
            };
        }
        self.end
    }

    /// Detaches from a program that was already running, which continues. Returns true for such a program.
    pub fn detach(&mut self) -> bool {
        match &mut self.process {
            Process::Started(_) | Process::Remote(_) => false,
            Process::Running { is_detached, .. } => {
                *is_detached = true;
                true
            }
        }
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&mut self) {
        if self.detach() || self.ended().is_some() {
            return;
        }
        #[cfg(unix)]
        self.send(libc::SIGINT);
        #[cfg(not(unix))]
        self.end_child();
    }

    /// Sends SIGTERM, as `kill` does.
    pub fn terminate(&mut self) {
        if self.detach() || self.ended().is_some() {
            return;
        }
        #[cfg(unix)]
        self.send(libc::SIGTERM);
        #[cfg(not(unix))]
        self.end_child();
    }

    /// Kills the program, and all processes of its own process group if it has one.
    pub fn kill(&mut self) {
        if self.detach() {
            return;
        }
        #[cfg(unix)]
        if self.leads || self.ended().is_none() {
            self.send(libc::SIGKILL);
        }
        #[cfg(not(unix))]
        self.end_child();
    }

    #[cfg(not(unix))]
    fn end_child(&mut self) {
        if let Process::Started(child) | Process::Remote(child) = &mut self.process {
            let _ = child.kill();
        }
    }

    /// Kills the remaining processes of its own process group, after the program has ended.
    pub fn kill_remaining(&mut self) {
        #[cfg(unix)]
        if self.leads && self.ended().is_some() {
            self.send(libc::SIGKILL);
        }
    }

    /// Sends a signal to the program's own process group if it has one, otherwise to the program.
    #[cfg(unix)]
    fn send(&self, number: i32) {
        match (ProcessId::of(self.pid()), self.leads) {
            (Some(leader), true) => leader.signal_group(number),
            (Some(process), false) => process.signal(number),
            (None, _) => {}
        }
    }

    /// Passes signals to this process on to the program ([`crate::catch_signals`]), except those that the program has also received.
    /// Stops this process together with the program. Returns true if SIGTERM or SIGHUP requested the end of this process.
    ///
    /// For a program that was already running, any signal detaches it ([`crate::catch_termination_signals`]).
    pub fn forward_signals(&mut self) -> bool {
        #[cfg(unix)]
        if self.was_already_running() {
            if any_received() {
                self.detach();
            }
        } else if let Some(forwarder) = &mut self.forwarder {
            let due = forwarder.due();
            for number in due.signals {
                if self.ended().is_none()
                    && let Some(process) = ProcessId::of(self.pid())
                {
                    process.signal(number);
                }
            }
            let pid = self.pid();
            let runs = self.ended().is_none();
            if let Some(forwarder) = self.forwarder.as_mut().filter(|_| runs) {
                forwarder.stop_with(pid);
            }
            return due.is_termination_requested;
        }
        false
    }
}
