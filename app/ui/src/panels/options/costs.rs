//! Sample costs and faults as rows, with presets. Everything else can be edited as text.

use std::collections::BTreeSet;

use egui::{DragValue, Id, RichText, TextEdit, Ui, vec2};
use loadscope_plan::dataset::{CostModel, DIGITS, DatasetSpec, Sharing, StreamModel, extra_cost};
use loadscope_trace::{Nanos, RunOptions};
use loadscope_words::{Text, say, text};

use super::row::part;
use crate::kit::empty::hint;
use crate::theme::{mono, sans, size};

/// Name, description and effect of a preset.
type Preset = (Text, Text, fn(&mut CostModel));

const PRESETS: [Preset; 4] = [
    (
        text!("One slow sample"),
        text!("Sample 4 takes 1 s, so later batches are held"),
        |model| {
            plain(model);
            model
                .slow
                .insert(at_most(model, 4), Nanos::from_millis(1000));
        },
    ),
    (
        text!("Long tail"),
        text!("5 % of the samples take 10 times as long"),
        |model| {
            plain(model);
            model.tail = Some(loadscope_plan::dataset::Tail {
                fraction: 0.05,
                factor: 10.0,
            });
        },
    ),
    (
        text!("Cold cache"),
        text!("A third of the samples miss the cache and take 6 times as long"),
        |model| {
            plain(model);
            model.tail = Some(loadscope_plan::dataset::Tail {
                fraction: 0.33,
                factor: 6.0,
            });
        },
    ),
    (
        text!("Crash in worker"),
        text!("Sample 12 kills its worker"),
        |model| {
            plain(model);
            model.panic.insert(at_most(model, 12));
        },
    ),
];

/// Removes everything that presets set.
fn plain(model: &mut CostModel) {
    if model.cost == Nanos::ZERO {
        model.cost = Nanos::from_millis(10);
    }
    model.slow.clear();
    model.tail = None;
    model.fail.clear();
    model.panic.clear();
}

fn at_most(model: &CostModel, index: usize) -> usize {
    index.min(model.len.saturating_sub(1))
}

/// Shows the costs of a synthetic dataset. Returns false if only text editing is possible: the user chose it, or the text is invalid.
pub(super) fn of_dataset(ui: &mut Ui, o: &mut RunOptions) -> bool {
    let is_text = toggle(ui);
    if is_text {
        return false;
    }
    match o.dataset.parse::<DatasetSpec>() {
        Ok(DatasetSpec::Synthetic(before)) => {
            let mut model = before.clone();
            rows(ui, &mut model, true);
            if model != before {
                o.dataset = DatasetSpec::Synthetic(model).to_string();
            }
        }
        Ok(DatasetSpec::Stream(before)) => {
            let StreamModel { mut cost, sharing } = before.clone();
            rows(ui, &mut cost, !matches!(sharing, Sharing::Shards(_)));
            let after = StreamModel { cost, sharing };
            if after != before {
                o.dataset = DatasetSpec::Stream(after).to_string();
            }
        }
        _ => return false,
    }
    true
}

/// Shows the costs added to another dataset, or their text.
pub(super) fn extra(ui: &mut Ui, o: &mut RunOptions) {
    let len = match o.dataset.as_str() {
        "digits" => DIGITS,
        _ => usize::MAX,
    };
    let read = extra_cost(&o.extra_cost, len);
    let is_text = toggle(ui);
    if let (false, Ok(before)) = (is_text, &read) {
        let mut model = before.clone();
        rows(ui, &mut model, false);
        if model != *before {
            o.extra_cost = extra_text(&model);
        }
        return;
    }
    let edit = TextEdit::singleline(&mut o.extra_cost)
        .hint_text(say!("none"))
        .font(mono(size::SMALL));
    let edit = ui.add_sized(vec2(ui.available_width(), 24.0), edit);
    edit.widget_info(|| egui::WidgetInfo::labeled(egui::Role::TextInput, true, "extra_cost"));
    hint(
        ui,
        say!(
            "Slows down samples. Keys: cost_ms, slow=index:ms, every=n:ms, jitter, tail=share:times, fail, panic, cpu."
        ),
    );
}

/// Returns the text of the added costs without the length, or an empty text if there are none.
fn extra_text(model: &CostModel) -> String {
    let nothing = CostModel {
        len: model.len,
        cost: Nanos::ZERO,
        ..CostModel::default()
    };
    if *model == nothing {
        return String::new();
    }
    let text = model.to_string();
    let (_, text) = text.split_once(',').unwrap_or(("", &text));
    text.to_owned()
}

/// Shows the switch between rows and text. Returns true for text.
fn toggle(ui: &mut Ui) -> bool {
    let id = Id::unique("costs as text");
    let mut is_text = ui.data(|d| d.get_temp::<bool>(id)).unwrap_or(false);
    ui.horizontal(|ui| {
        let text = RichText::new(say!("Edit as text")).font(sans(size::SMALL));
        if ui.checkbox(&mut is_text, text).changed() {
            ui.data_mut(|d| d.insert_temp(id, is_text));
        }
    });
    is_text
}

/// Shows the presets and the rows.
fn rows(ui: &mut Ui, model: &mut CostModel, has_len: bool) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
        for (name, what, change) in PRESETS {
            let name = RichText::new(name.say()).font(sans(size::SMALL));
            if ui.small_button(name).on_hover_text(what.say()).clicked() {
                change(model);
            }
        }
    });
    ui.add_space(4.0);
    if has_len {
        part(ui, say!("samples"), "", |ui, label| {
            let drag = DragValue::new(&mut model.len).range(1..=1_000_000_000);
            ui.add(drag.speed(0.2)).labelled_by(label);
        });
    }
    part(ui, say!("time per sample"), "", |ui, label| {
        millis(ui, label, &mut model.cost);
    });
    slow(ui, model);
    tail(ui, model);
    let last = model.len.saturating_sub(1);
    index(
        ui,
        say!("error at"),
        say!("Sample that raises a ValueError"),
        &mut model.fail,
        last,
    );
    index(
        ui,
        say!("crash at"),
        say!("Sample that kills its worker"),
        &mut model.panic,
        last,
    );
}

fn millis(ui: &mut Ui, label: Id, time: &mut Nanos) {
    let before = time.as_millis_f64();
    let mut ms = before;
    let drag = DragValue::new(&mut ms).range(0.0..=86_400_000.0).speed(0.2);
    // Insignificant decimals are omitted to save space.
    let drag = drag.custom_formatter(|ms, _| format!("{}", (ms * 100.0).round() / 100.0));
    ui.add(drag.suffix("\u{2009}ms")).labelled_by(label);
    if ms != before {
        *time = Nanos((ms * 1e6).round() as i64);
    }
}

/// Shows one slow sample. Further ones remain in the text.
fn slow(ui: &mut Ui, model: &mut CostModel) {
    let first = model
        .slow
        .first_key_value()
        .map(|(index, cost)| (*index, *cost));
    let more = model.slow.len().saturating_sub(1);
    let effect = match more {
        0 => String::new(),
        more => say!("{more} more in the text"),
    };
    let last = model.len.saturating_sub(1);
    part(ui, say!("slow sample"), &effect, |ui, label| {
        let mut is_on = first.is_some();
        let (mut index, mut cost) = first.unwrap_or((at_most(model, 4), Nanos::from_millis(1000)));
        if is_on {
            millis(ui, label, &mut cost);
            let drag = DragValue::new(&mut index).range(0..=last).speed(0.2);
            ui.add(drag.prefix("#")).labelled_by(label);
        }
        ui.checkbox(&mut is_on, "").labelled_by(label);
        if first != is_on.then_some((index, cost)) {
            if let Some((before, _)) = first {
                model.slow.remove(&before);
            }
            if is_on {
                model.slow.insert(index, cost);
            }
        }
    });
}

fn tail(ui: &mut Ui, model: &mut CostModel) {
    part(ui, say!("slow tail"), "", |ui, label| {
        let mut is_on = model.tail.is_some();
        let mut tail = model.tail.unwrap_or(loadscope_plan::dataset::Tail {
            fraction: 0.05,
            factor: 10.0,
        });
        if is_on {
            let times = DragValue::new(&mut tail.factor).range(0.0..=1e6).speed(0.1);
            ui.add(times.prefix("×").max_decimals(1)).labelled_by(label);
            let mut percent = tail.fraction * 100.0;
            let share = DragValue::new(&mut percent).range(0.0..=100.0).speed(0.1);
            if ui
                .add(share.suffix("\u{2009}%").max_decimals(1))
                .labelled_by(label)
                .changed()
            {
                tail.fraction = percent / 100.0;
            }
        }
        ui.checkbox(&mut is_on, "").labelled_by(label);
        model.tail = is_on.then_some(tail);
    });
}

/// Shows one sample of a set. Further ones remain in the text.
fn index(ui: &mut Ui, name: &str, effect: &str, set: &mut BTreeSet<usize>, last: usize) {
    let first = set.first().copied();
    part(ui, name, "", |ui, label| {
        let mut is_on = first.is_some();
        let mut index = first.unwrap_or(last.min(12));
        if is_on {
            let drag = DragValue::new(&mut index).range(0..=last).speed(0.2);
            ui.add(drag.prefix("#")).labelled_by(label);
        }
        let response = ui.checkbox(&mut is_on, "").labelled_by(label);
        response.on_hover_text(effect);
        if first != is_on.then_some(index) {
            if let Some(before) = first {
                set.remove(&before);
            }
            if is_on {
                set.insert(index);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use loadscope_plan::plan::check_options;

    use super::*;

    #[test]
    fn cost_presets_give_valid_options() {
        for (name, _, change) in PRESETS {
            for text in ["", "cost_ms=8,jitter=0.4,tail=0.004:60"] {
                let mut model = extra_cost(text, DIGITS).expect("sound");
                change(&mut model);
                let options = RunOptions {
                    extra_cost: extra_text(&model),
                    ..RunOptions::default()
                };
                assert_eq!(
                    check_options(&options).map_err(|e| e.to_string()),
                    Ok(()),
                    "{name}"
                );
                assert_eq!(extra_cost(&options.extra_cost, DIGITS).ok(), Some(model));
            }
            let mut model = CostModel {
                len: 3,
                ..CostModel::default()
            };
            change(&mut model);
            let dataset = DatasetSpec::Synthetic(model).to_string();
            let options = RunOptions {
                dataset,
                ..RunOptions::default()
            };
            assert_eq!(
                check_options(&options).map_err(|e| e.to_string()),
                Ok(()),
                "{name}"
            );
        }
        let nothing = extra_cost("", DIGITS).expect("sound");
        assert_eq!(extra_text(&nothing), "");
    }
}
