//! Starts a command in the environment of a case.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

mod ended;
mod streams;

pub use ended::{Ended, Started};
pub use streams::Stream;
use streams::Streams;

use super::fake_program::FakeProgramOptions;
use super::rule::Rule;
use super::sandbox::{MARK, Sandbox};
use super::supervise::Supervised;

/// Command to start.
pub struct Launch<'a> {
    sandbox: &'a Sandbox<'a>,
    program: PathBuf,
    arguments: Vec<OsString>,
    variables: Vec<(OsString, Option<OsString>)>,
    folder: PathBuf,
    streams: [Stream; 3],
    limits: Vec<(libc::c_uint, u64)>,
    rules: Vec<Rule>,
    deadline: Duration,
}

/// Default deadline. A command needs far less, even on a busy host.
const DEADLINE: Duration = Duration::from_secs(30);

impl<'a> Sandbox<'a> {
    /// Prepares `loadscope` with these arguments.
    pub fn loadscope<S: AsRef<OsStr>>(&'a self, arguments: &[S]) -> Launch<'a> {
        Launch {
            sandbox: self,
            program: self.shared.loadscope.clone(),
            arguments: arguments.iter().map(|a| a.as_ref().to_owned()).collect(),
            variables: Vec::new(),
            folder: self.work(),
            streams: [Stream::Nothing, Stream::Kept, Stream::Kept],
            limits: Vec::new(),
            rules: Vec::new(),
            deadline: DEADLINE,
        }
    }

    /// Prepares `loadscope` with a command line without spaces in its words.
    pub fn line(&'a self, line: &str) -> Launch<'a> {
        self.loadscope(&line.split(' ').collect::<Vec<_>>())
    }

    /// Returns the command line of the fake program `speak`, for the position after `--`.
    pub fn fake_program_command(&self, fake_program: &FakeProgramOptions) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec![self.shared.xtask.clone().into(), "speak".into()];
        words.push(fake_program.notes.clone().into());
        for (name, value) in [
            ("--batches", fake_program.batches),
            ("--every", fake_program.every),
            ("--code", fake_program.code.into()),
        ] {
            words.push(name.into());
            words.push(value.to_string().into());
        }
        if fake_program.heeds {
            words.push("--heeds".into());
        }
        words
    }

    /// Prepares `loadscope record` of the program `speak`.
    pub fn record<S: AsRef<OsStr>>(
        &'a self,
        options: &[S],
        fake_program: &FakeProgramOptions,
    ) -> Launch<'a> {
        let mut launch = self.loadscope(&["record"]);
        let options = options.iter().map(|o| o.as_ref().to_owned());
        launch.arguments.extend(options);
        launch.arguments.push("--".into());
        launch
            .arguments
            .extend(self.fake_program_command(fake_program));
        launch
    }

    /// Describes a program that yields twenty batches in 40 ms and exits with 7.
    pub fn fake_program(&self) -> FakeProgramOptions {
        FakeProgramOptions {
            notes: self.notes(),
            batches: 20,
            every: 2000,
            code: 7,
            heeds: false,
        }
    }

    /// Describes a program that yields batches until a signal, and exits with 7.
    pub fn endless(&self) -> FakeProgramOptions {
        FakeProgramOptions {
            batches: 0,
            heeds: true,
            ..self.fake_program()
        }
    }
}

impl<'a> Launch<'a> {
    /// Replaces a word of the arguments.
    pub fn replace(&mut self, word: &str, by: impl AsRef<OsStr>) {
        for one in self.arguments.iter_mut().filter(|one| *one == word) {
            by.as_ref().clone_into(one);
        }
    }

    /// Replaces a word of the arguments, and returns the command.
    pub fn replaced(mut self, word: &str, by: &str) -> Self {
        self.replace(word, by);
        self
    }

    /// Starts another program instead.
    pub fn program(&mut self, path: &str) {
        self.program = path.into();
    }

    pub fn input(mut self, stream: Stream) -> Self {
        self.streams[0] = stream;
        self
    }

    pub fn output(mut self, stream: Stream) -> Self {
        self.streams[1] = stream;
        self
    }

    pub fn errors(mut self, stream: Stream) -> Self {
        self.streams[2] = stream;
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        let value = value.as_ref().to_owned();
        self.variables.push((name.into(), Some(value)));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.variables.push((name.into(), None));
        self
    }

    pub fn folder(mut self, folder: &Path) -> Self {
        folder.clone_into(&mut self.folder);
        self
    }

    /// Sets a resource limit, `RLIMIT_…`.
    pub fn limit(mut self, what: libc::c_uint, most: u64) -> Self {
        self.limits.push((what, most));
        self
    }

    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Formats the command like a user would type it.
    fn shown(&self) -> String {
        let mut text = String::from("loadscope");
        for word in &self.arguments {
            let word = word.to_string_lossy();
            let word = match Path::new(&*word).strip_prefix(self.sandbox.work()) {
                Ok(inner) => inner.to_string_lossy().into_owned(),
                Err(_) if Path::new(&*word) == self.sandbox.shared.xtask => "PROGRAM".to_owned(),
                Err(_) => word.into_owned(),
            };
            let _ = write!(text, " {word}");
        }
        text
    }

    /// Starts the command.
    pub fn start(self) -> Result<Started<'a>> {
        let shown = self.shown();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        set_environment(&mut command, self.sandbox);
        for (name, value) in &self.variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut streams = Streams::default();
        let [input, output, errors] = &self.streams;
        command.stdin(streams.make(input, 0, self.sandbox)?);
        command.stdout(streams.make(output, 1, self.sandbox)?);
        command.stderr(streams.make(errors, 2, self.sandbox)?);
        set_limits(&mut command, &streams.closed, self.limits);
        let supervised = match self.rules.is_empty() {
            true => None,
            false => Some(Supervised::prepare(&mut command, self.rules)?),
        };
        let started = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("{shown} cannot be started"))?;
        let readers = streams.attend()?;
        Ok(Started {
            sandbox: self.sandbox,
            shown,
            process: child.id() as i32,
            supervised,
            started,
            until: started + self.deadline,
            captured: streams.captured,
            readers,
        })
    }

    /// Runs the command under a rule. Fails if the rule had no effect.
    pub fn run_injected(self, rule: Rule) -> Result<Ended> {
        self.sandbox.supervises()?;
        let ended = self.rule(rule).run()?;
        ended.check_injected()?;
        Ok(ended)
    }

    /// Starts the command and waits for its end.
    pub fn run(self) -> Result<Ended> {
        self.start()?.wait()
    }
}

/// Sets the environment of every command: no settings of the user, and no display.
fn set_environment(command: &mut Command, sandbox: &Sandbox) {
    command.env_clear();
    for name in ["PATH", "LANG", "SystemRoot"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    let home = sandbox.home();
    command
        .env(MARK, &sandbox.mark)
        .env("TMPDIR", sandbox.tmp())
        .env("HOME", &home)
        .env("XDG_DATA_HOME", home.join("data"))
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env("XDG_CACHE_HOME", home.join("cache"))
        .env("XDG_RUNTIME_DIR", home.join("run"))
        .env("LIBGL_ALWAYS_SOFTWARE", "1");
}

/// Closes streams and sets limits in the new process. The process has its own session, so it does not receive signals of a terminal. Its
/// signal handlers are the default ones, even if this process ignores SIGINT or SIGHUP.
fn set_limits(command: &mut Command, closed: &[i32], limits: Vec<(libc::c_uint, u64)>) {
    let closed = closed.to_vec();
    // SAFETY: between fork and exec, the closure only makes system calls. All memory was allocated before.
    unsafe {
        command.pre_exec(move || {
            libc::setsid();
            for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
                libc::signal(number, libc::SIG_DFL);
            }
            for descriptor in &closed {
                libc::close(*descriptor);
            }
            for (what, most) in &limits {
                let limit = libc::rlimit {
                    rlim_cur: *most,
                    rlim_max: *most,
                };
                if libc::setrlimit(*what, &raw const limit) != 0 {
                    return Err(io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
}
