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
        assert!(clock.pass(6));
        let (sender, text) = bounded(1);
        clock.reported.clear();
        clock.alarm.explanation = Some(Explanation {
            run: RunId(0),
            pid: 1,
            since: Instant::now(),
            text,
            is_outdated: false,
        });
        if !is_late {
            clock.apply(0, enter(Stage::Training));
        }
        sender.send("text".to_owned()).expect("room for one");
        assert_eq!(clock.reported().len(), usize::from(is_late));
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
