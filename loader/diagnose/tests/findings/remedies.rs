//! Agreement of remedies and forecasts.

use loadscope_trace::{Fetched, Gauge, GaugeKind, SampleTiming};

use super::*;

/// Returns forecasts for one worker that is too slow for training.
fn prospects(run: &Run, faster: bool) -> ForecastSet {
    let recorded = run.in_loop();
    let part = |share: f64| Nanos((recorded.0 as f64 * share) as i64);
    let forecast = |share| Forecast {
        change: Change::NumWorkers(3),
        took: part(share),
        waited: Nanos::ZERO,
        low: part(share),
        high: part(share),
    };
    ForecastSet {
        recorded,
        refit: recorded,
        recording: Nanos::ZERO,
        refit_high: Nanos(recorded.0 / 10 * 11),
        refit_waited: run.waited(),
        changes: vec![forecast(if faster { 0.5 } else { 1.2 })],
        best: None,
        cheapest: None,
        without_line: None,
        workers_refused: None,
        is_divided: false,
        headroom: part(0.3),
        assumptions: Vec::new(),
    }
}

#[test]
fn the_starved_workers_remedy_follows_the_forecasts() {
    let program = Program {
        workers: 1,
        batches: 40,
        fetch: 30,
        collate: 0,
        step: 5,
    };
    let run = program.run(vec![(0, EventKind::EpochEnded { epoch: 0 })]);
    let remedy = |prospects: Option<&ForecastSet>| {
        let found = Diagnosis::of(&run, prospects, Vec::new()).findings;
        let starved = found
            .into_iter()
            .find(|f| f.id == FindingId::StarvedWorkers);
        starved.expect("one worker is too few").remedy
    };
    assert_eq!(remedy(None), "Use num_workers=6");
    let faster = prospects(&run, true);
    assert!(remedy(Some(&faster)).starts_with("Use num_workers=3: "));
    let slower = prospects(&run, false);
    assert!(
        remedy(Some(&slower)).ends_with("No other number of workers is forecast to be faster.")
    );
}

#[test]
fn advised_workers_do_not_exceed_the_number_of_batches() {
    let program = Program {
        workers: 1,
        batches: 4,
        fetch: 300,
        collate: 0,
        step: 5,
    };
    let run = program.run(vec![(0, EventKind::EpochEnded { epoch: 0 })]);
    let found = Diagnosis::of(&run, None, Vec::new()).findings;
    let starved = found.iter().find(|f| f.id == FindingId::StarvedWorkers);
    assert_eq!(
        starved.map(|f| f.remedy.as_str()),
        Some("Use num_workers=4")
    );
}

#[test]
fn a_setting_that_may_be_slower_is_not_advised() {
    let ms = Nanos::from_millis;
    // The setting saves a tenth of the time, but may take nearly twice as long.
    let own = (ms(707), ms(820));
    assert!(!is_likely_less((ms(630), ms(1200)), own));
    assert!(is_likely_less((ms(630), ms(800)), own));
    assert!(is_likely_less((ms(600), ms(810)), own));
    assert!(is_likely_less((ms(100), ms(1200)), own));
    let program = Program {
        batches: 40,
        ..PROGRAM
    };
    let run = program.run(vec![(0, ENDED)]);
    let mut prospects = prospects(&run, true);
    assert!(prospects.recommended(1).is_some());
    let cheapest = prospects.changes.iter_mut().chain(&mut prospects.cheapest);
    for forecast in cheapest {
        forecast.took = Nanos(prospects.recorded.0 * 9 / 10);
        forecast.high = Nanos(prospects.recorded.0 * 2);
    }
    assert!(prospects.recommended(1).is_none());
}

/// Returns the remedy for a program with one CPU-bound worker on two cores. Other programs use `taken` cores.
fn remedy_beside(taken: f64, fetch: i64, step: i64) -> String {
    let program = Program {
        workers: 1,
        batches: 40,
        fetch,
        collate: 0,
        step,
    };
    let mut run = Run::new(RunInfo {
        options: RunOptions {
            num_workers: 1,
            batch_size: Some(1),
            ..RunOptions::default()
        },
        origin: Origin::Pytorch("2.13.0".to_owned()),
        cores: 2,
        ..RunInfo::default()
    });
    let mut tell = |at: i64, kind| {
        run.apply(&Event {
            at: Nanos::from_millis(at),
            run: RunId(0),
            kind,
        });
    };
    let other = Gauge {
        lane: None,
        part: None,
        what: GaugeKind::OtherCpu,
        value: taken,
    };
    tell(0, EventKind::Gauge(Box::new(other)));
    let mut last = 0;
    for (at, kind) in program.events() {
        if let EventKind::Entered {
            batch,
            stage: Stage::Collating,
        } = &kind
        {
            let sample = SampleTiming {
                start: Nanos::from_millis(at - fetch),
                wall: Nanos::from_millis(fetch),
                cpu: Some(Nanos::from_millis(fetch)),
            };
            let fetched = Fetched {
                batch: *batch,
                samples: vec![sample],
                stages: vec![],
            };
            tell(at, EventKind::Fetched(Box::new(fetched)));
        }
        tell(at, kind);
        last = at;
    }
    tell(last, ENDED);
    let found = diagnosis(&run).findings;
    let starved = found
        .into_iter()
        .find(|f| f.id == FindingId::StarvedWorkers);
    starved.map(|f| f.remedy).unwrap_or_default()
}

#[test]
fn remedies_distinguish_free_cores_from_host_cores() {
    let said = remedy_beside(0.0, 40, 10);
    assert!(said.starts_with("Use num_workers=2, one per"), "{said}");
    let said = remedy_beside(1.0, 40, 10);
    assert!(said.contains("the host has 1 free core,"), "{said}");
    let said = remedy_beside(1.0, 100, 1);
    assert!(said.contains("faster than 1 free core can load"), "{said}");
}
