//! Starts a program so that its Python processes tell what their loaders do.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use loadscope_files::TemporaryFolder;
use loadscope_words::say;

use crate::attach::{Asked, AttachError, Running, Silent};
#[cfg(unix)]
use crate::remote::{Remote, RemoteSettings};
#[cfg(unix)]
use crate::signals::{Passing, ProcessId, any_came, hand_down};
use crate::{Listener, Lookout, Request, variable};

pub use ending::End;
use ending::end_of;
pub use error::ProgramError;
use prepare::{before_others, prepared, token};

mod ending;
mod error;
mod prepare;

/// What the names of the folders with the probe begin with.
const FOLDER: &str = "loadscope-run-";

/// Where a program reads and writes.
#[derive(Debug, Default)]
pub enum Output {
    /// Where this process does.
    #[default]
    Inherited,
    /// It reads nothing and writes into this file. It has a process group of its own, so that what it leaves behind can be ended,
    /// and so that Ctrl-C in the terminal does not reach it.
    File(File),
}

/// A program under way, and the folder that brings the probe into it.
pub struct Program {
    process: Process,
    end: Option<End>,
    /// It leads a process group.
    leads: bool,
    folder: TemporaryFolder,
    /// By which processes of it learn where to tell whose environment does not say so.
    _asked: Option<Asked>,
    /// Signals to this process that are for the program, if it is in the same process group.
    #[cfg(unix)]
    passing: Option<Passing>,
}

/// Whose program it is.
enum Process {
    /// We started it.
    Started(Child),
    /// We started `ssh`, which started it on another host.
    There(Child),
    /// It ran already. It never hears of us, and goes on once it is let go.
    Running { process: Running, is_let_go: bool },
}

/// How a program that runs already learns where to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attach {
    /// It is asked to, by a file that Pythons look for where `python -m loadscope install` was called.
    Ask,
    /// It told us to listen, and gets the address.
    Listen,
}

/// Where to tell, and the word that the listener wants to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// As the probe reads it: `unix:PATH`.
    pub to: String,
    /// The word.
    pub token: String,
}

impl Program {
    /// Starts `command`, in `folder` or else where this process was started. Its Python processes tell a [`Listener`].
    ///
    /// # Errors
    /// If the probe has no place, or the program cannot be started.
    pub fn start(
        command: &[OsString],
        folder: Option<&Path>,
        request: &Request,
        output: Output,
    ) -> Result<(Self, Listener), ProgramError> {
        let place = TemporaryFolder::new(FOLDER).map_err(ProgramError::Preparing)?;
        let (listener, token) = prepared(&place, true)?;
        let path = before_others(place.path()).map_err(ProgramError::Preparing)?;
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
            crate::streams::as_a_shell_does(&mut start);
        }
        #[cfg(unix)]
        hand_down(&mut start);
        #[cfg(unix)]
        let passing = (!leads).then(Passing::to_group);
        let child = start
            .spawn()
            .map_err(|e| ProgramError::Starting(name.clone(), e))?;
        #[cfg(unix)]
        if let Some(passing) = &passing {
            passing.begin();
        }
        // It does without where that cannot be: its environment says so, too.
        let asked = Running::of(child.id()).ok();
        let asked = asked.and_then(|run| Asked::new(run, &to, &word, request.previews).ok());
        Ok((
            Self {
                process: Process::Started(child),
                end: None,
                leads,
                folder: place,
                _asked: asked,
                #[cfg(unix)]
                passing,
            },
            listener,
        ))
    }

    /// Starts `command` on another host, through `ssh`. It has a terminal there if this process has one.
    ///
    /// # Errors
    /// If `ssh` cannot be started, or a word of the command cannot be passed on.
    #[cfg(unix)]
    pub fn start_there(
        remote: &Remote,
        command: &[OsString],
        request: &Request,
    ) -> Result<(Self, Listener), ProgramError> {
        let place = TemporaryFolder::new(FOLDER).map_err(ProgramError::Preparing)?;
        let (listener, token) = prepared(&place, false)?;
        let mut variables = request.variables().to_vec();
        variables.push((variable::TOKEN, Some(token.clone())));
        let settings = RemoteSettings {
            socket: &place.path().join("socket"),
            variables,
            to: variable::TO,
            word: &token,
        };
        let has_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let name = || OsString::from(format!("ssh {remote}"));
        let mut start = remote
            .command(command, &settings, has_terminal)
            .map_err(|e| ProgramError::Starting(name(), e))?;
        crate::streams::as_a_shell_does(&mut start);
        hand_down(&mut start);
        let passing = Passing::to_group();
        let child = start
            .spawn()
            .map_err(|e| ProgramError::Starting(name(), e))?;
        passing.begin();
        let program = Self {
            process: Process::There(child),
            end: None,
            leads: false,
            folder: place,
            _asked: None,
            passing: Some(passing),
        };
        Ok((program, listener))
    }

    /// Listens to a program that runs already, from its next iterator of a loader on.
    ///
    /// # Errors
    /// If there is no such process, it is of another user, or the socket has no place.
    pub fn attach(
        pid: u32,
        how: Attach,
        previews: u32,
    ) -> Result<(Self, Listener, Address), AttachError> {
        let process = Running::of(pid)?;
        if how == Attach::Ask
            && let Some(silent) = Silent::of(pid)
        {
            return Err(AttachError::Silent(pid, silent));
        }
        let place = TemporaryFolder::new(FOLDER).map_err(AttachError::Asking)?;
        let token = token().map_err(AttachError::Asking)?;
        #[cfg(unix)]
        let listener = Listener::unix(&place.path().join("socket"), token.clone());
        #[cfg(not(unix))]
        let listener = Listener::tcp(token.clone());
        let listener = listener.map_err(AttachError::Asking)?;
        let to = listener.address().map_err(AttachError::Asking)?;
        let asked = match how {
            Attach::Ask => {
                Some(Asked::new(process, &to, &token, previews).map_err(AttachError::Asking)?)
            }
            Attach::Listen => None,
        };
        let program = Self {
            process: Process::Running {
                process,
                is_let_go: false,
            },
            end: None,
            leads: false,
            folder: place,
            _asked: asked,
            #[cfg(unix)]
            passing: None,
        };
        Ok((program, listener, Address { to, token }))
    }

    /// True if it ran before it was recorded, and will run on.
    pub fn ran_already(&self) -> bool {
        matches!(self.process, Process::Running { .. })
    }

    /// True if it was let go.
    pub fn is_let_go(&self) -> bool {
        matches!(
            self.process,
            Process::Running {
                is_let_go: true,
                ..
            }
        )
    }

    /// True if its processes are on this host, where they can be looked at from outside.
    pub fn is_here(&self) -> bool {
        !matches!(self.process, Process::There(_))
    }

    /// A look-out for processes of it that the probe does not reach. Of a program that ran already none is expected to.
    pub fn lookout(&self) -> Option<Lookout> {
        let looks = self.is_here() && !self.ran_already();
        looks.then(|| Lookout::new(self.pid(), self.folder.path()))
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        match &self.process {
            Process::Started(child) | Process::There(child) => child.id(),
            Process::Running { process, .. } => process.pid(),
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<End> {
        if self.end.is_none() {
            self.end = match &mut self.process {
                Process::Started(child) | Process::There(child) => {
                    child.try_wait().ok().flatten().map(end_of)
                }
                Process::Running { process, is_let_go } => {
                    (*is_let_go || !process.is_alive()).then_some(End::Code(0))
                }
            };
        }
        self.end
    }

    /// A program that ran already goes on without us. True if it is one.
    pub fn let_go(&mut self) -> bool {
        match &mut self.process {
            Process::Started(_) | Process::There(_) => false,
            Process::Running { is_let_go, .. } => {
                *is_let_go = true;
                true
            }
        }
    }

    /// Asks it to end, as Ctrl-C does.
    pub fn interrupt(&mut self) {
        if self.let_go() || self.ended().is_some() {
            return;
        }
        #[cfg(unix)]
        self.send(libc::SIGINT);
        #[cfg(not(unix))]
        self.end_child();
    }

    /// Asks it to end, as `kill` does.
    pub fn terminate(&mut self) {
        if self.let_go() || self.ended().is_some() {
            return;
        }
        #[cfg(unix)]
        self.send(libc::SIGTERM);
        #[cfg(not(unix))]
        self.end_child();
    }

    /// Ends it and, where it has a group of its own, all that it left behind in that.
    pub fn kill(&mut self) {
        if self.let_go() {
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
        if let Process::Started(child) | Process::There(child) = &mut self.process {
            let _ = child.kill();
        }
    }

    /// Ends what it left behind in a group of its own, once it has ended itself.
    pub fn clear_up(&mut self) {
        #[cfg(unix)]
        if self.leads && self.ended().is_some() {
            self.send(libc::SIGKILL);
        }
    }

    /// To its group, if it has one of its own.
    #[cfg(unix)]
    fn send(&self, number: i32) {
        match (ProcessId::of(self.pid()), self.leads) {
            (Some(leader), true) => leader.signal_group(number),
            (Some(process), false) => process.signal(number),
            (None, _) => {}
        }
    }

    /// Passes the signals to this process on to the program ([`crate::take_signals`]), apart from those that it has received itself. Stops
    /// this process with the program. True if SIGTERM or SIGHUP asked this process to end.
    ///
    /// A program that ran already is let go by any of them ([`crate::take_ending_signals`]).
    pub fn pass_signals_on(&mut self) -> bool {
        #[cfg(unix)]
        if self.ran_already() {
            if any_came() {
                self.let_go();
            }
        } else if let Some(passing) = &mut self.passing {
            let due = passing.due();
            for number in due.signals {
                if self.ended().is_none()
                    && let Some(process) = ProcessId::of(self.pid())
                {
                    process.signal(number);
                }
            }
            let pid = self.pid();
            let runs = self.ended().is_none();
            if let Some(passing) = self.passing.as_mut().filter(|_| runs) {
                passing.stop_with(pid);
            }
            return due.asks;
        }
        false
    }
}
