use loadscope_plan::dataset::SyntheticCatalog;
use loadscope_plan::simulate::simulate;
use loadscope_trace::{Run, RunOptions};

use super::*;

/// Returns a run with one worker, and its forecasts.
fn forecasts() -> (Run, Recorded, Exploration, ForecastSet) {
    let options = RunOptions {
        dataset: "synthetic:len=8,cost_ms=5".to_owned(),
        num_workers: 1,
        ..RunOptions::default()
    };
    let mut run = Run::default();
    let events = simulate(&options, &SyntheticCatalog).expect("sound options");
    events.iter().for_each(|e| run.apply(e));
    let recorded = Recorded::of_part(&run).expect("it tells its costs");
    let base = recorded.setting();
    let outlook = explore(&recorded, std::slice::from_ref(&base), &|_| true);
    let outlook = outlook.expect("it can be forecast").expect("it is wanted");
    let prospects = recorded.prospects(&|_| true);
    let prospects = prospects.expect("as well").expect("it is wanted");
    (run, recorded, outlook, prospects)
}

/// Regression test: one line compared with the recorded time, another with its forecast.
#[test]
fn changes_are_compared_with_the_forecast_as_recorded() {
    let (run, recorded, outlook, mut prospects) = forecasts();
    let base = recorded.setting();
    let verdict = |prospects: &ForecastSet| {
        let answer = ForecastReport {
            run: &run,
            recorded: &recorded,
            prospects,
            base: &base,
            outlook: &outlook,
            loader: None,
        };
        answer.verdict()
    };
    let took = recorded.time();
    for refit in [took, Nanos(took.0 / 20 * 19), Nanos(took.0 / 20 * 21)] {
        prospects.refit = refit;
        let said = verdict(&prospects);
        assert!(
            said.ends_with(&format!("forecast for the recorded settings ({refit})")),
            "{said}"
        );
    }
}

/// Regression test: the table had the heading "No forecasts".
#[test]
fn forecasts_that_miss_the_recording_are_called_unreliable() {
    let (run, recorded, outlook, mut prospects) = forecasts();
    prospects.refit = Nanos(prospects.recorded.0 / 100 * 79);
    let answer = ForecastReport {
        run: &run,
        recorded: &recorded,
        prospects: &prospects,
        base: &recorded.setting(),
        outlook: &outlook,
        loader: None,
    };
    let said = answer.text().expect("it is a text");
    assert!(said.contains("The forecasts are unreliable: "), "{said}");
    for other in ["No forecasts", "Best change"] {
        assert!(!said.contains(other), "{said}");
    }
}

#[test]
fn ranges_beyond_the_limits_are_refused() {
    assert!(workers("0..1024").is_ok() && workers("0..1025").is_err());
    assert!(prefetch("1..10000").is_ok() && prefetch("10001").is_err());
}

/// Regression test: `persistent_workers=True` was suggested without its effect on `dataset.set_epoch()`.
#[test]
fn the_best_change_is_named_with_its_side_effects() {
    let (run, recorded, mut outlook, prospects) = forecasts();
    let base = recorded.setting();
    let side_effects = |outlook: &Exploration| {
        let answer = ForecastReport {
            run: &run,
            recorded: &recorded,
            prospects: &prospects,
            base: &base,
            outlook,
            loader: None,
        };
        let text = answer.text().expect("it is a text");
        let said = text.matches("Side effect: ").count();
        assert_eq!(said, answer.effects().len(), "{text}");
        (answer.effects(), text)
    };
    assert!(side_effects(&outlook).0.is_empty());
    outlook.recommended.setting.persistent_workers = true;
    outlook.recommended.time = Nanos(outlook.recommended.time.0 / 2);
    let (effects, text) = side_effects(&outlook);
    assert!(effects.contains(&Effect::KeptDataset));
    assert!(
        text.contains("Side effect: Workers keep their copy of the dataset: "),
        "{text}"
    );
}
