use super::*;
use crate::findings::effect::{Effect, effects};
use crate::{Evidence, Severity};
use loadscope_trace::Nanos;

fn finding(id: FindingId, remedy: &str) -> Finding {
    Finding {
        id,
        text: String::new(),
        severity: Severity::Warning,
        evidence: Evidence::Run,
        remedy: remedy.to_owned(),
        cost: Some(Nanos::from_millis(1)),
    }
}

fn prospects(changes: &[(Change, i64)]) -> ForecastSet {
    let of = |(change, ms): &(Change, i64)| Forecast {
        change: *change,
        took: Nanos::from_millis(*ms),
        waited: Nanos::ZERO,
        low: Nanos::from_millis(*ms),
        high: Nanos::from_millis(*ms),
    };
    ForecastSet {
        recorded: Nanos::from_millis(1000),
        refit: Nanos::from_millis(1000),
        recording: Nanos::ZERO,
        refit_high: Nanos::from_millis(1000),
        refit_waited: Nanos::ZERO,
        changes: changes.iter().map(of).collect(),
        best: None,
        cheapest: None,
        without_line: None,
        workers_refused: None,
        is_divided: false,
        headroom: Nanos::from_millis(100),
        assumptions: Vec::new(),
    }
}

const GROUPS: Text = text!("Group samples of similar cost into a batch");

const LOADER: Loader = Loader {
    workers: 2,
    in_order: true,
    is_random: true,
    grouping: Some(GROUPS),
    is_program: true,
};

fn remedies(of: &[Finding], prospects: &ForecastSet) -> Vec<String> {
    let mut findings = of.to_vec();
    apply_forecasts(&mut findings, LOADER, Some(prospects));
    let plain = |f: Finding| f.remedy.replace('\u{2009}', " ");
    findings.into_iter().map(plain).collect()
}

/// Regression test: three remedies contradicted each other (no more workers, num_workers=5, and a larger prefetch_factor). The forecast for
/// the prefetch factor showed no gain.
#[test]
fn remedies_follow_forecasts() {
    let of = [
        finding(FindingId::StarvedWorkers, "more workers do not help"),
        finding(
            FindingId::HeavyTail,
            "A larger prefetch_factor hides slow samples",
        ),
        // The Chinese text has a full-width semicolon between setting and advice.
        finding(FindingId::HeadOfLine, "in_order=False；把它们分组"),
    ];
    let known = prospects(&[
        (Change::NumWorkers(5), 400),
        (Change::PrefetchFactor(4), 1000),
        (Change::InOrder(false), 995),
    ]);
    let remedies = remedies(&of, &known);
    assert_eq!(remedies[0], "Use num_workers=5: 0.40 s forecast (−60 %)");
    assert_eq!(
        remedies[1],
        "Preprocess or cache the slow samples. Neither a larger prefetch_factor nor in_order=False is forecast to help."
    );
    assert_eq!(
        remedies[2],
        "Group samples of similar cost into a batch. in_order=False is forecast to save little."
    );
}

/// Regression test: a remedy named `in_order=False` without a forecast of it, with one worker or if it was already set.
#[test]
fn remedy_names_only_forecast_settings() {
    let of = [finding(FindingId::HeavyTail, "as it was")];
    let said = |changes: &[(Change, i64)]| remedies(&of, &prospects(changes)).remove(0);
    let prefetch = (Change::PrefetchFactor(4), 1000);
    let any_order = (Change::InOrder(false), 995);
    assert!(said(&[prefetch, any_order]).contains(". Neither"));
    assert_eq!(
        said(&[(Change::NumWorkers(3), 1000), prefetch]),
        "Preprocess or cache the slow samples. A larger prefetch_factor is not forecast to help."
    );
    assert!(said(&[any_order]).ends_with(". in_order=False is not forecast to help."));
    assert_eq!(said(&[]), "as it was");
}

#[test]
fn helpful_setting_shows_its_forecast() {
    let of = [
        finding(FindingId::HeavyTail, "Preprocess them"),
        finding(FindingId::HeadOfLine, "in_order=False"),
    ];
    let known = prospects(&[
        (Change::PrefetchFactor(4), 700),
        (Change::InOrder(false), 500),
    ]);
    assert_eq!(
        remedies(&of, &known),
        [
            "Preprocess them",
            "Use in_order=False: 0.50 s forecast (−50 %)"
        ]
    );
}

#[test]
fn persistent_workers_keep_sequential_order() {
    let of = [finding(
        FindingId::EpochRefill,
        "Use persistent_workers=True",
    )];
    let order_changes = |is_random| {
        let loader = Loader {
            is_random,
            ..LOADER
        };
        let all = effects(loader, &of, None);
        all[&FindingId::EpochRefill].contains(&Effect::ShuffledOrder)
    };
    assert!(order_changes(true));
    assert!(!order_changes(false));
}

#[test]
fn best_change_precedes_in_order_false() {
    let of = [finding(FindingId::HeadOfLine, "in_order=False")];
    let known = prospects(&[(Change::NumWorkers(4), 400), (Change::InOrder(false), 500)]);
    assert_eq!(
        remedies(&of, &known),
        [
            "Use num_workers=4: 0.40 s forecast (−60 %). Alternative: in_order=False: 0.50 s forecast (−50 %)."
        ]
    );
}

/// Regression test: a remedy advised fewer workers although three workers were forecast to be fastest.
#[test]
fn remedy_drops_slower_setting() {
    let known = prospects(&[
        (Change::NumWorkers(1), 1300),
        (Change::NumWorkers(3), 800),
        (Change::PersistentWorkers(true), 1000),
        (Change::PrefetchFactor(4), 1000),
        (Change::PinMemory(false), 1010),
    ]);
    for (id, remedy, instead) in [
        (
            FindingId::SlowFirstBatch,
            FEWER_WORKERS.say(),
            "Start the workers before the program uses much memory, because each start takes longer in a large process. Fewer workers are not forecast to be faster.",
        ),
        (
            FindingId::EpochRefill,
            "Use persistent_workers=True",
            "Use fewer, longer epochs, with a sampler that repeats the dataset: prefetching restarts in every epoch. persistent_workers=True is not forecast to be faster.",
        ),
        (
            FindingId::WindowTooSmall,
            "Use prefetch_factor=9",
            "Use num_workers=3: 0.80 s forecast (−20 %)",
        ),
        (
            FindingId::Pinning,
            "Use pin_memory=False",
            "Return fewer or smaller tensors per batch. pin_memory=False is not forecast to be faster.",
        ),
        (
            FindingId::SlowerThanNone,
            "Use num_workers=1",
            "Use larger batches to reduce the transfer cost. num_workers=1 is not forecast to be faster.",
        ),
        // The last two settings stay: one is faster, and one has no forecast.
        (
            FindingId::SlowerThanNone,
            "Use num_workers=3",
            "Use num_workers=3",
        ),
        (
            FindingId::SlowerThanNone,
            "Use num_workers=0",
            "Use num_workers=0",
        ),
    ] {
        assert_eq!(remedies(&[finding(id, remedy)], &known), [instead]);
    }
    // The remedy names the forecast prefetch factor, not the calculated one.
    let prefetch = prospects(&[(Change::PrefetchFactor(4), 700)]);
    let window = finding(FindingId::WindowTooSmall, "Use prefetch_factor=9");
    assert_eq!(
        remedies(&[window], &prefetch),
        ["Use prefetch_factor=4: 0.70 s forecast (−30 %)"]
    );
    // A finding about memory has no cost in time, so it keeps its remedy.
    let mut memory = finding(FindingId::Memory, "Use num_workers=1");
    memory.cost = None;
    assert_eq!(remedies(&[memory], &known), ["Use num_workers=1"]);
    // Fewer workers are faster here, so the remedy stays.
    let faster = prospects(&[(Change::NumWorkers(1), 900)]);
    let of = [finding(FindingId::SlowFirstBatch, FEWER_WORKERS.say())];
    assert_eq!(remedies(&of, &faster), [FEWER_WORKERS.say()]);
}

#[test]
fn unreliable_forecasts_name_a_setting_to_try() {
    let unreliable = ForecastSet {
        refit: Nanos::from_millis(790),
        ..prospects(&[(Change::NumWorkers(5), 400)])
    };
    let of = [
        finding(FindingId::NoWorkers, "Use num_workers=8"),
        finding(FindingId::WindowTooSmall, "Use prefetch_factor=4"),
        finding(FindingId::StarvedWorkers, "Simplify the transforms"),
        finding(FindingId::HeavyTail, "Preprocess them"),
    ];
    let tried = [
        "Try num_workers=8, and measure it with `loadscope tune`",
        "Try prefetch_factor=4, and measure it with `loadscope tune`",
        "Simplify the transforms",
        "Preprocess them",
    ];
    assert_eq!(remedies(&of, &unreliable), tried);
    // `tune` cannot run the embedded loader.
    assert_eq!(
        suggested_remedy(Change::NumWorkers(8), false),
        "Try num_workers=8"
    );
    let sentence = unreliable.sentence(2, |time| time.to_string());
    assert_eq!(
        sentence.replace(['\u{2009}', '\u{202f}'], " "),
        "The forecasts are unreliable: the model predicts 790 ms for the recorded settings, 21 % less than the recorded 1.00 s"
    );
    assert_eq!(unreliable.caveat(), None);
}

#[test]
fn rough_forecasts_are_called_estimates() {
    let off = |ms| {
        let all = ForecastSet {
            refit: Nanos::from_millis(ms),
            ..prospects(&[(Change::PrefetchFactor(4), ms)])
        };
        (
            all.caveat().map(|text| text.replace('\u{2009}', " ")),
            all.change(all.changes[0].took),
        )
    };
    assert_eq!(off(1040), (None, 0.0));
    let rough =
        "The model is 8.9 % off for the recorded settings: treat the forecasts as estimates.";
    assert_eq!(off(1089), (Some(rough.to_owned()), 0.0));
    assert_eq!(off(911).0.as_deref(), Some(rough));
    assert_eq!(off(1110), (None, 0.0));
}
