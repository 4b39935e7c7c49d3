//! Forecasts from recordings with measured CPU time and waits for a core.

use loadscope_trace::{
    BatchContent, BatchId, EndReason, Event, EventKind, Field, FieldData, Nanos, Origin, Part,
    ProcessorTime, Run, RunId, RunInfo, RunOptions, Stage, WorkerInfo,
};

use super::super::{Recorded, Setting, explore};

const BATCHES: u32 = 40;

/// Returns a PyTorch program with one worker. A batch takes 20 ms, of which 8 are CPU time. A training step takes 1 ms.
fn recorded(core_wait: i64) -> Recorded {
    Recorded::of(&run(core_wait, None)).expect("it tells enough")
}

/// Returns its run. `step_cpu`: measured CPU time of each step, ms.
fn run(core_wait: i64, step_cpu: Option<i64>) -> Run {
    run_with(1, core_wait, step_cpu, None)
}

/// Returns a run with one worker or none. `other_threads`: CPU time of other threads during each fetch, ms.
fn run_with(
    workers: usize,
    core_wait: i64,
    step_cpu: Option<i64>,
    other_threads: Option<i64>,
) -> Run {
    let mut run = Run::new(RunInfo {
        origin: Origin::Pytorch("2.13.0".to_owned()),
        cores: 4,
        options: RunOptions {
            num_workers: workers,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        ..RunInfo::default()
    });
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    };
    tell(0, EventKind::EpochStarted { epoch: 0 });
    let info = WorkerInfo {
        worker: 0,
        seed: None,
        os_id: None,
    };
    if workers > 0 {
        tell(0, EventKind::WorkerStarted(Box::new(info)));
    }
    let mut at = 0;
    for idx in 0..BATCHES {
        let batch = BatchId { epoch: 0, idx };
        let enter = |stage| EventKind::Entered { batch, stage };
        let worker = (workers > 0).then_some(0);
        tell(at, EventKind::dispatched(batch, worker, [u64::from(idx)]));
        tell(at, EventKind::Consumer { waiting: true });
        tell(at, enter(Stage::Fetching));
        let needed = ProcessorTime {
            batch,
            part: Part::Fetch,
            cpu: Nanos::from_millis(8),
            core_wait: Some(Nanos::from_millis(core_wait)),
            other_threads: other_threads.map(Nanos::from_millis),
        };
        tell(at + 20, EventKind::Processor(Box::new(needed)));
        let fields = vec![Field::new(
            "[0]",
            "torch.float32",
            [1_000_000],
            FieldData::Omitted,
        )];
        let content = BatchContent { batch, fields };
        tell(at + 20, EventKind::Content(content.into()));
        tell(at + 20, enter(Stage::Returning));
        tell(at + 20, enter(Stage::Ready));
        tell(at + 20, enter(Stage::Training));
        at += 21;
        if let Some(cpu) = step_cpu {
            let needed = ProcessorTime {
                batch,
                part: Part::Step,
                cpu: Nanos::from_millis(cpu),
                core_wait: None,
                other_threads: None,
            };
            tell(at, EventKind::Processor(Box::new(needed)));
        }
        tell(at, enter(Stage::Done));
    }
    let ended = EventKind::WorkerEnded {
        worker: 0,
        reason: EndReason::Finished,
        os_id: None,
    };
    if workers > 0 {
        tell(at, ended);
    }
    tell(at, EventKind::EpochEnded { epoch: 0 });
    run
}

#[test]
fn forecasts_remove_core_waits_and_keep_disk_waits() {
    let took = |recorded: &Recorded| {
        let forecast = recorded
            .forecast(&recorded.setting())
            .expect("it is its own");
        forecast.time.as_secs_f64()
    };
    // Each batch spends 12 ms off a core. Waits for a disk remain, waits for a core do not.
    let (disk, core) = (took(&recorded(0)), took(&recorded(12)));
    assert!((0.7..0.9).contains(&disk), "{disk}");
    assert!(core < 0.5, "{core}");
}

#[test]
fn a_model_with_a_poor_refit_has_wide_intervals() {
    let width = |recorded: &Recorded| {
        let forecast = recorded
            .forecast(&recorded.setting())
            .expect("it is its own");
        (forecast.high - forecast.low).as_secs_f64() / forecast.time.as_secs_f64()
    };
    let (sure, unsure) = (width(&recorded(0)), width(&recorded(12)));
    assert!(unsure > 3.0 * sure, "{sure} {unsure}");
    let doubtful = recorded(12);
    let forecast = doubtful.forecast(&doubtful.setting()).expect("its own");
    assert!(
        forecast
            .uncertainty_reason
            .is_some_and(|why| why.contains("reproduce"))
    );
}

/// Regression test: all settings of a table used the work of the first one, even if only the others had workers. All times were too short.
#[test]
fn a_setting_has_the_same_forecast_in_a_table_and_alone() {
    let recorded = recorded(0);
    let settings: Vec<Setting> = (0..4)
        .map(|num_workers| Setting {
            num_workers,
            ..recorded.setting()
        })
        .collect();
    let outlook = explore(&recorded, &settings, &|_| true);
    let outlook = outlook.expect("it can be forecast").expect("it is wanted");
    for (setting, there) in settings.iter().zip(outlook.configurations) {
        let alone = recorded.forecast(setting).expect("it can be forecast");
        assert_eq!(there, alone, "{setting:?}");
    }
}

/// Regression test: every forecast assumed that training steps run on a GPU.
#[test]
fn notes_include_the_cpu_use_of_training_steps() {
    let notes = |step_cpu| {
        let recorded = Recorded::of(&run(0, step_cpu)).expect("it tells enough");
        recorded.notes().to_vec()
    };
    let measured = notes(Some(1));
    let says = "A training step uses 1.0 CPU cores, as measured";
    assert!(
        measured.iter().any(|note| note.starts_with(says)),
        "{measured:?}"
    );
    assert!(
        !measured.iter().any(|note| note.contains("GPU")),
        "{measured:?}"
    );
    let unknown = notes(None);
    let says = "Forecasts assume that training steps run on a GPU";
    assert!(
        unknown.iter().any(|note| note.starts_with(says)),
        "{unknown:?}"
    );
}

#[test]
fn a_worker_that_waits_off_the_cores_leaves_the_interpreter_to_its_sending_thread() {
    let waits = |core_wait| {
        let recorded = recorded(core_wait);
        recorded.transport(&recorded.setting()).interpreter
    };
    // All 20 ms are computing or a wait for a core, then 12 ms of them are another wait.
    assert_eq!(waits(12), 1.0);
    assert_eq!(waits(0), 8.0 / 20.0);
}

#[test]
fn assumed_transport_costs_follow_the_speed_of_python() {
    let cost = |json_ns| {
        let mut recorded = recorded(0);
        recorded.json_ns = json_ns;
        recorded.transport_time(true)
    };
    assert!(cost(2_000) < cost(4_000) && cost(4_000) < cost(8_000));
    // Older recordings have no measurement.
    assert_eq!(cost(0), cost(4_000));
    // The cost per byte is not Python.
    assert!(cost(2_000) > cost(8_000) / 2.0);
}

/// Regression test: the OpenMP threads of a main process counted as a thread that sends each batch.
#[test]
fn other_threads_of_a_main_process_do_not_lengthen_its_batches() {
    let forecast = |other_threads| {
        let run = run_with(0, 0, None, other_threads);
        let recorded = Recorded::of(&run).expect("it tells enough");
        let own = recorded.forecast(&recorded.setting());
        own.expect("it can be forecast").time
    };
    assert_eq!(forecast(Some(8)), forecast(None));
}

/// Regression test: the recorded run was compared with a forecast without the time that recording adds.
#[test]
fn the_forecast_of_the_recorded_run_includes_the_overhead_of_recording() {
    let recorded = recorded(0);
    let own = recorded.forecast(&recorded.setting());
    assert!(recorded.refit > own.expect("it can be forecast").time);
    let prospects = recorded.prospects(&|_| true);
    let prospects = prospects.expect("sound").expect("wanted");
    assert!(prospects.recording > Nanos::ZERO);
    assert_eq!(prospects.recorded_refit(), recorded.refit);
}
