//! Watches a PyTorch program: hears its processes, puts what they say into order, writes the log and passes it on.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};

use crossbeam_channel::bounded;
use loadscope_live::{
    Address, Attach, AttachError, Effects, End, Gauges, Join, Listener, Lookout, Output, Program,
    ProgramError, Remote, Request,
};
use loadscope_trace::{Event, Nanos, RunId, Sorter};
use loadscope_words::say;

use super::event_sink::EventSink;
use super::file::late;
use super::{SessionError, SessionEvent};

mod alone;
mod notices;
mod reached;

use notices::{nothing_seen, recording};

/// Longest delay of an event, while the run is watched.
const STRAGGLERS: Nanos = Nanos(150_000_000);
/// Polling interval of the sockets. Polled on purpose: otherwise a process that sends would have to wake this one.
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// Processes that are named when the probe reaches them.
const GREETED: usize = 8;

/// So long the processes that a program leaves behind are still heard.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// So long a program is heard that goes on: what it said before it was let go may be on its way.
const LET_GO: Duration = Duration::from_millis(300);

/// How a program is asked to end, the later ones more firmly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asking {
    /// As Ctrl-C does.
    Interrupt = 1,
    /// As `kill` does.
    Terminate = 2,
    /// It is ended, and what it left behind.
    Kill = 3,
}

/// A program that was started to be watched.
#[derive(Clone)]
pub struct Watched(Arc<Inner>);

struct Inner {
    started: Mutex<Option<(Program, Listener)>>,
    /// How it is to be asked to end, as a number; 0: not at all.
    asking: AtomicU8,
    away: AtomicBool,
    told_to_end: AtomicBool,
    end: Mutex<Option<End>>,
    ended: Condvar,
    effects: Mutex<Effects>,
    reached: AtomicBool,
}

impl Inner {
    /// It has ended: who waits for that goes on.
    fn say(&self, end: End) {
        let mut known = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(end);
        self.ended.notify_all();
    }
}

impl Watched {
    /// Starts `command`.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(
        command: &[OsString],
        request: &Request,
        output: Output,
    ) -> Result<Self, ProgramError> {
        Self::start_in(None, command, request, output)
    }

    /// Starts `command` in `folder`, or else where this process was started.
    ///
    /// # Errors
    /// If it cannot be started.
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
    pub fn start_there(
        remote: &Remote,
        command: &[OsString],
        request: &Request,
    ) -> Result<Self, ProgramError> {
        Program::start_there(remote, command, request).map(Self::of)
    }

    fn of(started: (Program, Listener)) -> Self {
        Self(Arc::new(Inner {
            started: Mutex::new(Some(started)),
            asking: AtomicU8::new(0),
            away: AtomicBool::new(false),
            told_to_end: AtomicBool::new(false),
            end: Mutex::new(None),
            ended: Condvar::new(),
            effects: Mutex::new(Effects::default()),
            reached: AtomicBool::new(false),
        }))
    }

    /// Listens to a program that runs already.
    ///
    /// # Errors
    /// If there is no such process, or it cannot be asked to tell.
    pub fn attach(pid: u32, how: Attach, previews: u32) -> Result<(Self, Address), AttachError> {
        let (program, listener, address) = Program::attach(pid, how, previews)?;
        Ok((Self::of((program, listener)), address))
    }

    /// True once a session follows it.
    pub fn is_followed(&self) -> bool {
        self.started().is_none()
    }

    /// True once it has ended after a signal asked this process to end, and not just the program, as Ctrl-C does.
    pub fn was_asked_to_end(&self) -> bool {
        self.0.told_to_end.load(Ordering::Acquire) && self.has_ended()
    }

    /// Effects of the request on the program so far.
    pub fn effects(&self) -> Effects {
        let effects = self.0.effects.lock();
        effects.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn started(&self) -> MutexGuard<'_, Option<(Program, Listener)>> {
        let started = self.0.started.lock();
        started.unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until it has ended and everything it told was taken in. Without a session that follows it, nothing is.
    pub fn wait(&self) -> End {
        let alone = self.started().take();
        if let Some((program, _)) = alone {
            return alone::wait(program);
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

    /// True if it has ended.
    pub fn has_ended(&self) -> bool {
        let end = self.0.end.lock().unwrap_or_else(PoisonError::into_inner);
        end.is_some()
    }

    /// Asks the program to end, as Ctrl-C does.
    pub(super) fn interrupt(&self) {
        self.ask_to_end(Asking::Interrupt);
    }

    /// Asks the program to end.
    pub fn ask_to_end(&self, asking: Asking) {
        self.0.asking.fetch_max(asking as u8, Ordering::AcqRel);
    }

    /// Ends a program at once that no session follows: nothing else would report on it, or end it.
    pub fn end_unfollowed(&self) {
        let alone = self.started().take();
        if let Some((program, _)) = alone {
            self.0.say(alone::end(program));
        }
    }

    /// A program that ran already is not recorded any more; it goes on.
    pub fn let_go(&self) {
        self.ask_to_end(Asking::Interrupt);
    }

    /// Waits at most so long for its end.
    pub fn wait_for(&self, time: Duration) -> Option<End> {
        let end = self.0.end.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.ended.wait_timeout_while(end, time, |e| e.is_none());
        let (end, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *end
    }

    /// The run is not watched any more; the program goes on.
    pub fn look_away(&self) {
        self.0.away.store(true, Ordering::Release);
    }

    /// Follows the program in a thread of its own.
    pub(super) fn follow(&self, sink: EventSink, seen: bool) -> Result<(), SessionError> {
        // The program is taken once there is a thread: without one it must still be waited for.
        let (work, wanted) = bounded::<ProbeReceiver>(1);
        let run = move || wanted.into_iter().for_each(ProbeReceiver::run);
        Builder::new()
            .name("watcher".to_owned())
            .spawn(run)
            .map_err(SessionError::Thread)?;
        let Some((program, listener)) = self.started().take() else {
            return Ok(());
        };
        let receiver = ProbeReceiver {
            listener,
            join: Join::default(),
            sorter: Sorter::new(STRAGGLERS),
            stragglers: Vec::new(),
            seen,
            gauges: Gauges::default(),
            lookout: program.lookout(),
            greeted: 0,
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
    /// What came later than that, while it is not watched.
    stragglers: Vec<Event>,
    seen: bool,
    gauges: Gauges,
    lookout: Option<Lookout>,
    /// Processes that were named when the probe reached them.
    greeted: usize,
    sink: EventSink,
    newest: Nanos,
    shared: Arc<Inner>,
}

impl ProbeReceiver {
    fn run(mut self) {
        let mut ended = None;
        let end = loop {
            let now = self.turn();
            let mut ready = Vec::new();
            while let Some(event) = self.sorter.pop(now) {
                ready.push(event);
            }
            self.pass_on(ready);
            self.sink.flush_when_due();
            match self.shared.asking.swap(0, Ordering::AcqRel) {
                0 => {}
                1 => self.program.interrupt(),
                2 => self.program.terminate(),
                _ => self.program.kill(),
            }
            if self.program.pass_signals_on() {
                self.shared.told_to_end.store(true, Ordering::Release);
            }
            if let Some(end) = self.program.ended() {
                let since = *ended.get_or_insert_with(Instant::now);
                let silent = self.listener.speaking() == 0;
                // Processes of a program that goes on may speak on.
                let patience = match self.program.ran_already() {
                    true => LET_GO,
                    false => AFTERWARDS,
                };
                if silent || since.elapsed() > patience {
                    self.program.clear_up();
                    break end;
                }
            }
            std::thread::sleep(LOOK_EVERY);
        };
        self.finish(end);
    }

    /// Hears what is new; answers what time it is.
    fn turn(&mut self) -> Option<Nanos> {
        for said in self.listener.turn(&mut self.join) {
            self.sink.tell(SessionEvent::Notice(said.0));
        }
        self.say_who_is_recorded();
        let now = self.listener.now().and_then(|now| self.join.time_of(now));
        // Ids of processes on another host are those of others here.
        if let Some(now) = now.filter(|_| self.program.is_here()) {
            let mut measured = Vec::new();
            self.gauges
                .measure(&self.join.processes(), now, &mut measured);
            measured
                .into_iter()
                .for_each(|event| self.sorter.push(event));
        }
        self.take_in();
        now
    }

    /// Says at once which processes are recorded, where no window shows them, and which are not.
    fn say_who_is_recorded(&mut self) {
        for process in self.join.reached() {
            self.greeted += 1;
            if !self.seen && self.greeted <= GREETED {
                self.sink.tell(SessionEvent::Notice(recording(&process)));
            }
        }
        let lookout = self.lookout.as_mut();
        let unrecorded = lookout.map_or_else(Vec::new, |l| l.look(self.join.pids()));
        let notices = unrecorded.iter().map(|process| process.sentence());
        notices.for_each(|text| self.sink.tell(SessionEvent::Notice(text)));
    }

    /// A host that is very busy may let a process wait for long. In a file its events keep their time: who reads it sorts them.
    fn take_in(&mut self) {
        let shared = self.shared.effects.lock();
        let mut shared = shared.unwrap_or_else(PoisonError::into_inner);
        if *shared != *self.join.effects() {
            shared.clone_from(self.join.effects());
        }
        drop(shared);
        for event in self.join.events() {
            match !self.seen && event.at < self.newest {
                true => self.stragglers.push(event),
                false => self.sorter.push(event),
            }
        }
    }

    fn finish(mut self, end: End) {
        self.turn();
        if self.program.is_let_go() {
            self.join.detach(self.listener.now());
        }
        self.join.finish();
        self.take_in();
        let mut rest: Vec<Event> = std::iter::from_fn(|| self.sorter.flush()).collect();
        let at = rest.last().map_or(self.newest, |event| event.at);
        if self.sorter.late() > 0 {
            rest.push(late(RunId(0), at, self.sorter.late()));
        }
        let refused = self.listener.refused();
        if refused > 0 && self.join.loaders() > 0 {
            let text = say!("{refused} connections without the right token were rejected");
            rest.push(Event::warning(RunId(0), at, text));
        }
        self.pass_on(rest);
        self.sink.close();
        // The folder of the probe goes before anyone hears of the end: this process may end at once.
        let running = self.program.ran_already().then(|| self.program.pid());
        drop(self.program);
        let complaint = (self.join.loaders() == 0)
            .then(|| nothing_seen(&self.join, self.lookout.as_ref(), running));
        self.shared.note_processes(&self.join);
        self.sink.tell(SessionEvent::Ended(complaint));
        self.shared.say(end);
    }

    fn pass_on(&mut self, mut events: Vec<Event>) {
        if let Some(last) = events.last() {
            self.newest = last.at;
        }
        if !self.stragglers.is_empty() {
            let late = std::mem::take(&mut self.stragglers);
            events.splice(..0, late);
        }
        self.sink.write(&mut events);
        if !self.shared.away.load(Ordering::Acquire) {
            self.sink.show(events);
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
