//! Assumptions that all forecasts of the table share. The user can change them.

use egui::{self, DragValue, Grid, RichText, Role, Ui, WidgetInfo};
use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::theme::{Palette, mono, size, space};
use loadscope_insight::diagnose::what_if::WhatIf;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_plan::forecast::Setting;

/// Shows the assumptions. A change requests a new table.
pub fn show(ui: &mut Ui, state: &State, what_if: &WhatIf, commands: &mut Vec<Command>) {
    let own = &what_if.own;
    let before = state
        .session
        .diagnose
        .base
        .clone()
        .unwrap_or_else(|| own.clone());
    let mut base = before.clone();
    Grid::new("what-if knobs")
        .num_columns(2)
        .spacing([space::GROUP, space::GAP])
        .show(ui, |ui| {
            flag(ui, "in_order", &mut base.in_order, None);
            flag(ui, "persistent_workers", &mut base.persistent_workers, None);
            let unknown = (!own.pin_memory).then_some(say!(
                "Pinning times were not recorded. Record a run with pin_memory=True."
            ));
            flag(ui, "pin_memory", &mut base.pin_memory, unknown);
            batch_size(ui, &mut base);
            step(ui, state, &mut base);
            cores(ui, state, &mut base);
            cache(ui, &mut base);
            for name in what_if.recorded.stage_names() {
                faster(ui, name, &mut base);
            }
        });
    if before != *own && ui.button(say!("Reset to recorded")).clicked() {
        commands.push(Command::WhatIf(None));
    } else if base != before {
        let base = (base != *own).then(|| Box::new(base));
        commands.push(Command::WhatIf(base));
    }
}

fn name(ui: &mut Ui, text: &str) -> egui::Id {
    let weak = Palette::of(ui).weak;
    let label = RichText::new(text).font(mono(size::BODY)).color(weak);
    ui.label(label).id
}

fn flag(ui: &mut Ui, text: &str, value: &mut bool, obstacle: Option<&str>) {
    name(ui, text);
    let word = if *value { "True" } else { "False" };
    let check = egui::Checkbox::new(value, RichText::new(word).font(mono(size::BODY)));
    let response = ui.add_enabled(obstacle.is_none(), check);
    // The options panel has a box with the same name.
    let (spoken, on) = (say!("what if {text}"), *value);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, obstacle.is_none(), on, &spoken));
    if let Some(obstacle) = obstacle {
        response.on_disabled_hover_text(obstacle);
    }
    ui.end_row();
}

fn batch_size(ui: &mut Ui, base: &mut Setting) {
    let Some(size) = &mut base.batch_size else {
        return;
    };
    let label = name(ui, "batch_size");
    ui.add(DragValue::new(size).range(1..=1_000_000).speed(0.2))
        .labelled_by(label);
    ui.end_row();
}

/// Shows the duration of a training step: as recorded, or fixed.
fn step(ui: &mut Ui, state: &State, base: &mut Setting) {
    let label = name(ui, say!("trainer step"));
    let usual = Nanos::from_secs_f64((state.session.run.info.options.step_ms / 1e3).max(1e-3));
    let value = base.step.map(Nanos::as_millis_f64);
    let changed = optional(
        ui,
        value,
        usual.as_millis_f64(),
        |drag| drag.range(0.0..=3.6e6).speed(0.1).suffix("\u{2009}ms"),
        label,
    );
    base.step = changed.map(|ms| Nanos::from_secs_f64(ms / 1e3));
    ui.end_row();
}

/// Shows the number of cores for the loader.
fn cores(ui: &mut Ui, state: &State, base: &mut Setting) {
    let label = name(ui, say!("cores"));
    let usual = f64::from(state.session.run.info.cores.max(1));
    let value = base.cores.map(|n| n as f64);
    let changed = optional(
        ui,
        value,
        usual,
        |drag| drag.range(1.0..=1024.0).speed(0.05).fixed_decimals(0),
        label,
    );
    base.cores = changed.map(|n| n as usize);
    ui.end_row();
}

/// Shows a number that stays as recorded until the user changes it.
fn optional(
    ui: &mut Ui,
    value: Option<f64>,
    usual: f64,
    shape: impl FnOnce(DragValue) -> DragValue,
    label: egui::Id,
) -> Option<f64> {
    ui.horizontal(|ui| match value {
        None => {
            let response = ui.button(say!("as recorded")).labelled_by(label);
            response.clicked().then_some(usual)
        }
        Some(mut value) => {
            ui.add(shape(DragValue::new(&mut value))).labelled_by(label);
            let back = ui
                .small_button("×")
                .on_hover_text(say!("Reset to recorded"));
            (!back.clicked()).then_some(value)
        }
    })
    .inner
}

/// Shows the share of the samples that a cache serves at no cost.
fn cache(ui: &mut Ui, base: &mut Setting) {
    let label = name(ui, say!("served from a cache"));
    let mut percent = base.cache * 100.0;
    ui.add(
        DragValue::new(&mut percent)
            .range(0.0..=100.0)
            .speed(0.5)
            .fixed_decimals(0)
            .suffix("\u{2009}%"),
    )
    .labelled_by(label)
    .on_hover_text(say!("Share of the samples from a cache, at no cost"));
    base.cache = percent / 100.0;
    ui.end_row();
}

/// Shows the speed-up of a named sample stage.
fn faster(ui: &mut Ui, stage: &str, base: &mut Setting) {
    let label = name(ui, stage);
    let before = base.faster.iter().find(|(s, _)| s == stage);
    let before = before.map_or(1.0, |(_, factor)| *factor);
    let mut factor = before;
    ui.add(
        DragValue::new(&mut factor)
            .range(0.1..=100.0)
            .speed(0.02)
            .max_decimals(1)
            .suffix(say!("× as fast")),
    )
    .labelled_by(label)
    .on_hover_text(say!("Sample stage named by the dataset"));
    if factor != before {
        base.faster.retain(|(s, _)| s != stage);
        if (factor - 1.0).abs() > 1e-9 {
            base.faster.push((stage.to_owned(), factor));
        }
    }
    ui.end_row();
}
