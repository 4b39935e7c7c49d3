//! Loadscope's forecasts from a recording, by `loadscope what-if --json`.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value as Json;

use super::process::run_with_deadline;
use super::setting::Setting;

/// Deadline of a forecast, which usually takes a second.
const DEADLINE: Duration = Duration::from_secs(120);

/// Forecast for a setting, s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Forecast {
    pub seconds: f64,
    pub low: f64,
    pub high: f64,
}

/// Forecasts from a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecasts {
    /// Forecast for each requested setting, or the reason why there is none.
    pub forecasts: Vec<Result<Forecast, String>>,
    /// Setting that Loadscope recommends.
    pub recommended: Setting,
    /// Duration of the recorded run, and the forecast for the same setting, s.
    pub recorded: (f64, f64),
    /// Assumptions of the forecasts.
    pub assumptions: Vec<String>,
}

/// Requests forecasts for all `settings`.
pub fn forecast(loadscope: &Path, recording: &Path, settings: &[Setting]) -> Result<Forecasts> {
    let whole = match query_what_if(loadscope, recording, &[])? {
        Ok(whole) => whole,
        Err(refusal) => bail!("{} is refused: {refusal}", recording.display()),
    };
    let mut forecasts: Vec<Option<Result<Forecast, String>>> = vec![None; settings.len()];
    for at in 0..settings.len() {
        if forecasts[at].is_some() {
            continue;
        }
        let grid: Vec<Setting> = settings
            .iter()
            .copied()
            .filter(|s| s.is_of_one_grid(settings[at]))
            .collect();
        // One request for a grid is faster. If one of its settings is refused, the whole request is refused.
        match query_what_if(loadscope, recording, &grid)? {
            Ok(answer) => {
                for (setting, forecast) in settings.iter().zip(&mut forecasts) {
                    if setting.is_of_one_grid(settings[at]) {
                        *forecast = Some(Ok(parse_forecast(&answer, *setting)?));
                    }
                }
            }
            Err(refusal) if grid.len() == 1 => forecasts[at] = Some(Err(refusal)),
            Err(_) => {
                forecasts[at] = Some(
                    match query_what_if(loadscope, recording, &settings[at..=at])? {
                        Ok(answer) => Ok(parse_forecast(&answer, settings[at])?),
                        Err(refusal) => Err(refusal),
                    },
                );
            }
        }
    }
    Ok(Forecasts {
        forecasts: forecasts.into_iter().flatten().collect(),
        recommended: recommended(&whole)?,
        recorded: (
            number(&whole["recorded"], "seconds")?,
            number(&whole["recorded"], "forecast_seconds")?,
        ),
        assumptions: whole["assumptions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|text| text.as_str().map(str::to_owned))
            .collect(),
    })
}

/// Runs `loadscope what-if` for settings of one grid, or without a grid for its default settings. The inner error is its refusal.
fn query_what_if(
    loadscope: &Path,
    recording: &Path,
    grid: &[Setting],
) -> Result<Result<Json, String>> {
    let mut command = Command::new(loadscope);
    command.arg("what-if").arg(recording).arg("--json");
    if let Some(one) = grid.first() {
        let list = |mut all: Vec<usize>| {
            all.sort_unstable();
            all.dedup();
            let words: Vec<String> = all.iter().map(usize::to_string).collect();
            words.join(",")
        };
        let mut factors: Vec<usize> = grid.iter().filter_map(|s| s.prefetch_factor).collect();
        if factors.is_empty() {
            factors.push(2);
        }
        command
            .arg("--workers")
            .arg(list(grid.iter().map(|s| s.num_workers).collect()))
            .arg("--prefetch")
            .arg(list(factors))
            .arg(format!("--set=in_order={}", one.in_order))
            .arg(format!(
                "--set=persistent_workers={}",
                one.persistent_workers
            ));
    }
    let ended = run_with_deadline(&mut command, DEADLINE)?;
    if !ended.status.success() {
        return Ok(Err(ended
            .errors
            .trim()
            .trim_start_matches("error: ")
            .to_owned()));
    }
    let answer = serde_json::from_str(&ended.output);
    Ok(Ok(answer.with_context(|| {
        format!("what-if said no JSON but {:?}", ended.output)
    })?))
}

/// Finds the forecast of a setting in an answer.
fn parse_forecast(answer: &Json, setting: Setting) -> Result<Forecast> {
    let all = answer["configurations"].as_array().into_iter().flatten();
    let mut same = all.filter(|one| {
        let has_workers = setting.num_workers > 0;
        one["num_workers"] == setting.num_workers
            && (!has_workers
                || one["prefetch_factor"].as_u64() == setting.prefetch_factor.map(|n| n as u64))
    });
    let one = same
        .next()
        .with_context(|| format!("the answer has nothing of {setting}"))?;
    Ok(Forecast {
        seconds: number(one, "seconds")?,
        low: number(one, "low")?,
        high: number(one, "high")?,
    })
}

fn recommended(answer: &Json) -> Result<Setting> {
    setting_of(&answer["recommended"])
}

fn setting_of(json: &Json) -> Result<Setting> {
    let whole = |name: &str| json[name].as_u64().and_then(|n| usize::try_from(n).ok());
    let flag = |name: &str| {
        let value = json[name].as_bool();
        value.with_context(|| format!("{name} is missing in {json}"))
    };
    let num_workers =
        whole("num_workers").with_context(|| format!("num_workers is missing in {json}"))?;
    Ok(Setting {
        num_workers,
        prefetch_factor: whole("prefetch_factor").filter(|_| num_workers > 0),
        in_order: flag("in_order")?,
        persistent_workers: num_workers > 0 && flag("persistent_workers")?,
    })
}

fn number(json: &Json, name: &str) -> Result<f64> {
    json[name]
        .as_f64()
        .with_context(|| format!("{name} is missing in {json}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn one(workers: usize, factor: Option<usize>, seconds: f64) -> Json {
        json!({
            "num_workers": workers, "prefetch_factor": factor, "in_order": true, "persistent_workers": false,
            "seconds": seconds, "low": seconds - 0.1, "high": seconds + 0.1,
        })
    }

    #[test]
    fn forecasts_are_found_by_their_setting() -> Result<()> {
        let answer = json!({ "configurations": [one(0, None, 3.0), one(2, Some(2), 2.0), one(2, Some(4), 1.5)] });
        let seconds = |text: &str| parse_forecast(&answer, text.parse()?).map(|f| f.seconds);
        assert_eq!(seconds("num_workers=0")?, 3.0);
        assert_eq!(seconds("num_workers=2,prefetch_factor=4")?, 1.5);
        assert!(seconds("num_workers=3").is_err());
        Ok(())
    }

    #[test]
    fn the_recommendation_is_read_from_the_answer() -> Result<()> {
        let answer = json!({ "recommended": one(4, Some(1), 1.9), "cheapest": one(0, None, 1.9) });
        assert_eq!(
            recommended(&answer)?,
            "num_workers=4,prefetch_factor=1".parse()?
        );
        assert!(recommended(&json!({})).is_err());
        Ok(())
    }
}
