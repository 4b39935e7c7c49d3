//! Alarm for a program that hangs: its trainer waits for a batch, and no loader makes progress.

use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, TryRecvError, bounded};
use loadscope_live::Join;
use loadscope_stacks::{Analysis, Snapshot, Wait};
use loadscope_trace::{Event, EventKind, RunId, Stage};
use loadscope_words::say;

/// Maximum time between two checks that counts. A recorder that was stopped or suspended observed nothing.
const MAX_STEP: Duration = Duration::from_secs(1);

/// Time limit of a snapshot. Reading a process can block, for example while its memory is on a file system that does not answer.
const SNAPSHOT_TIMEOUT: Duration = Duration::from_secs(8);

/// Number of times that a busy program is not reported. Slow work is no hang, but an endless loop is.
const MAX_BUSY: u32 = 9;

/// Time limit of a pending explanation at the end of the recording.
pub(super) const FINISH_TIMEOUT: Duration = Duration::from_secs(2);

/// Alarm for a program that hangs. It is raised once, and again only after a batch arrived.
pub(super) struct Alarm {
    limit: Duration,
    /// Loaders whose trainer waits in `next`, the longest wait first.
    waiting: Vec<RunId>,
    /// Observed time without progress during a wait.
    silence: Duration,
    checked: Instant,
    is_raised: bool,
    /// Number of times that the program was busy since the last batch.
    busy: u32,
    explanation: Option<Explanation>,
}

/// Text about the processes during a long wait.
enum Explained {
    /// The thread that training waits for is blocked, or unknown.
    Hang(String),
    /// The thread executes code or sleeps.
    Busy(String),
}

/// Explanation of a hang that a thread prepares.
struct Explanation {
    run: RunId,
    pid: u32,
    since: Instant,
    text: Receiver<Explained>,
    /// True if a batch arrived meanwhile.
    is_outdated: bool,
}

impl Alarm {
    /// Creates an alarm for waits of `limit` without progress.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            waiting: Vec::new(),
            silence: Duration::ZERO,
            checked: Instant::now(),
            is_raised: false,
            busy: 0,
            explanation: None,
        }
    }

    /// Applies events. The events of each process are in order.
    pub fn observe(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.apply(event));
    }

    fn apply(&mut self, event: &Event) {
        let run = event.run;
        match &event.kind {
            EventKind::Consumer { waiting } => {
                self.end_wait(run);
                self.waiting.extend(waiting.then_some(run));
            }
            EventKind::Entered { stage, .. } => match stage {
                Stage::Training => {
                    self.end_wait(run);
                    (self.is_raised, self.busy) = (false, 0);
                    if let Some(explanation) = &mut self.explanation {
                        explanation.is_outdated = true;
                    }
                }
                Stage::Failed => self.end_wait(run),
                Stage::Queued
                | Stage::Fetching
                | Stage::Collating
                | Stage::Returning
                | Stage::Pinning
                | Stage::Held
                | Stage::Ready
                | Stage::Done
                | Stage::Discarded => {}
            },
            EventKind::EpochStarted { .. }
            | EventKind::EpochEnded { .. }
            | EventKind::EpochContinued { .. }
            | EventKind::RunEnded => self.end_wait(run),
            EventKind::RunStarted(_)
            | EventKind::WorkerStarted(_)
            | EventKind::WorkerSeeded(_)
            | EventKind::Dispatched(_)
            | EventKind::Fetched(_) => {}
            // These are no work of a loader. Loadscope measures gauges itself.
            EventKind::WorkerEnded { .. }
            | EventKind::Processor(_)
            | EventKind::Aside(_)
            | EventKind::DeviceWait(_)
            | EventKind::Content(_)
            | EventKind::Stacks(_)
            | EventKind::Gauge(_)
            | EventKind::Message(_)
            | EventKind::Dropped { .. }
            | EventKind::Retention(_)
            | EventKind::Summed(_)
            | EventKind::Kept(_)
            | EventKind::State(_)
            | EventKind::Fact(_) => return,
        }
        self.silence = Duration::ZERO;
    }

    fn end_wait(&mut self, run: RunId) {
        self.waiting.retain(|one| *one != run);
    }

    /// Returns the text of a raised alarm and the loader that waits, once its explanation is complete. `main` returns the main process of
    /// a loader.
    pub fn check(
        &mut self,
        now: Instant,
        program: u32,
        main: impl Fn(RunId) -> u32,
    ) -> Option<(RunId, String)> {
        let step = now.saturating_duration_since(self.checked).min(MAX_STEP);
        self.checked = now;
        match self.waiting.first() {
            None => self.silence = Duration::ZERO,
            Some(run) => {
                self.silence += step;
                if self.silence >= self.limit && !self.is_raised && self.explanation.is_none() {
                    self.is_raised = true;
                    let (run, pid) = (*run, main(*run));
                    self.explanation =
                        Some(Explanation::begin(run, (program, pid), self.limit, now));
                }
            }
        }
        let explained = self.explanation.as_ref()?.poll(now, self.limit)?;
        let explanation = self.explanation.take()?;
        let text = match explained {
            _ if explanation.is_outdated => return None,
            Explained::Busy(_) if self.busy < MAX_BUSY => {
                self.busy += 1;
                (self.is_raised, self.silence) = (false, Duration::ZERO);
                return None;
            }
            Explained::Hang(text) | Explained::Busy(text) => text,
        };
        Some((explanation.run, text))
    }

    /// Waits up to `time` for the explanation of a raised alarm at the end of the recording. The result is that of [`Alarm::check`].
    pub fn finish(&mut self, time: Duration) -> Option<(RunId, String)> {
        let explanation = self.explanation.take().filter(|one| !one.is_outdated)?;
        match explanation.wait(time, self.limit) {
            Explained::Hang(text) => Some((explanation.run, text)),
            Explained::Busy(_) => None,
        }
    }
}

impl Explanation {
    /// Starts a thread that reads the stacks of a program and its main process.
    fn begin(run: RunId, (program, pid): (u32, u32), limit: Duration, now: Instant) -> Self {
        let (sender, text) = bounded(1);
        let explain = move || {
            let _ = sender.send(explanation(program, pid, limit));
        };
        // Without a thread, the channel is disconnected, and `poll` returns the text without a cause.
        let _ = Builder::new().name("alarm".to_owned()).spawn(explain);
        Self {
            run,
            pid,
            since: now,
            text,
            is_outdated: false,
        }
    }

    /// Returns the text if it is complete, or a text without a cause after the time limit or a failure of the thread.
    fn poll(&self, now: Instant, limit: Duration) -> Option<Explained> {
        match self.text.try_recv() {
            Ok(text) => Some(text),
            Err(TryRecvError::Disconnected) => Some(self.failed(limit)),
            Err(TryRecvError::Empty) => {
                let is_late = now.saturating_duration_since(self.since) > SNAPSHOT_TIMEOUT;
                let why = say!("its processes do not answer");
                is_late.then(|| unexplained(limit, self.pid, why))
            }
        }
    }

    /// Waits up to `time` for the text at the end of the recording.
    fn wait(&self, time: Duration, limit: Duration) -> Explained {
        match self.text.recv_timeout(time) {
            Ok(text) => text,
            Err(RecvTimeoutError::Disconnected) => self.failed(limit),
            Err(RecvTimeoutError::Timeout) => unexplained(
                limit,
                self.pid,
                say!("the recording ended before the stacks were read"),
            ),
        }
    }

    fn failed(&self, limit: Duration) -> Explained {
        let why = say!("the thread that reads the stacks failed");
        unexplained(limit, self.pid, why)
    }
}

/// Returns the cause of a hang, its remedy, and the command for all stacks, on one line.
fn explanation(program: u32, pid: u32, limit: Duration) -> Explained {
    let snapshot = match Snapshot::take_within(program, pid) {
        Ok(snapshot) => snapshot,
        Err(e) => return unexplained(limit, pid, &e.to_string()),
    };
    let analysis = Analysis::of(&snapshot);
    let cause = analysis.text(&snapshot);
    let (pid, seconds) = (snapshot.root, limit.as_secs_f64());
    let on_one_line = |text: String| text.replace(['\n', '\r'], " ");
    match analysis.conclusion(&snapshot) {
        Some(found) => Explained::Hang(on_one_line(say!(
            "No batch arrived for {seconds} s. {cause} {} For all stacks, run `loadscope dump {pid}`.",
            found.remedy()
        ))),
        None => {
            let text = on_one_line(say!(
                "No batch arrived for {seconds} s. {cause} For all stacks, run `loadscope dump {pid}`."
            ));
            match is_busy(&snapshot, &analysis) {
                true => Explained::Busy(text),
                false => Explained::Hang(text),
            }
        }
    }
}

/// Returns true if the thread that training waits for executes code, or sleeps for a fixed time.
fn is_busy(snapshot: &Snapshot, analysis: &Analysis) -> bool {
    let last = analysis.chain.last();
    let thread = last.and_then(|node| snapshot.thread(*node));
    thread.is_some_and(|thread| thread.is_active || thread.wait == Wait::Sleep)
}

fn unexplained(limit: Duration, pid: u32, why: &str) -> Explained {
    let (seconds, why) = (limit.as_secs_f64(), why.trim_end_matches(['.', '。']));
    let text = say!(
        "No batch arrived for {seconds} s. The cause is not known: {why}. For all stacks, run `loadscope dump {pid}`."
    );
    Explained::Hang(text.replace(['\n', '\r'], " "))
}

/// Returns the process id of the main process of a loader.
pub(super) fn main_process(join: &Join, run: RunId) -> Option<u32> {
    let processes = join.processes();
    let mut found = processes.iter().filter(|process| process.run == run);
    let main = found.find(|process| process.worker.is_none())?;
    u32::try_from(main.pid).ok()
}

#[cfg(test)]
mod tests;
