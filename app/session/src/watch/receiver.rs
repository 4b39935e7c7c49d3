//! Receives the events of a watched program, sorts them, writes the log and sends them to the window.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use loadscope_live::{End, Gauges, Join, Listener, Program, SharedFiles, UnrecordedScanner};
use loadscope_trace::{Event, Nanos, RunId, Sorter};
use loadscope_words::say;

use super::alarm::{Alarm, FINISH_TIMEOUT, main_process};
use super::notices::{nothing_seen, recording};
use super::shared::Inner;
use super::stacks::StackRecorder;
use crate::SessionEvent;
use crate::event_sink::EventSink;
use crate::file::late_warning;

/// Maximum delay of an event in a watched run.
const MAX_DELAY: Nanos = Nanos(150_000_000);
/// Polling interval of the sockets. Polling is cheaper, because a sending process does not have to wake this one.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(4);
/// Maximum number of processes that are announced individually.
const MAX_ANNOUNCED: usize = 8;
/// Time for which the remaining processes of an ended program are still received.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Time for which a detached program is still received. Events from before may be in transit.
const DETACH_TIMEOUT: Duration = Duration::from_millis(300);

/// Receiver of the events of a watched program.
pub(super) struct ProbeReceiver {
    program: Program,
    listener: Listener,
    join: Join,
    sorter: Sorter,
    /// Late events, in a run that no window shows.
    late_events: Vec<Event>,
    has_window: bool,
    gauges: Gauges,
    shared_files: SharedFiles,
    unrecorded_scanner: Option<UnrecordedScanner>,
    alarm: Option<Alarm>,
    stacks: Option<StackRecorder>,
    /// Number of announced processes.
    announced: usize,
    sink: EventSink,
    newest: Nanos,
    shared: Arc<Inner>,
}

impl ProbeReceiver {
    /// Creates a receiver of a program's events, which it sends to `sink`.
    pub fn new(
        program: Program,
        listener: Listener,
        sink: EventSink,
        has_window: bool,
        shared: Arc<Inner>,
    ) -> Self {
        let is_local = program.is_local();
        let alarm = shared.alarm.get().filter(|_| is_local);
        let sampling = shared.stacks.get().filter(|_| is_local);
        Self {
            alarm: alarm.map(|limit| Alarm::new(*limit)),
            stacks: sampling.and_then(|sampling| StackRecorder::start(*sampling)),
            listener,
            join: Join::default(),
            sorter: Sorter::new(MAX_DELAY),
            late_events: Vec::new(),
            has_window,
            gauges: Gauges::default(),
            shared_files: SharedFiles::default(),
            unrecorded_scanner: program.unrecorded_scanner(),
            announced: 0,
            program,
            sink,
            newest: Nanos::ZERO,
            shared,
        }
    }

    /// Receives the events until the program has ended.
    pub fn run(mut self) {
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
            let processes = self.join.processes();
            self.gauges.measure(&processes, now, &mut measured);
            self.shared_files.find(&processes, now, &mut measured);
            measured
                .into_iter()
                .for_each(|event| self.sorter.push(event));
        }
        // The stack recorder knows a new loader before its first events.
        self.sample_stacks(now, false);
        self.receive_events();
        now
    }

    /// Adds the sampled stacks.
    fn sample_stacks(&mut self, now: Option<Nanos>, is_end: bool) {
        let (Some(stacks), Some(now)) = (&mut self.stacks, now) else {
            return;
        };
        let mut events = Vec::new();
        let refused = stacks.take(&self.join, now, is_end, &mut events);
        events.into_iter().for_each(|event| self.sorter.push(event));
        if let Some(refused) = refused {
            let (pid, why) = refused;
            let text = say!("The stacks of process {pid} are not sampled: {why}");
            self.sink.send(SessionEvent::Notice(text));
        }
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
            (self.stacks.iter_mut()).for_each(|stacks| stacks.observe(&event));
            match !self.has_window && event.at < self.newest {
                true => self.late_events.push(event),
                false => self.sorter.push(event),
            }
        }
    }

    fn finish(mut self, end: End) {
        let now = self.poll();
        self.sample_stacks(now, true);
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
