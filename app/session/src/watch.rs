//! Watches a PyTorch program, which Loadscope starts or attaches to.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::bounded;
use loadscope_live::{
    Address, Attach, AttachError, Effects, End, Listener, Output, Program, ProgramError, Remote,
    Request,
};

use super::SessionError;
use super::event_sink::EventSink;

mod alarm;
mod no_session;
mod notices;
mod receiver;
mod shared;
mod sources;
mod stacks;

use receiver::ProbeReceiver;
pub use shared::EndRequest;
use shared::Inner;
pub use stacks::StackSampling;

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

    /// Samples the stacks of the program's processes, if this process can read their memory. The call must precede the session.
    pub fn set_stacks(&self, sampling: StackSampling) {
        let _ = self.0.stacks.set(sampling);
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
        let shared = Arc::clone(&self.0);
        let receiver = ProbeReceiver::new(program, listener, sink, has_window, shared);
        let _ = work.send(receiver);
        Ok(())
    }
}

#[cfg(all(test, unix))]
mod tests;
