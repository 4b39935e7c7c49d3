//! Properties of the forecasts of any recording.

use super::cores::computing;
use super::*;

proptest! {
    #[test]
    fn the_forecast_reproduces_the_recorded_setting(case in case()) {
        let run = case.run();
        let Ok(recorded) = Recorded::of(&run) else {
            prop_assert!(run.batches().iter().all(|b| !b.was_yielded));
            return Ok(());
        };
        let forecast = with(&recorded, &[]);
        prop_assert_eq!((forecast.time, forecast.waited), took(&run));
        prop_assert!(forecast.low <= forecast.time && forecast.time <= forecast.high);
        let handed = run.batches().iter().filter(|b| b.was_yielded).count();
        prop_assert_eq!(forecast.batches, handed as u64);
    }

    /// The forecast of any other setting equals its simulation.
    #[test]
    fn forecasts_of_other_settings_equal_the_simulation(
        case in case(), workers in 0usize..6, prefetch in 1usize..4, batch in 1usize..6, in_order: bool,
    ) {
        let case = Case { streams: false, fails: Vec::new(), collate: 0, pin: None, ..case };
        let Ok(recorded) = Recorded::of(&case.run()) else { return Ok(()) };
        let mut other = case.clone();
        other.options.num_workers = workers;
        other.options.prefetch_factor = Some(prefetch);
        other.options.batch_size = Some(batch);
        other.options.in_order = in_order;
        let setting = Setting {
            num_workers: workers,
            prefetch_factor: prefetch,
            batch_size: Some(batch),
            in_order,
            ..recorded.setting()
        };
        let forecast = recorded.forecast(&setting).expect("it makes sense");
        prop_assert_eq!((forecast.time, forecast.waited), took(&other.run()));
        prop_assert!(forecast.waited <= forecast.time);
        prop_assert_eq!(forecast.samples, case.costs.len() as u64);
        // The trainer either waits or trains, except at the beginning.
        prop_assert_eq!(forecast.time, forecast.waited + recorded.headroom(&setting).expect("sound"));
    }

    #[test]
    fn more_cores_are_never_slower(
        workers in 1usize..7, samples in 1usize..40, off in 0i64..12, cpu in 0i64..12, cores in 1usize..6,
    ) {
        let run = computing(samples, 1, off, cpu, 16);
        let recorded = Recorded::of(&run).expect("it was recorded");
        let time = |cores: usize| {
            with(&recorded, &[&format!("num_workers={workers}"), &format!("cores={cores}")]).time
        };
        prop_assert!(time(cores + 1) <= time(cores) + Nanos(1000));
    }

    /// Any input leads to a forecast or an error, never to a panic.
    #[test]
    fn hostile_recordings_do_not_panic(
        kinds in prop::collection::vec((0u8..9, 0u32..6, 0u16..4, any::<i32>(), any::<i64>()), 0..80),
        workers in 0usize..9,
    ) {
        let mut run = Run::default();
        for (kind, idx, worker, at, time) in kinds {
            let batch = BatchId { epoch: idx / 4, idx };
            let stage = Stage::ALL[(time.unsigned_abs() % 11) as usize];
            let timing = SampleTiming { start: Nanos(time), wall: Nanos(time), cpu: Some(Nanos(time / 3)) };
            let kind = match kind {
                0 => EventKind::EpochStarted { epoch: idx / 4 },
                1 => EventKind::EpochEnded { epoch: idx / 4 },
                2 | 3 => EventKind::dispatched(batch, (worker < 3).then_some(worker), vec![u64::from(idx); idx as usize % 3]),
                4..=6 => EventKind::Entered { batch, stage },
                7 => EventKind::Fetched(Box::new(Fetched {
                    batch, samples: vec![timing; idx as usize % 3], stages: Vec::new(),
                })),
                _ => EventKind::Consumer { waiting: time > 0 },
            };
            run.apply(&Event { at: Nanos(i64::from(at).saturating_mul(1 << 20)), run: RunId(0), kind });
        }
        run.info.cores = workers as u32;
        run.info.options.num_workers = workers;
        if let Ok(recorded) = Recorded::of(&run) {
            for other in [0, 1, 3, 8] {
                let setting = Setting { num_workers: other, ..recorded.setting() };
                if let Ok(forecast) = recorded.forecast(&setting) {
                    prop_assert!(forecast.waited <= forecast.time + Nanos(1000));
                }
            }
            let _ = recorded.prospects(&|_| true);
        }
    }
}
