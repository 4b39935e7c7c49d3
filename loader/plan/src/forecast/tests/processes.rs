//! Worker processes cost time at the start and the end of each epoch. Threads do not.

use loadscope_trace::{Aside, AsideKind, EndReason, ProcessCost, WorkerInfo};

use super::*;

mod methods;
mod outside;

/// PyTorch program. Times are ms.
#[derive(Clone, Copy)]
struct Program {
    workers: u16,
    persistent: bool,
    epochs: u32,
    batches: u32,
    work: i64,
    step: i64,
    /// Time from the fork to the first fetch.
    start: i64,
    end: i64,
    pause: i64,
    /// Time in the loop of another loader after the last batch, before the workers end.
    other_loop: i64,
    /// Number of initial samples without CPU time. The CPU time of samples is half of their time.
    untimed: u32,
}

const PROGRAM: Program = Program {
    workers: 1,
    persistent: false,
    epochs: 2,
    batches: 20,
    work: 40,
    step: 10,
    start: 700,
    end: 500,
    pause: 0,
    other_loop: 0,
    untimed: 0,
};

const WAITS: EventKind = EventKind::Consumer { waiting: true };

impl Program {
    fn run(self) -> Run {
        let mut run = Run::new(RunInfo {
            options: RunOptions {
                num_workers: usize::from(self.workers),
                batch_size: Some(1),
                epochs: self.epochs,
                persistent_workers: self.persistent,
                ..RunOptions::default()
            },
            origin: Origin::Pytorch("2.13.0".to_owned()),
            cores: 16,
            ..RunInfo::default()
        });
        let mut all = Vec::new();
        let mut now = 0;
        for epoch in 0..self.epochs {
            now = self.epoch(epoch, now, &mut all) + self.pause;
        }
        all.push((now - self.pause, EventKind::RunEnded));
        all.sort_by_key(|(at, _)| *at);
        for (at, kind) in all {
            let at = Nanos::from_millis(at);
            run.apply(&Event {
                at,
                run: RunId(0),
                kind,
            });
        }
        assert_eq!(run.anomalies(), (0, 0));
        run
    }

    /// Records one epoch and returns its end.
    fn epoch(self, epoch: u32, begin: i64, all: &mut Vec<(i64, EventKind)>) -> i64 {
        let worker = (self.workers > 0).then_some(0);
        let starts = self.workers > 0 && (epoch == 0 || !self.persistent);
        all.push((begin, EventKind::EpochStarted { epoch }));
        if starts {
            let info = WorkerInfo {
                worker: 0,
                seed: None,
                os_id: None,
            };
            all.push((begin, EventKind::WorkerStarted(Box::new(info))));
        }
        all.push((begin, WAITS));
        let (mut free, mut done) = (begin + if starts { self.start } else { 0 }, begin);
        let mut out = vec![begin, begin];
        for idx in 0..self.batches {
            let batch = BatchId { epoch, idx };
            let sent = match worker {
                Some(_) => out[idx as usize],
                None => done,
            };
            let fetch = match worker {
                Some(_) => free.max(sent),
                None => done,
            };
            free = fetch + self.work;
            let given = free.max(done);
            let enter = |stage| EventKind::Entered { batch, stage };
            let number = u64::from(epoch * self.batches + idx);
            let cpu = Nanos::from_millis(self.work / 2);
            let sample = SampleTiming {
                start: Nanos::from_millis(fetch),
                wall: Nanos::from_millis(self.work),
                cpu: (number >= u64::from(self.untimed)).then_some(cpu),
            };
            let fetched = EventKind::Fetched(Box::new(Fetched {
                batch,
                samples: vec![sample],
                stages: Vec::new(),
            }));
            all.extend([
                (sent, EventKind::dispatched(batch, worker, [number])),
                (fetch, enter(Stage::Fetching)),
                (free, fetched),
                (free, enter(Stage::Returning)),
                (given, enter(Stage::Ready)),
                (given, enter(Stage::Training)),
            ]);
            out.push(given);
            done = given + self.step;
            all.push((done, enter(Stage::Done)));
            if self.other_loop == 0 || idx + 1 < self.batches {
                all.push((done, WAITS));
            }
        }
        let ends = self.workers > 0 && !self.persistent;
        let left = done + self.other_loop;
        let aside = Aside {
            batch: BatchId {
                epoch,
                idx: self.batches - 1,
            },
            kind: AsideKind::Loader,
            start: Nanos::from_millis(done),
        };
        all.push((left, EventKind::Aside(Box::new(aside))));
        let end = left + if ends { self.end } else { 0 };
        if ends {
            let reason = EndReason::Finished;
            all.push((
                end,
                EventKind::WorkerEnded {
                    worker: 0,
                    reason,
                    os_id: None,
                },
            ));
        }
        all.push((end, EventKind::EpochEnded { epoch }));
        end
    }

    fn recorded(self) -> Recorded {
        Recorded::of(&self.run()).expect("it was recorded")
    }
}

fn ms(forecast: &Forecast) -> i64 {
    forecast.time.0 / 1_000_000
}

#[test]
fn process_time_counts_only_if_processes_start_or_end() {
    let recorded = PROGRAM.recorded();
    let epoch = PROGRAM.batches as i64 * PROGRAM.work + PROGRAM.step;
    let both = PROGRAM.start + PROGRAM.end;
    assert_eq!(recorded.time(), Nanos::from_millis(2 * (epoch + both)));
    assert_eq!(ms(&with(&recorded, &[])), 2 * (epoch + both));
    let alone = 2 * PROGRAM.batches as i64 * (PROGRAM.work + PROGRAM.step);
    assert_eq!(ms(&with(&recorded, &["num_workers=0"])), alone);
    let kept = with(&recorded, &["persistent_workers=true"]);
    assert_eq!(ms(&kept), 2 * epoch + PROGRAM.start);
    // Recordings of the other programs take the forecast times.
    let none = Program {
        workers: 0,
        ..PROGRAM
    };
    assert_eq!(none.recorded().time(), Nanos::from_millis(alone));
    let persistent = Program {
        persistent: true,
        ..PROGRAM
    };
    assert_eq!(persistent.recorded().time(), kept.time);
}

#[test]
fn unrecorded_workers_have_start_and_end_costs() {
    let tiny = Program {
        workers: 0,
        epochs: 3,
        batches: 5,
        work: 2,
        step: 1,
        ..PROGRAM
    };
    let recorded = tiny.recorded();
    let cost = ProcessCost::FORKED;
    let two = with(&recorded, &["num_workers=2"]);
    assert!(two.time > Nanos(3 * cost.total_time(2).0), "{two:?}");
    let prospects = recorded.prospects(&|_| true);
    let prospects = prospects.expect("sound").expect("wanted");
    let none = Some(Change::NumWorkers(0));
    assert_eq!(prospects.cheapest.map(|f| f.change), none);
    assert_eq!(prospects.recommended(0), None);
    assert!(
        recorded
            .notes()
            .iter()
            .any(|n| n.contains("15.0\u{2009}ms") || n.contains("15.0 ms"))
    );
    // A long program is still faster with workers, but by less than if workers were free.
    let long = Program {
        batches: 100,
        ..Program {
            workers: 0,
            ..PROGRAM
        }
    };
    let recorded = long.recorded();
    let one = with(&recorded, &["num_workers=1"]);
    let least = 2 * (100 * PROGRAM.work + PROGRAM.step);
    let process = 2 * cost.total_time(1).0 / 1_000_000;
    assert_eq!(ms(&one), least + process);
    assert!(one.time < recorded.time());
}

#[test]
fn untimed_samples_are_imputed_and_reported() {
    let about = |program: Program| {
        let recorded = program.recorded();
        let note = recorded.notes().iter().find(|n| n.contains("CPU time"));
        let note = note.map(|n| n.replace('\u{2009}', " "));
        (recorded.samples[0], note)
    };
    let half = Nanos::from_millis(PROGRAM.work / 2);
    assert_eq!(about(PROGRAM).1, None);
    let (first, note) = about(Program {
        untimed: 4,
        ..PROGRAM
    });
    assert_eq!((first.off, first.cpu), (half, half));
    assert_eq!(
        note.as_deref(),
        Some(
            "CPU time is unknown for 4 of 40 samples (10 %): forecasts assume that 50 % of their time is CPU time, as for the other samples"
        )
    );
    // A minority of known samples does not represent the others.
    let (first, note) = about(Program {
        untimed: 30,
        ..PROGRAM
    });
    assert_eq!(first.cpu, Nanos::ZERO);
    let note = note.unwrap_or_default();
    assert!(
        note.contains("30 of 40 samples (75 %)") && note.contains("assume that they wait"),
        "{note}"
    );
    let (_, note) = about(Program {
        untimed: 40,
        ..PROGRAM
    });
    let note = note.unwrap_or_default();
    assert!(note.starts_with("CPU time per sample is unknown"));
}

#[test]
fn a_stream_is_not_called_best_without_a_forecast() {
    let stream = Case {
        streams: true,
        ..proof()
    };
    let recorded = Recorded::of(&stream.run()).expect("it was recorded");
    let prospects = recorded.prospects(&|_| true);
    let prospects = prospects.expect("sound").expect("wanted");
    let sentence = prospects.sentence(2, |time| time.to_string());
    assert!(
        sentence
            .contains("Other numbers of workers cannot be forecast: the recording does not show"),
        "{sentence}"
    );
    assert!(!sentence.contains("No other setting"), "{sentence}");
}

#[test]
fn persistent_workers_are_advised_if_restarts_are_slow() {
    let program = Program {
        batches: 12,
        start: 400,
        end: 300,
        step: 20,
        work: 25,
        ..PROGRAM
    };
    let recorded = program.recorded();
    let settings = grid(&recorded.setting(), 0..=4, &[1, 2]);
    let outlook = explore(&recorded, &settings, &|_| true)
        .expect("it can be forecast")
        .expect("it is wanted");
    assert!(outlook.kept.iter().all(|f| f.setting.persistent_workers));
    let workers: Vec<usize> = outlook.kept.iter().map(|f| f.setting.num_workers).collect();
    assert_eq!(workers, [1, 2, 3, 4]);
    for kept in &outlook.kept {
        let same = |f: &&Forecast| {
            let s = &f.setting;
            s.num_workers == kept.setting.num_workers
                && s.prefetch_factor == kept.setting.prefetch_factor
        };
        let anew = outlook
            .configurations
            .iter()
            .find(same)
            .expect("it is there");
        assert!(kept.time < anew.time, "{:?}", kept.setting);
    }
    // The fastest setting of this program has no workers.
    let all = outlook.configurations.iter().chain(&outlook.kept);
    let least = all.min_by_key(|f| f.time).expect("there are some");
    let chosen = &outlook.recommended;
    assert!(chosen.time.0 as f64 <= 1.02 * least.time.0 as f64);
    let prospects = recorded.prospects(&|_| true).expect("it can be forecast");
    let cheapest = prospects.and_then(|p| p.cheapest).expect("there is one");
    assert_eq!(cheapest.took, chosen.time);
    // One epoch starts its workers once in either case.
    let one = Program {
        epochs: 1,
        ..program
    }
    .recorded();
    let outlook = explore(&one, &grid(&one.setting(), 0..=4, &[2]), &|_| true);
    assert!(
        outlook
            .expect("it can be forecast")
            .expect("it is wanted")
            .kept
            .is_empty()
    );
}

#[test]
fn a_program_stream_is_assumed_split_and_this_is_noted() {
    let case = Case {
        streams: true,
        ..proof()
    };
    let mut run = case.run();
    run.info.origin = Origin::Pytorch("2.13.0".to_owned());
    let recorded = Recorded::of(&run).expect("it was recorded");
    let own = with(&recorded, &[]);
    let other = with(&recorded, &["num_workers=4"]);
    assert_eq!(other.batches, own.batches);
    let width = |f: &Forecast| (f.high - f.low).as_secs_f64() / f.time.as_secs_f64();
    assert!(width(&other) > 0.25, "{other:?}");
    let notes = recorded.notes().join("\n");
    assert!(notes.contains("split the dataset"), "{notes}");
    let prospects = recorded.prospects(&|_| true);
    let prospects = prospects.expect("sound").expect("wanted");
    assert!(prospects.is_divided && prospects.workers_refused.is_none());
}
