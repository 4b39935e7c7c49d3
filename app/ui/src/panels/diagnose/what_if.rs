//! Forecasts for other settings, and their outcome.

use egui::{self, Button, Label, ProgressBar, Ui};
use loadscope_diagnose::{ForecastSet, WaitSummary};
use loadscope_insight::format::capital;
use loadscope_trace::{Nanos, bytes};
use loadscope_words::say;

use crate::kit::empty::{hint, remark};
use crate::kit::rows::fact;
use crate::kit::titles::{section, title_text};
use crate::theme::space;
use loadscope_insight::diagnose::Check;
use loadscope_insight::diagnose::apply::options_of;
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_insight::format::percent;
use loadscope_model::command::Command;
use loadscope_model::effect::Effect;
use loadscope_model::state::{Source, State};
use loadscope_model::update::NO_ENGINE;
use loadscope_plan::forecast::Forecast;

use super::{base_setting, heatmap};

/// Height of the progress bar, points.
const PROGRESS: f32 = 8.0;
/// Shows the table of forecasts, its assumptions and the picked forecast.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let answers = &state.session.results.diagnosis;
    section(ui, say!("What if"));
    let Some(what_if) = answers.what_if.as_deref() else {
        match &answers.refusal {
            Some(refusal) => remark(ui, &capital(refusal)),
            None if state.session.source == (Source::Live { paused: false }) => {
                remark(
                    ui,
                    say!("Forecasts are available once the run has ended or is paused"),
                );
            }
            None => {
                remark(ui, say!("Forecasting other settings"));
                progress(ui, answers.share.unwrap_or_default());
            }
        }
        // The user can undo the change that made the forecast impossible.
        if state.session.diagnose.base.is_some() && ui.button(say!("Reset to recorded")).clicked() {
            commands.push(Command::WhatIf(None));
        }
        return;
    };
    let prospects = what_if.prospects.as_ref();
    if prospects.is_some_and(|p| !p.fits()) {
        remark(ui, &what_if.sentence().unwrap_or_default());
        section(ui, say!("Forecast accuracy"));
        trust(ui, what_if);
        return;
    }
    hint(
        ui,
        say!("Forecast share of time spent waiting, %: num_workers across, prefetch_factor down"),
    );
    let best = what_if.best();
    let of_best = (best.setting.num_workers, best.setting.prefetch_factor);
    let picked = state.session.diagnose.picked.unwrap_or(of_best);
    heatmap::show(ui, what_if, picked, commands);
    heatmap::legend(ui);
    if let Some(left_out) = prospects.and_then(ForecastSet::describe_unforecast_workers) {
        remark(ui, &left_out);
    }
    // The space of the progress bar remains after it ends, so that nothing moves under the pointer.
    let wide = egui::vec2(ui.available_width(), PROGRESS);
    ui.allocate_ui(wide, |ui| {
        ui.set_min_height(PROGRESS);
        if let Some(share) = answers.share {
            progress(ui, share);
        }
    });
    if let Some(forecast) = what_if.at(picked.0, picked.1) {
        detail(ui, state, what_if, forecast, commands);
    }
    section(ui, say!("Assumptions of this table"));
    base_setting::show(ui, state, what_if, commands);
    section(ui, say!("Forecast accuracy"));
    trust(ui, what_if);
}

fn progress(ui: &mut Ui, share: f32) {
    ui.add(
        ProgressBar::new(share)
            .desired_width(ui.available_width().min(240.0))
            .desired_height(PROGRESS),
    );
}

/// Shows the picked forecast and its buttons.
fn detail(
    ui: &mut Ui,
    state: &State,
    what_if: &WhatIf,
    forecast: &Forecast,
    commands: &mut Vec<Command>,
) {
    ui.add_space(space::GAP);
    let changes = forecast.setting.differences(&what_if.own);
    let title = match changes.is_empty() {
        true => say!("The recorded settings").to_owned(),
        false => changes.join(say!(", ")),
    };
    let title = title_text(ui, title);
    ui.add(Label::new(title).wrap());
    let took = what_if.recorded.time();
    // The comparison uses the forecast of the recorded settings, as in the findings. Otherwise, the forecast error would count as a gain.
    let now = what_if.now();
    let change = forecast.time.as_secs_f64() / now.as_secs_f64().max(1e-9) - 1.0;
    let change = match change {
        c if c.abs() < 0.005 => say!("as now").to_owned(),
        c if c < 0.0 => say!("{} less", percent(-c)),
        c => say!("{} more", percent(c)),
    };
    let say = |time: Nanos| time.format_in_unit_of(took);
    fact(
        ui,
        say!("Forecast time"),
        say!("{}, {change}", say(forecast.time)),
    );
    if forecast.low != forecast.high {
        let range = say!("{} to {}", say(forecast.low), say(forecast.high));
        fact(ui, say!("90 % interval"), range);
    }
    let share = percent(forecast.waited_share());
    let waited = say!("{} ({share})", say(forecast.waited));
    fact(ui, say!("Forecast wait"), waited);
    if let Some(memory) = forecast.memory {
        fact(ui, say!("Memory, at most"), bytes(memory as f64));
    }
    ui.add_space(space::GAP);
    ui.horizontal(|ui| {
        let check = match state.place.no_engine {
            true => Err(NO_ENGINE.say()),
            false => Check::of(&state.session.run, &what_if.own, forecast),
        };
        let button = Button::new(say!("Apply and check"));
        let response = ui.add_enabled(check.is_ok(), button);
        match check {
            Ok(check) => {
                let tip = say!(
                    "Runs this setting with the embedded loader and compares the result with the forecast"
                );
                if response.on_hover_text(tip).clicked() {
                    commands.push(Command::Perform(Effect::Check(Box::new(check))));
                }
            }
            Err(why) => _ = response.on_disabled_hover_text(why),
        }
        let line = options_of(&state.session.run.info.options, &forecast.setting).python_line();
        if ui
            .button(say!("Copy the Python line"))
            .on_hover_text(&line)
            .clicked()
        {
            commands.push(Command::Perform(Effect::Copy(line)));
        }
    });
}

/// Shows the error of the forecast of the recorded settings, the bounds and the assumptions.
fn trust(ui: &mut Ui, what_if: &WhatIf) {
    let own = &what_if.outlook.recorded;
    let took = what_if.recorded.time();
    let error = what_if.own_error();
    let off = match error.abs() {
        e if e < 0.0005 => say!("exact").to_owned(),
        e => say!("{} off", percent(e)),
    };
    let say = |time: Nanos| time.format_in_unit_of(took);
    fact(ui, say!("Recorded"), say(took));
    fact(
        ui,
        say!("Forecast of it"),
        say!("{} ({off})", say(own.time)),
    );
    fact(ui, say!("Ideal loader"), say(what_if.outlook.headroom));
    if let Some(caveat) = what_if.prospects.as_ref().and_then(ForecastSet::caveat) {
        remark(ui, &caveat);
    }
    for note in what_if.recorded.notes_for(&what_if.base) {
        hint(ui, &capital(note));
    }
}

/// Shows the forecast that this run checks.
pub fn check(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let Some(check) = &state.session.diagnose.check else {
        return;
    };
    section(ui, say!("Forecast and outcome"));
    let title = match check.changes.is_empty() {
        true => say!("The recorded settings").to_owned(),
        false => check.changes.join(say!(", ")),
    };
    let title = title_text(ui, title);
    ui.add(Label::new(title).wrap());
    let say = |time: Nanos| time.format_in_unit_of(check.took_before);
    let waits = |time: Nanos, waited: Nanos| say!("{}, waited {}", say(time), say(waited));
    fact(
        ui,
        say!("Before"),
        waits(check.took_before, check.waited_before),
    );
    let forecast = &check.forecast;
    fact(ui, say!("Forecast"), waits(forecast.time, forecast.waited));
    let now = WaitSummary::of(&state.session.run);
    match check.error(&state.session.run) {
        Some(error) => {
            fact(ui, say!("Outcome"), waits(now.total, now.waited));
            let off = match error.abs() {
                e if e < 0.0005 => say!("The forecast was exact").to_owned(),
                e => say!("The forecast was {} off", percent(e)),
            };
            remark(ui, &off);
            if now.total < forecast.low || now.total > forecast.high {
                let say = |time: Nanos| time.format_in_unit_of(check.took_before);
                remark(
                    ui,
                    &say!(
                        "The result is outside the 90 % interval ({} to {}). Possible causes: another active process, or a cost that the recording lacks.",
                        say(forecast.low),
                        say(forecast.high)
                    ),
                );
            }
        }
        None => {
            let share = now.total.as_secs_f64() / forecast.time.as_secs_f64().max(1e-9);
            fact(ui, say!("Outcome"), say!("running"));
            progress(ui, share.clamp(0.0, 1.0) as f32);
        }
    }
    if state.session.is_unsaved() && ui.button(say!("Save the outcome…")).clicked() {
        commands.push(loadscope_model::command::Action::Save.into());
    }
}
