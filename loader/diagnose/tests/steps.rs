//! Parts of the training steps that count, in the fold and in the sums of a recording with a limit.

use loadscope_diagnose::{Survey, WaitSummary};
use loadscope_trace::{
    Aside, AsideKind, BatchId, Event, EventKind, Nanos, Origin, RetentionFilter, RetentionPolicy,
    Run, RunId, RunInfo, Stage,
};
use proptest::prelude::*;

const WAIT: i64 = 10;

/// Other work in a step: kind, start and end, ms after the yield.
type Work = (AsideKind, i64, i64);

/// Loop of a PyTorch program. Times in ms.
#[derive(Default)]
struct Loop {
    at: i64,
    epoch: u32,
    idx: u32,
    events: Vec<Event>,
}

impl Loop {
    fn new() -> Self {
        let mut new = Self::default();
        let info = RunInfo {
            origin: Origin::Pytorch("2.13".to_owned()),
            ..RunInfo::default()
        };
        new.tell(0, EventKind::RunStarted(Box::new(info)));
        new.tell(0, EventKind::EpochStarted { epoch: 0 });
        new
    }

    fn tell(&mut self, at: i64, kind: EventKind) {
        self.events.push(Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    }

    fn batch(&self) -> BatchId {
        BatchId {
            epoch: self.epoch,
            idx: self.idx,
        }
    }

    /// Waits for a batch and begins its step.
    fn next(&mut self) {
        let batch = self.batch();
        self.tell(self.at, EventKind::Consumer { waiting: true });
        self.tell(self.at, EventKind::dispatched(batch, Some(0), [1]));
        self.at += WAIT;
        let stage = Stage::Training;
        self.tell(self.at, EventKind::Entered { batch, stage });
    }

    /// Adds a step of `ms` ms, in which the program does other work.
    fn step(&mut self, ms: i64, work: &[Work]) -> &mut Self {
        self.next();
        let batch = self.batch();
        for (kind, start, end) in work {
            if *kind == AsideKind::Loader {
                // The step pauses while another loader is iterated.
                let stage = Stage::Done;
                self.tell(self.at + start, EventKind::Entered { batch, stage });
            }
            let aside = Aside {
                batch,
                kind: *kind,
                start: Nanos::from_millis(self.at + start),
            };
            self.tell(self.at + end, EventKind::Aside(Box::new(aside)));
        }
        self.at += ms;
        self.idx += 1;
        self
    }

    /// Ends the epoch, because the loader has no more batches.
    fn end(&mut self) -> &mut Self {
        self.tell(self.at, EventKind::Consumer { waiting: true });
        self.leave(0)
    }

    /// Leaves the loop. The next epoch begins `ms` later.
    fn leave(&mut self, ms: i64) -> &mut Self {
        self.at += ms;
        self.tell(self.at, EventKind::EpochEnded { epoch: self.epoch });
        self.epoch += 1;
        self.idx = 0;
        self.tell(self.at, EventKind::EpochStarted { epoch: self.epoch });
        self
    }

    fn run(&self) -> Run {
        let mut run = Run::default();
        self.events.iter().for_each(|event| run.apply(event));
        run
    }
}

fn ms(time: Nanos) -> i64 {
    time.0 / 1_000_000
}

#[test]
fn rare_long_steps_count_in_full() {
    for (every, long) in [(4, 150), (8, 900), (32, 150), (64, 4_000), (300, 60_000)] {
        let mut program = Loop::new();
        for k in 1..=2 * every {
            program.step(if k % every == 0 { long } else { 1 }, &[]);
        }
        let run = program.end().run();
        let trained = 2 * (every - 1 + long);
        assert_eq!(ms(run.trained()), trained, "every {every}");
        assert_eq!(ms(run.in_loop()), trained + 2 * every * WAIT);
        let survey = Survey::of(&run);
        assert_eq!(
            survey.share(run.trained()),
            trained as f64 / ms(run.in_loop()) as f64
        );
        assert_eq!(WaitSummary::of(&run).left_out(), None);
    }
}

#[test]
fn other_work_in_few_steps_is_left_out_and_named() {
    for kind in [
        AsideKind::Checkpoint,
        AsideKind::Evaluation,
        AsideKind::Loader,
    ] {
        let mut program = Loop::new();
        for k in 0..40 {
            match k % 10 {
                5 => program.step(2_020, &[(kind, 5, 2_005)]),
                _ => program.step(20, &[]),
            };
        }
        let run = program.end().run();
        assert_eq!(ms(run.trained()), 40 * 20, "{kind:?}");
        assert_eq!(
            run.time_outside_loop().asides[&kind],
            Nanos::from_millis(8_000)
        );
        assert_eq!(run.time_outside_loop().between, Nanos::ZERO);
        let left_out = WaitSummary::of(&run)
            .left_out()
            .expect("8 s are noticeable");
        let expected = format!("{} 8.00 s", kind.label());
        assert_eq!(left_out.replace('\u{2009}', " "), expected);
    }
}

#[test]
fn other_work_in_most_steps_counts_as_training() {
    for kind in [
        AsideKind::Checkpoint,
        AsideKind::Evaluation,
        AsideKind::Loader,
    ] {
        let mut program = Loop::new();
        for k in 0..9 {
            match k % 3 {
                0 => program.step(20, &[]),
                _ => program.step(50, &[(kind, 10, 40)]),
            };
        }
        let run = program.end().run();
        assert_eq!(ms(run.trained()), 3 * 20 + 6 * 50, "{kind:?}");
        assert!(run.time_outside_loop().asides.is_empty());
    }
}

#[test]
fn a_loader_without_an_end_excludes_the_rest_of_its_step() {
    let mut program = Loop::new();
    for _ in 0..5 {
        program.step(20, &[]);
    }
    program.next();
    let (batch, stage) = (program.batch(), Stage::Done);
    program.tell(program.at + 20, EventKind::Entered { batch, stage });
    program.at += 3_000;
    program.idx += 1;
    let run = program.step(20, &[]).end().run();
    assert_eq!(ms(run.trained()), 7 * 20);
    assert_eq!(
        ms(run.time_outside_loop().asides[&AsideKind::Loader]),
        2_980
    );
}

/// A loop over `range(len(loader))` does not request another batch after the last, so its last step has no end.
#[test]
fn a_last_step_without_an_end_has_the_usual_length() {
    let mut program = Loop::new();
    for _ in 0..3 {
        for _ in 0..10 {
            program.step(5, &[]);
        }
        program.leave(2_000);
    }
    let run = program.run();
    let in_first = 10 * 5;
    assert_eq!(ms(run.trained()), 3 * in_first);
    assert_eq!(ms(run.time_outside_loop().between), 3 * 2_000);
    let share = WaitSummary::of(&run).share();
    assert!((share - 10.0 / 15.0).abs() < 1e-9, "{share}");
}

#[test]
fn an_open_step_counts_at_most_as_the_longest_step() {
    let mut program = Loop::new();
    for length in [5, 80, 5] {
        program.step(length, &[]);
    }
    program.next();
    let batch = program.batch();
    let event = Event {
        at: Nanos::from_millis(program.at + 50),
        run: RunId(0),
        kind: EventKind::Dropped { count: 1 },
    };
    let mut run = program.run();
    run.apply(&event);
    assert_eq!(ms(run.trained()), 90 + 50);
    let late = Nanos::from_millis(program.at + 9_000);
    run.apply(&Event { at: late, ..event });
    assert_eq!(ms(run.trained()), 90 + 80);
    let stage = Stage::Done;
    let kind = EventKind::Entered { batch, stage };
    run.apply(&Event {
        at: late,
        run: RunId(0),
        kind,
    });
    assert_eq!(ms(run.trained()), 90 + 9_000);
}

/// Epochs: the steps with length and optional other work (kind, start, length), and whether the loop is left early.
type Epochs = Vec<(Vec<(i64, Option<(usize, i64, i64)>)>, bool)>;

fn epochs() -> impl Strategy<Value = Epochs> {
    let work = prop::option::weighted(0.3, (0..3usize, 0..40i64, 0..40i64));
    let step = (80..200i64, work);
    prop::collection::vec((prop::collection::vec(step, 0..30), any::<bool>()), 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The loop, other work and the time between epochs add up to the whole. The sums of a recording with a limit agree.
    #[test]
    fn loop_and_left_out_time_add_up_to_the_run(epochs in epochs()) {
        let kinds = [AsideKind::Checkpoint, AsideKind::Evaluation, AsideKind::Loader];
        let mut program = Loop::new();
        for (steps, is_left) in epochs {
            for (length, work) in steps {
                let work = work.map(|(kind, start, took)| (kinds[kind], start, start + took));
                program.step(length, work.as_slice());
            }
            match is_left {
                true => program.leave(1_000),
                false => program.end(),
            };
        }
        let run = program.run();
        let out = run.time_outside_loop();
        let asides: i64 = out.asides.values().map(|time| time.0).sum();
        let whole = run.in_loop().0 + asides + out.between.0;
        prop_assert_eq!(whole, run.end().0);
        let mut retention_filter = RetentionFilter::new(RetentionPolicy { long_wait: Nanos::MAX, keep_slowest: 0 });
        let mut kept = Vec::new();
        program.events.iter().for_each(|event| retention_filter.apply(event, &mut kept));
        retention_filter.finish(run.end(), &mut kept);
        let sums = kept.iter().filter_map(|event| match &event.kind {
            EventKind::Summed(sums) => Some(sums.in_loop().0),
            _ => None,
        });
        prop_assert_eq!(sums.sum::<i64>(), run.in_loop().0);
    }
}
