use loadscope_trace::{BatchId, Fetched, Gauge, GaugeKind, Nanos};

use super::*;

const LIMIT: Duration = Duration::from_secs(3);

const BATCH: BatchId = BatchId { epoch: 0, idx: 0 };

/// Alarm with a simulated clock.
struct Clock {
    alarm: Alarm,
    now: Instant,
    reported: Vec<(RunId, String)>,
}

impl Clock {
    fn new() -> Self {
        let alarm = Alarm::new(LIMIT);
        let now = alarm.checked;
        Self {
            alarm,
            now,
            reported: Vec::new(),
        }
    }

    fn apply(&mut self, run: u32, kind: EventKind) {
        let (at, run) = (Nanos::ZERO, RunId(run));
        self.alarm.apply(&Event { at, run, kind });
    }

    fn check(&mut self) {
        // No process has this id, so the explanation is an error.
        let pid = u32::MAX >> 1;
        self.reported
            .extend(self.alarm.check(self.now, pid, |_| pid));
    }

    /// Checks every 0.5 s. Returns true if the alarm was raised meanwhile.
    fn pass(&mut self, checks: u32) -> bool {
        let before = self.alarm.is_raised;
        for _ in 0..checks {
            self.now += Duration::from_millis(500);
            self.check();
        }
        !before && self.alarm.is_raised
    }

    /// Replaces the explanation of a raised alarm with one whose text the test sends.
    fn explain(&mut self) -> crossbeam_channel::Sender<Explained> {
        assert!(self.pass(6), "no alarm");
        let (sender, text) = bounded(1);
        self.reported.clear();
        self.alarm.explanation = Some(Explanation {
            run: RunId(0),
            pid: 1,
            since: self.now,
            text,
            is_outdated: false,
        });
        sender
    }

    /// Waits for the explanation. Returns all reports so far.
    fn reported(&mut self) -> Vec<(RunId, String)> {
        let end = Instant::now() + Duration::from_secs(60);
        while self.alarm.explanation.is_some() {
            assert!(Instant::now() < end, "no explanation");
            self.check();
            std::thread::sleep(Duration::from_millis(5));
        }
        self.reported.clone()
    }
}

fn enter(stage: Stage) -> EventKind {
    EventKind::Entered {
        batch: BATCH,
        stage,
    }
}

fn wait() -> EventKind {
    EventKind::Consumer { waiting: true }
}

fn fetched() -> EventKind {
    EventKind::Fetched(Box::new(Fetched {
        batch: BATCH,
        samples: Vec::new(),
        stages: Vec::new(),
    }))
}

#[test]
fn only_an_open_wait_without_progress_raises_the_alarm() {
    let gauge = EventKind::Gauge(Box::new(Gauge {
        lane: None,
        part: None,
        what: GaugeKind::Cpu,
        value: 1.0,
    }));
    let note = Event::warning(RunId(0), Nanos::ZERO, "text".to_owned()).kind;
    for (is_raised, kind) in [
        (true, gauge),
        (true, note),
        (false, enter(Stage::Training)),
        (false, enter(Stage::Failed)),
        (false, EventKind::Consumer { waiting: false }),
        (false, EventKind::EpochEnded { epoch: 0 }),
        (false, EventKind::RunEnded),
    ] {
        let mut clock = Clock::new();
        let text = format!("{kind:?}");
        clock.apply(0, wait());
        clock.pass(1);
        clock.apply(0, kind);
        assert_eq!(clock.pass(100), is_raised, "{text}");
    }
    assert!(!Clock::new().pass(100), "no loader was iterated");
}

#[test]
fn finished_work_of_any_loader_is_progress() {
    for kind in [fetched(), enter(Stage::Returning), enter(Stage::Held)] {
        let mut clock = Clock::new();
        clock.apply(0, wait());
        for _ in 0..10 {
            assert!(!clock.pass(5), "{kind:?}");
            clock.apply(1, kind.clone());
        }
        assert!(clock.pass(6));
    }
}

#[test]
fn the_alarm_is_raised_once_until_a_batch_arrives() {
    let mut clock = Clock::new();
    clock.apply(1, enter(Stage::Training));
    clock.apply(2, wait());
    assert!(clock.pass(6));
    let reported = clock.reported();
    let [(RunId(2), text)] = reported.as_slice() else {
        panic!("{reported:?}");
    };
    assert!(
        text.starts_with("No batch arrived for 3 s. The cause is not known: ")
            && text.contains("`loadscope dump ")
            && !text.contains(".."),
        "{text}"
    );
    clock.apply(2, fetched());
    assert!(!clock.pass(20));
    assert_eq!(clock.reported().len(), 1);
    clock.apply(2, enter(Stage::Training));
    clock.apply(2, wait());
    assert!(clock.pass(20));
    assert_eq!(clock.reported().len(), 2);
}

#[test]
fn a_batch_before_the_explanation_ends_the_alarm() {
    for is_late in [false, true] {
        let mut clock = Clock::new();
        clock.apply(0, wait());
        let sender = clock.explain();
        if !is_late {
            clock.apply(0, enter(Stage::Training));
        }
        sender
            .send(Explained::Hang("text".to_owned()))
            .expect("room for one");
        assert_eq!(clock.reported().len(), usize::from(is_late));
    }
}

/// A program can end, or be killed, while its stacks are read.
#[test]
fn the_end_of_the_program_does_not_lose_a_raised_alarm() {
    const NOTHING: &str = "";
    let unknown = "No batch arrived for 3 s. The cause is not known: the recording ended before the stacks were read.";
    for (sent, is_outdated, expected) in [
        ("text", false, Some("text")),
        ("text", true, None),
        (NOTHING, false, Some(unknown)),
    ] {
        let mut clock = Clock::new();
        clock.apply(0, wait());
        let sender = clock.explain();
        clock.apply(0, EventKind::RunEnded);
        if is_outdated {
            clock.apply(0, enter(Stage::Training));
        }
        if sent != NOTHING {
            sender
                .send(Explained::Hang(sent.to_owned()))
                .expect("room for one");
        }
        let reported = clock.alarm.finish(Duration::ZERO);
        match expected {
            Some(text) => {
                let (run, reported) = reported.expect("a report");
                assert!(run == RunId(0) && reported.starts_with(text), "{reported}");
            }
            None => assert_eq!(reported, None),
        }
        assert_eq!(
            clock.alarm.finish(Duration::MAX),
            None,
            "it is reported once"
        );
    }
    assert_eq!(Clock::new().alarm.finish(Duration::MAX), None, "no alarm");
}

#[test]
fn an_explanation_is_awaited_for_a_limited_time() {
    let mut clock = Clock::new();
    clock.apply(0, wait());
    let _sender = clock.explain();
    clock.pass(16);
    assert_eq!(clock.reported, []);
    clock.pass(1);
    let text = &clock.reported.first().expect("a report").1;
    assert!(text.contains("its processes do not answer"), "{text}");
}

#[test]
fn a_failed_thread_is_reported_at_once() {
    for is_ended in [false, true] {
        let mut clock = Clock::new();
        clock.apply(0, wait());
        drop(clock.explain());
        let reported = match is_ended {
            true => clock.alarm.finish(Duration::MAX),
            false => clock.alarm.check(clock.now, 1, |_| 1),
        };
        let text = reported.expect("a report").1;
        assert!(
            text.contains("the thread that reads the stacks failed"),
            "{text}"
        );
    }
}

/// Ctrl+Z stops the recorder together with the program.
#[test]
fn the_time_of_a_stopped_recorder_does_not_count() {
    let mut clock = Clock::new();
    clock.apply(0, wait());
    clock.now += Duration::from_secs(3600);
    assert!(!clock.pass(1));
    assert!(clock.pass(5));
}

/// A worker executes code during a batch that takes longer than the alarm's time. After ten times as long, it is reported.
#[test]
fn a_busy_program_is_reported_after_ten_times_as_long() {
    let mut clock = Clock::new();
    clock.apply(0, wait());
    let mut looks = 0;
    let busy = |clock: &mut Clock| {
        let sender = clock.explain();
        let text = Explained::Busy("busy".to_owned());
        sender.send(text).expect("room for one");
        clock.reported()
    };
    for _ in 0..2 {
        while busy(&mut clock).is_empty() {
            looks += 1;
        }
        assert_eq!(clock.reported, [(RunId(0), "busy".to_owned())]);
        // Then a batch arrives.
        clock.apply(0, enter(Stage::Training));
        clock.apply(0, wait());
    }
    assert_eq!(looks, 2 * MAX_BUSY);
}
