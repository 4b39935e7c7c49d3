//! Watches a PyTorch program: receives the events of its processes, sorts them, writes the log and sends them to the window.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;
use loadscope_live::{
    Address, Attach, AttachError, Effects, End, Gauges, Join, Listener, Output, Program,
    ProgramError, Remote, Request, UnrecordedScanner,
};
use loadscope_trace::{Event, Nanos, RunId, Sorter};
use loadscope_words::say;

use super::event_sink::EventSink;
use super::file::late_warning;
use super::{SessionError, SessionEvent};

mod alarm;
mod no_session;
mod notices;
mod shared;

use alarm::{Alarm, FINISH_TIMEOUT, main_process};
use notices::{nothing_seen, recording};
pub use shared::EndRequest;
use shared::Inner;

/// Maximum delay of an event in a watched run.
const MAX_DELAY: Nanos = Nanos(150_000_000);
/// Polling interval of the sockets. Polling is cheaper, because a sending process does not have to wake this one.
const POLL_INTERVAL: Duration = Duration::from_millis(4);
/// Maximum number of processes that are announced individually.
const MAX_ANNOUNCED: usize = 8;
/// Time for which the remaining processes of an ended program are still received.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for which a detached program is still received. Events from before may be in transit.
const DETACH_TIMEOUT: Duration = Duration::from_millis(300);

/// A program that is or will be watched.
#[derive(Clone)]
pub struct Watched(Arc<Inner>);

impl Watched {
    /// Starts `command`.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start(
        command: &[OsString],
        request: &Request,
        output: Output,
    ) -> Result<Self, ProgramError> {
        Self::start_in(None, command, request, output)
    }

    /// Starts `command` in `folder`. `None` is the working directory of this process.
    ///
    /// # Errors
    /// If the program cannot be started.
    pub fn start_in(
        folder: Option<&Path>,
        command: &[OsString],
        request: &Request,
        output: Output,
    ) -> Result<Self, ProgramError> {
        Program::start(command, folder, request, output).map(Self::of)
    }

    /// Starts `command` on another host.
    ///
    /// # Errors
    /// If `ssh` cannot be started.
    #[cfg(unix)]
    pub fn start_remote(
        remote: &Remote,
        command: &[OsString],
        request: &Request,
    ) -> Result<Self, ProgramError> {
        Program::start_remote(remote, command, request).map(Self::of)
    }

    fn of(started: (Program, Listener)) -> Self {
        Self(Arc::new(Inner {
            started: Mutex::new(Some(started)),
            ..Inner::default()
        }))
    }

    /// Listens to a running program.
    ///
    /// # Errors
    /// If there is no such process, or if it cannot be recorded.
    pub fn attach(pid: u32, how: Attach, previews: u32) -> Result<(Self, Address), AttachError> {
        let (program, listener, address) = Program::attach(pid, how, previews)?;
        Ok((Self::of((program, listener)), address))
    }

    /// Reports the cause if the trainer waits for `limit` while no loader makes progress. The call must precede the session.
    pub fn set_alarm(&self, limit: Duration) {
        let _ = self.0.alarm.set(limit);
    }

    /// Returns true if a session follows the program.
    pub fn is_followed(&self) -> bool {
        self.started().is_none()
    }

    /// Returns true if the program has ended after SIGTERM or SIGHUP asked this process to end.
    /// SIGINT from Ctrl-C does not count, because it only concerns the program.
    pub fn ended_by_signal(&self) -> bool {
        self.0.got_end_signal.load(Ordering::Acquire) && self.has_ended()
    }

    /// Returns the effects of the request on the program so far.
    pub fn effects(&self) -> Effects {
        let effects = self.0.effects.lock();
        effects.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn started(&self) -> MutexGuard<'_, Option<(Program, Listener)>> {
        let started = self.0.started.lock();
        started.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the program and for all its events. Without a session, no events are received.
    pub fn wait(&self) -> End {
        let alone = self.started().take();
        if let Some((program, _)) = alone {
            return no_session::wait(program);
        }
        let mut end = self.0.end.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(end) = *end {
                return end;
            }
            let waited = self.0.ended.wait(end);
            end = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Returns true if the program has ended.
    pub fn has_ended(&self) -> bool {
        let end = self.0.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.is_some()
    }

    /// Returns true if a process of the ended program was reached.
    pub fn was_reached(&self) -> bool {
        self.0.reached.load(Ordering::Acquire)
    }

    /// Asks the program to end.
    pub fn request_end(&self, asking: EndRequest) {
        self.0.asking.fetch_max(asking as u8, Ordering::AcqRel);
    }

    /// Ends a program without a session at once, because nothing else would report or end it.
    pub fn kill_unwatched(&self) {
        let alone = self.started().take();
        if let Some((program, _)) = alone {
            self.0.set_end(no_session::end(program));
        }
    }

    /// Ends the recording of an attached program, which continues.
    pub fn detach(&self) {
        self.request_end(EndRequest::Interrupt);
    }

    /// Waits up to `time` for the end of the program.
    pub fn wait_for(&self, time: Duration) -> Option<End> {
        let end = self.0.end.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.ended.wait_timeout_while(end, time, |e| e.is_none());
        let (end, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *end
    }

    /// Stops sending events to the window. The program and its recording continue.
    pub fn stop_events(&self) {
        self.0.events_stopped.store(true, Ordering::Release);
    }

    /// Follows the program in a separate thread.
    pub(super) fn follow(&self, sink: EventSink, has_window: bool) -> Result<(), SessionError> {
        // The program is taken only after the thread started. Without a thread, another call must still wait for it.
        let (work, wanted) = bounded::<ProbeReceiver>(1);
        let run = move || wanted.into_iter().for_each(ProbeReceiver::run);
        Builder::new()
            .name("watcher".to_owned())
            .spawn(run)
            .map_err(SessionError::Thread)?;
        let Some((program, listener)) = self.started().take() else {
            return Ok(());
        };
        let alarm = self.0.alarm.get().filter(|_| program.is_local());
        let receiver = ProbeReceiver {
            alarm: alarm.map(|limit| Alarm::new(*limit)),
            listener,
            join: Join::default(),
            sorter: Sorter::new(MAX_DELAY),
            late_events: Vec::new(),
            has_window,
            gauges: Gauges::default(),
            unrecorded_scanner: program.unrecorded_scanner(),
            announced: 0,
            program,
            sink,
            newest: Nanos::ZERO,
            shared: Arc::clone(&self.0),
        };
        let _ = work.send(receiver);
        Ok(())
    }
}

struct ProbeReceiver {
    program: Program,
    listener: Listener,
    join: Join,
    sorter: Sorter,
    /// Late events, in a run that no window shows.
    late_events: Vec<Event>,
    has_window: bool,
    gauges: Gauges,
    unrecorded_scanner: Option<UnrecordedScanner>,
    alarm: Option<Alarm>,
    /// Number of announced processes.
    announced: usize,
    sink: EventSink,
    newest: Nanos,
    shared: Arc<Inner>,
}

impl ProbeReceiver {
    fn run(mut self) {
        let mut ended = None;
        let end = loop {
            let now = self.poll();
            let mut ready = Vec::new();
            while let Some(event) = self.sorter.pop(now) {
                ready.push(event);
            }
            self.forward(ready);
            if ended.is_none() {
                self.check_alarm(now);
            }
            self.sink.flush_when_due();
            match self.shared.asking.swap(0, Ordering::AcqRel) {
                0 => {}
                1 => self.program.interrupt(),
                2 => self.program.terminate(),
                _ => self.program.kill(),
            }
            if self.program.forward_signals() {
                self.shared.got_end_signal.store(true, Ordering::Release);
            }
            if let Some(end) = self.program.ended() {
                let since = *ended.get_or_insert_with(Instant::now);
                let silent = self.listener.authenticated_count() == 0;
                // Processes of a detached program may send further events.
                let patience = match self.program.was_already_running() {
                    true => DETACH_TIMEOUT,
                    false => DRAIN_TIMEOUT,
                };
                if silent || since.elapsed() > patience {
                    self.program.kill_remaining();
                    break end;
                }
            }
            std::thread::sleep(POLL_INTERVAL);
        };
        self.finish(end);
    }

    /// Reports the cause of a hang, in the recording and as a notice.
    fn check_alarm(&mut self, now: Option<Nanos>) {
        let Some(alarm) = &mut self.alarm else { return };
        let (join, program) = (&self.join, self.program.pid());
        let main = |run| main_process(join, run).unwrap_or(program);
        if let Some((run, text)) = alarm.check(Instant::now(), program, main) {
            let at = now.unwrap_or(self.newest);
            self.sorter.push(Event::warning(run, at, text.clone()));
            self.sink.send(SessionEvent::Notice(text));
        }
    }

    /// Receives new events. Returns the current time of the run.
    fn poll(&mut self) -> Option<Nanos> {
        for said in self.listener.poll(&mut self.join) {
            self.sink.send(SessionEvent::Notice(said.0));
        }
        self.report_processes();
        let now = self.listener.now().and_then(|now| self.join.time_of(now));
        // Process ids of another host would belong to other processes here.
        if let Some(now) = now.filter(|_| self.program.is_local()) {
            let mut measured = Vec::new();
            self.gauges
                .measure(&self.join.processes(), now, &mut measured);
            measured
                .into_iter()
                .for_each(|event| self.sorter.push(event));
        }
        self.receive_events();
        now
    }

    /// Reports processes that are not recorded, and, if no window shows them, processes that are.
    fn report_processes(&mut self) {
        for process in self.join.take_new_processes() {
            self.announced += 1;
            if !self.has_window && self.announced <= MAX_ANNOUNCED {
                self.sink.send(SessionEvent::Notice(recording(&process)));
            }
        }
        let unrecorded_scanner = self.unrecorded_scanner.as_mut();
        let unrecorded = unrecorded_scanner.map_or_else(Vec::new, |l| l.scan(self.join.pids()));
        let notices = unrecorded.iter().map(|process| process.sentence());
        notices.for_each(|text| self.sink.send(SessionEvent::Notice(text)));
    }

    /// Takes new events. A busy host may delay a process for a long time, so late events keep their time in the file. Readers sort them.
    fn receive_events(&mut self) {
        let shared = self.shared.effects.lock();
        let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
        if *shared != *self.join.effects() {
            shared.clone_from(self.join.effects());
        }
        drop(shared);
        for event in self.join.events() {
            match !self.has_window && event.at < self.newest {
                true => self.late_events.push(event),
                false => self.sorter.push(event),
            }
        }
    }

    fn finish(mut self, end: End) {
        self.poll();
        if self.program.is_detached() {
            self.join.detach(self.listener.now());
        }
        self.join.finish();
        self.receive_events();
        let mut rest: Vec<Event> = std::iter::from_fn(|| self.sorter.flush()).collect();
        let at = rest.last().map_or(self.newest, |event| event.at);
        if self.sorter.late() > 0 {
            rest.push(late_warning(RunId(0), at, self.sorter.late()));
        }
        let refused = self.listener.refused();
        if refused > 0 && self.join.loaders() > 0 {
            let text = say!("{refused} connections without the right token were rejected");
            rest.push(Event::warning(RunId(0), at, text));
        }
        self.forward(rest);
        let pending = (self.alarm.as_mut()).and_then(|alarm| alarm.finish(FINISH_TIMEOUT));
        if let Some((run, text)) = pending {
            self.forward(vec![Event::warning(run, self.newest, text.clone())]);
            self.sink.send(SessionEvent::Notice(text));
        }
        self.sink.close();
        // The folder of the probe is removed before the end is reported, because this process may then exit at once.
        let running = self
            .program
            .was_already_running()
            .then(|| self.program.pid());
        drop(self.program);
        let complaint = (self.join.loaders() == 0)
            .then(|| nothing_seen(&self.join, self.unrecorded_scanner.as_ref(), running));
        let is_reached = !self.join.pids().is_empty();
        self.shared.reached.store(is_reached, Ordering::Release);
        self.sink.send(SessionEvent::Ended(complaint));
        self.shared.set_end(end);
    }

    fn forward(&mut self, mut events: Vec<Event>) {
        if let Some(last) = events.last() {
            self.newest = last.at;
        }
        if !self.late_events.is_empty() {
            let late = std::mem::take(&mut self.late_events);
            events.splice(..0, late);
        }
        (self.alarm.iter_mut()).for_each(|alarm| alarm.observe(&events));
        self.sink.write(&mut events);
        if !self.shared.events_stopped.load(Ordering::Acquire) {
            self.sink.send_events(events);
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
