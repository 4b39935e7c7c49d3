//! The page `tests/pytorch/TRUTH.md`.

use std::fmt::Write as _;

use super::figures::{Evaluation, Head, Outcome, Regret};
use super::store::Measurements;

/// Promised accuracy.
const GOALS: &str = "Goals: a median error of at most 5 %, at most 15 % at the 90th percentile, at least 85 % inside the interval, a regret of at most 5 %.";

/// Formats the page.
pub fn written(measured: &Measurements, judged: &[Evaluation]) -> String {
    let head = Head::of(judged);
    let host = &measured.host;
    let mut text = format!(
        "# Forecasts against real PyTorch\n\n\
         Written by `cargo xtask truth`. For each workload in `tests/pytorch/truth/workloads` one run was recorded. Loadscope forecast the time\n\
         of every other setting from this recording alone. Then the program ran with each setting in turn, without recording. The time is from\n\
         before `iter(loader)` of the first epoch to the end of the last: starting and ending workers, loading and training steps, but not\n\
         importing PyTorch. PyTorch {}, {} cores ({}).\n\n",
        host.torch, host.cores, host.processor
    );
    let _ = writeln!(text, "**{}**\n", sentence(&head));
    let _ = writeln!(
        text,
        "{GOALS}\n\n*forecast*, *low* and *high*: the forecast with its 90 % interval. *took*: the median of the rounds, with"
    );
    let _ = writeln!(
        text,
        "their range. *error*: the forecast compared with that median. *regret*: the extra time of the setting that Loadscope recommends,"
    );
    let _ = writeln!(
        text,
        "compared with the best measured one. Settings with `in_order=False` are excluded, because they change the order of"
    );
    let _ = writeln!(
        text,
        "batches. The median spread between the rounds of a setting is {}. Other programs used {:.2} cores meanwhile.\n",
        percent(head.noise),
        head.others
    );
    text.push_str("| workload | settings | median error | largest | inside | recommended | the best | regret |\n|---|--:|--:|--:|--:|---|---|--:|\n");
    for one in judged {
        let _ = writeln!(text, "{}", overview(one));
    }
    for one in judged {
        section(&mut text, one);
    }
    text
}

/// Formats a summary for the terminal.
pub fn summary(judged: &[Evaluation]) -> String {
    let mut text = String::new();
    for one in judged {
        let errors = one.outcomes.iter().map(|o| match o.error() {
            Some(error) => {
                let mark = if o.is_inside() { "" } else { "!" };
                format!("{}: {}{mark}", short(o), signed(error))
            }
            None => format!("{}: refused", short(o)),
        });
        let errors: Vec<String> = errors.collect();
        let regret = one.regret.map_or("–".to_owned(), |r| percent(r.share));
        let refit = one.refit.1 / one.refit.0 - 1.0;
        let _ = writeln!(
            text,
            "{:>14}  regret {regret:>7}  as recorded {:>7}  {}",
            one.name,
            signed(refit),
            errors.join("  ")
        );
    }
    let _ = writeln!(text, "{}", sentence(&Head::of(judged)));
    text
}

/// Abbreviates a setting: `4p` has persistent workers, `4/1` has prefetch factor 1, `4~` is out of order.
fn short(outcome: &Outcome) -> String {
    let s = outcome.setting;
    let mut text = s.num_workers.to_string();
    if let Some(factor) = s.prefetch_factor.filter(|n| *n != 2) {
        let _ = write!(text, "/{factor}");
    }
    if s.persistent_workers {
        text.push('p');
    }
    if !s.in_order {
        text.push('~');
    }
    text
}

fn sentence(head: &Head) -> String {
    let mut text = format!(
        "Over {} outcomes the median error is {}, at the 90th percentile {}, at worst {}. {} of them are inside the interval.",
        head.outcomes,
        percent(head.median),
        percent(head.ninetieth),
        percent(head.worst),
        percent(head.inside)
    );
    if let Some((share, name)) = head.regret {
        let _ = write!(text, " The largest regret is {} ({name}).", percent(share));
    }
    if head.refused > 0 {
        let _ = write!(
            text,
            " {} had no forecast: they count as outside, and have no error.",
            head.refused
        );
    }
    text
}

fn overview(one: &Evaluation) -> String {
    let head = Head::of(std::slice::from_ref(one));
    let (best, regret) = match &one.regret {
        Some(regret) => (regret.best.to_string(), percent(regret.share)),
        None => ("–".to_owned(), "–".to_owned()),
    };
    format!(
        "| {} | {} | {} | {} | {} | {} | {best} | {regret} |",
        one.description,
        head.outcomes,
        percent(head.median),
        percent(head.worst),
        percent(head.inside),
        one.recommended
    )
}

fn section(text: &mut String, one: &Evaluation) {
    let (took, forecast) = one.refit;
    let _ = writeln!(
        text,
        "\n## {}\n\n`{}`, recorded with {}: the recorded run took {}, for which {} are forecast ({}).\n",
        one.description,
        one.name,
        one.recorded,
        seconds(took),
        seconds(forecast),
        signed(forecast / took - 1.0)
    );
    text.push_str("| setting | forecast | low | high | took | error | inside |\n|---|--:|--:|--:|--:|--:|---|\n");
    for outcome in &one.outcomes {
        let _ = writeln!(text, "{}", row(outcome));
    }
    let mut refusals: Vec<&String> = one
        .outcomes
        .iter()
        .filter_map(|o| o.forecast.as_ref().err())
        .collect();
    refusals.dedup();
    for refusal in refusals {
        let _ = writeln!(text, "\nNo forecast: {refusal}");
    }
    if let Some(regret) = &one.regret {
        let _ = writeln!(text, "\n{}", advice(one, regret));
    }
}

fn row(outcome: &Outcome) -> String {
    let took = outcome.took;
    let took = format!(
        "{} ({} – {})",
        seconds(took.median),
        seconds(took.least),
        seconds(took.most)
    );
    match &outcome.forecast {
        Ok(forecast) => format!(
            "| {} | {} | {} | {} | {took} | {} | {} |",
            outcome.setting,
            seconds(forecast.seconds),
            seconds(forecast.low),
            seconds(forecast.high),
            outcome.error().map_or("–".to_owned(), signed),
            if outcome.is_inside() { "yes" } else { "**no**" }
        ),
        Err(_) => format!(
            "| {} | none | – | – | {took} | – | **no** |",
            outcome.setting
        ),
    }
}

fn advice(one: &Evaluation, regret: &Regret) -> String {
    let mut text = format!("Recommended: {}", one.recommended);
    if !one.was_recommended_tried() {
        let _ = write!(
            text,
            ", which was not tried; of those that were, {}",
            regret.chosen
        );
    }
    let _ = write!(
        text,
        ". The best: {}. Regret: {}.",
        regret.best,
        percent(regret.share)
    );
    text
}

fn seconds(value: f64) -> String {
    match value {
        v if v < 1.0 => format!("{:.0} ms", v * 1e3),
        v => format!("{v:.2} s"),
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::super::figures::tests::{judged, outcome};
    use super::*;

    fn example() -> Vec<Evaluation> {
        vec![judged(
            "num_workers=2",
            vec![
                outcome("num_workers=0", Some((3.3, 2.9, 3.4)), &[3.0, 2.8, 3.1]),
                outcome("num_workers=2", Some((0.5, 0.4, 0.6)), &[0.7]),
                outcome("num_workers=4,in_order=false", None, &[0.6]),
            ],
        )]
    }

    #[test]
    fn a_row_has_forecast_and_outcome() {
        let text = written(&Measurements::default(), &example());
        for line in [
            "| num_workers=0 | 3.30 s | 2.90 s | 3.40 s | 3.00 s (2.80 s – 3.10 s) | +10.0 % | yes |",
            "| num_workers=2 | 500 ms | 400 ms | 600 ms | 700 ms (700 ms – 700 ms) | -28.6 % | **no** |",
            "| num_workers=4, in_order=False | none | – | – | 600 ms (600 ms – 600 ms) | – | **no** |",
            "No forecast: the samples come from a stream",
            "Recommended: num_workers=2. The best: num_workers=2. Regret: 0.0 %.",
            "| Decoding JPEGs | 3 | 19.3 % | 28.6 % | 33.3 % | num_workers=2 | num_workers=2 | 0.0 % |",
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        assert!(
            text.contains("the recorded run took 2.10 s, for which 2.05 s are forecast (-2.4 %)"),
            "{text}"
        );
    }

    #[test]
    fn the_summary_has_one_line_per_workload() {
        let text = summary(&example());
        assert!(
            text.contains("0: +10.0 %  2: -28.6 %!  4~: refused"),
            "{text}"
        );
        assert!(
            text.contains("Over 3 outcomes the median error is 19.3 %"),
            "{text}"
        );
    }

    #[test]
    fn a_recommendation_that_was_not_tried_is_named() {
        let mut all = example();
        all[0].recommended = "num_workers=5".parse().expect("a setting");
        let text = written(&Measurements::default(), &all);
        assert!(
            text.contains("num_workers=5, which was not tried; of those that were, num_workers=2"),
            "{text}"
        );
    }
}
