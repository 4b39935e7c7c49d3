//! One run of the program: its configuration, its progress and errors, and the trial: started, recorded, and ended after enough batches.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;
use loadscope_files::{Existing, WriteError, create_file_for_process};
use loadscope_insight::tune::{Kind, Tried};
use loadscope_live::{Effects, End, Output, ProgramError, Request, Stop};
use loadscope_trace::{Fleet, Nanos, Overrides, plural};
use loadscope_words::say;

use crate::watch::{EndRequest, Watched};
use crate::{
    Record, Session, SessionError, SessionEvent, describe_open_error, new_recording, open,
};

/// Configuration of trials.
#[derive(Clone, Debug)]
pub struct Job {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// Working directory of the program. `None` is that of this process.
    pub started_in: Option<PathBuf>,
    /// Condition that ends each run.
    pub stop: Stop,
    /// Maximum number of settings.
    pub tries: usize,
    /// Requested settings. If empty, the forecast chooses promising ones.
    pub asked: Vec<Overrides>,
    /// Name of the loader. `None` is the one with the longest waits.
    pub loader: Option<String>,
    /// True to set the arguments of all loaders, not only of the measured one.
    pub all_loaders: bool,
    /// Empty folder for the recordings.
    pub folder: PathBuf,
}

/// Progress of the trials.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Start of a run.
    Begins {
        /// Number of the run, from 1.
        number: usize,
        /// Total number of runs, if it is known.
        of: Option<usize>,
        /// Kind of the run.
        kind: Kind,
        /// Arguments set in the run.
        overrides: &'a Overrides,
    },
    /// End of a run.
    Ended(&'a Tried),
    /// Message for the user, not about a single run.
    Notice(&'a str),
}

/// Formats a line for the user.
impl fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = match self {
            Self::Begins {
                number,
                of,
                kind,
                overrides,
            } => {
                let of = of.map_or(String::new(), |of| say!(" of {of}"));
                let what = match kind {
                    Kind::First => say!("the unchanged program").to_owned(),
                    Kind::Repeat => say!("the unchanged program, again").to_owned(),
                    Kind::Try => overrides.to_string(),
                };
                say!("run {number}{of}: {what}")
            }
            Self::Ended(tried) => match &tried.measured {
                Ok(m) => say!(
                    "  {} per batch, {} of it waiting ({})",
                    Nanos::from_secs_f64(m.per_batch),
                    Nanos::from_secs_f64(m.waited),
                    plural(m.batches as u64, say!(n: "batch"), say!(n: "batches"))
                ),
                Err(why) => format!("  {why}"),
            },
            Self::Notice(text) => (*text).to_owned(),
        };
        f.write_str(&line)
    }
}

/// Error that prevents the trials.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// The program cannot be started.
    #[error(transparent)]
    Start(#[from] ProgramError),
    /// The unchanged program failed.
    #[error("{}", say!("the unchanged program failed. Its output is in {log}.", log = .log.display()))]
    Failed {
        /// Exit status.
        end: End,
        /// File with its output.
        log: PathBuf,
    },
    /// There is nothing to measure.
    #[error("{0}")]
    Nothing(String),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The program cannot be watched.
    #[error(transparent)]
    Session(#[from] SessionError),
}

/// Interval of the checks for requests to end.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Time until a request to end, after the probe stopped the program.
const END_TIMEOUT: Duration = Duration::from_secs(15);
/// Time between two stronger requests to end.
const ESCALATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Number of first batches per worker whose contents are compared.
const DIGESTS: u32 = 8;

/// Configuration of a run.
pub(super) struct Trial<'a> {
    pub job: &'a Job,
    pub number: usize,
    pub kind: Kind,
    pub overrides: &'a Overrides,
    /// Loader whose batches are counted for the end of the run.
    pub stop: Option<&'a str>,
    /// Loaders whose arguments are set.
    pub set: Option<&'a str>,
}

/// A finished run.
pub(super) struct TrialRun {
    pub end: End,
    /// Effects of the request, such as the stop after enough batches.
    pub effects: Effects,
    /// Reason why nothing was recorded.
    pub complaint: Option<String>,
    pub fleet: Fleet,
    /// File with the program's output.
    pub log: PathBuf,
    /// File name in the folder.
    pub recording: String,
}

impl Trial<'_> {
    pub fn run(
        &self,
        tell: &mut dyn FnMut(Progress<'_>),
        ends: &dyn Fn() -> usize,
    ) -> Result<TrialRun, TuneError> {
        let name = self.name();
        let recording = format!("{name}.jsonl.zst");
        let path = self.job.folder.join(&recording);
        let log = self.job.folder.join(format!("{name}.log"));
        let file = new_recording(&path, Existing::Keep)?;
        let output = Output::File(create_file_for_process(&log)?);
        let request = Request {
            previews: 0,
            digests: DIGESTS,
            set: self.set.map(str::to_owned),
            overrides: self.overrides.clone(),
            until: self.stop.map(str::to_owned),
            stop: Some(self.job.stop),
        };
        let folder = self.job.started_in.as_deref();
        let watched = Watched::start_in(folder, &self.job.command, &request, output)?;
        let session = match Session::watch(&watched, Record::File(file), Arc::new(|| {})) {
            Ok(session) => session,
            Err(e) => {
                watched.kill_unwatched();
                return Err(e.into());
            }
        };
        // The notices about recorded processes are only shown for the first run.
        let is_first = self.kind == Kind::First;
        let mut tell = |text: &str, is_error: bool| {
            if is_first || is_error {
                tell(Progress::Notice(text));
            }
        };
        let complaint = follow(&session, &watched, &mut tell, ends);
        let end = watched.wait();
        let effects = watched.effects();
        let fleet = match complaint {
            Some(_) => Fleet::default(),
            None => match open(&path, |_| true) {
                Ok(opened) => opened.fleet,
                Err(e) => return Err(TuneError::Nothing(describe_open_error(&path, &e))),
            },
        };
        Ok(TrialRun {
            end,
            effects,
            complaint,
            fleet,
            log,
            recording,
        })
    }

    /// Returns the name of the run's files: `03-num_workers=4`.
    fn name(&self) -> String {
        let what = match self.kind {
            Kind::First => "as-it-is".to_owned(),
            Kind::Repeat => "as-it-is-again".to_owned(),
            Kind::Try => {
                let arguments = self.overrides.arguments().join(",");
                let odd = |c: char| !(c.is_ascii_alphanumeric() || "=,_".contains(c));
                arguments.replace(odd, "").chars().take(100).collect()
            }
        };
        format!("{:02}-{what}", self.number)
    }
}

/// Follows the program to its end. Returns the reason if nothing was recorded.
fn follow(
    session: &Session,
    watched: &Watched,
    tell: &mut dyn FnMut(&str, bool),
    ends: &dyn Fn() -> usize,
) -> Option<String> {
    let mut ending = EndRequests::default();
    loop {
        match session.events.recv_timeout(POLL_INTERVAL) {
            Ok(SessionEvent::Notice(text)) => tell(&text, false),
            Ok(SessionEvent::Failed(text)) => tell(&text, true),
            Ok(SessionEvent::Ended(complaint)) => return complaint,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        if ending.stopped.is_none() && watched.effects().stopped {
            ending.stopped = Some(Instant::now());
        }
        if let Some(asking) = ending.escalate(watched, ends()) {
            tell(&asked(asking, ends() > 0), true);
        }
    }
}

/// Returns the notice about a request to end.
fn asked(asking: EndRequest, by_user: bool) -> String {
    let patience = ESCALATION_TIMEOUT.as_secs();
    match asking {
        EndRequest::Interrupt if by_user => say!(
            "The program received SIGINT. If it does not end, SIGTERM follows after {patience} s, SIGKILL after {} s. A second signal to Loadscope kills it at once.",
            2 * patience
        ),
        EndRequest::Interrupt => say!(
            "The program did not end after its last batch and received SIGINT. If it does not end, SIGTERM follows after {patience} s, SIGKILL after {} s.",
            2 * patience
        ),
        EndRequest::Terminate => {
            say!("The program did not end after SIGINT and received SIGTERM").to_owned()
        }
        EndRequest::Kill => say!("The process group of the program received SIGKILL").to_owned(),
    }
}

/// Requests to end that a program has received.
#[derive(Default)]
struct EndRequests {
    /// Time at which the probe stopped the program.
    stopped: Option<Instant>,
    /// Last request, and its time.
    asked: Option<(EndRequest, Instant)>,
}

impl EndRequests {
    /// Asks the program to end, with stronger requests over time. The program may catch `SystemExit` or continue in another thread.
    /// Returns the request, if one was made now.
    fn escalate(&mut self, watched: &Watched, ends: usize) -> Option<EndRequest> {
        let since = |at: Instant, patience: Duration| at.elapsed() > patience;
        let next = match (self.asked, self.stopped) {
            (Some((EndRequest::Kill, _)), _) => return None,
            _ if ends > 1 => EndRequest::Kill,
            (None, _) if ends > 0 => EndRequest::Interrupt,
            (None, Some(at)) if since(at, END_TIMEOUT) => EndRequest::Interrupt,
            (Some((EndRequest::Interrupt, at)), _) if since(at, ESCALATION_TIMEOUT) => {
                EndRequest::Terminate
            }
            (Some((EndRequest::Terminate, at)), _) if since(at, ESCALATION_TIMEOUT) => {
                EndRequest::Kill
            }
            _ => return None,
        };
        watched.request_end(next);
        self.asked = Some((next, Instant::now()));
        Some(next)
    }
}
