//! One run of the program: started, recorded, and ended after enough batches.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::RecvTimeoutError;
use loadscope_files::{Existing, create_file_for_process};
use loadscope_insight::tune::Kind;
use loadscope_live::{Effects, End, Output, Request};
use loadscope_trace::{Fleet, Overrides};
use loadscope_words::say;

use super::job::{Job, Progress, TuneError};
use crate::watch::{EndRequest, Watched};
use crate::{Record, Selection, Session, SessionEvent, describe_open_error, new_recording, open};

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
        let file = new_recording(&path, Existing::Keep, &Selection::default())?;
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
        match session.updates.recv_timeout(POLL_INTERVAL) {
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
