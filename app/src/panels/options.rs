//! The DataLoader's arguments as a form: PyTorch's names, their effect in a sentence, the equivalent line of Python.

use std::ops::RangeInclusive;

use eframe::egui::{
    self, Align, ComboBox, DragValue, Layout, RichText, ScrollArea, TextEdit, Ui, WidgetText,
};
use loadscope_trace::{OnError, PinMemory, RunOptions};

use crate::command::{Action, Command};
use crate::state::State;
use crate::theme::{Palette, heading, mono, size, space, words};

/// Shows the form.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut options = state.options.clone();
    egui::Panel::bottom("python")
        .show_separator_line(true)
        .frame(egui::Frame::NONE.inner_margin(egui::Margin::symmetric(0, 8)))
        .show(ui, |ui| python(ui, &options));
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_width(ui.available_width() - space::GAP);
            section(ui, "Dataset");
            commands.extend(dataset(ui, &mut options));
            faults(ui, &mut options);
            section(ui, "DataLoader");
            loader(ui, &mut options);
            section(ui, "Training loop");
            training(ui, &mut options);
            if let Some(error) = &state.options_error {
                ui.add_space(space::GAP);
                ui.colored_label(Palette::of(ui).stall, error);
            }
            ui.add_space(space::GROUP);
        });
    if options != state.options {
        commands.push(Command::Edit(Box::new(options)));
    }
    commands
}

fn section(ui: &mut Ui, title: &str) {
    ui.add_space(space::GAP * 2.0);
    ui.label(RichText::new(title).font(heading(size::BODY)));
    ui.add_space(2.0);
}

/// One argument: its name, its control, and what it does.
fn row(ui: &mut Ui, name: &str, effect: &str, control: impl FnOnce(&mut Ui, egui::Id)) {
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new(name).font(mono(size::BODY)));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            control(ui, label.id);
        });
    });
    hint(ui, effect);
    ui.add_space(space::GAP);
}

fn number(ui: &mut Ui, label: egui::Id, value: &mut usize, range: RangeInclusive<usize>) {
    let drag = DragValue::new(value).range(range).speed(0.1);
    // What a recording says is not changed by looking at it.
    ui.add(drag.clamp_existing_to_range(false))
        .labelled_by(label);
}

fn flag(ui: &mut Ui, label: egui::Id, value: &mut bool) {
    ui.checkbox(value, "").labelled_by(label);
}

fn dataset(ui: &mut Ui, options: &mut RunOptions) -> Option<Command> {
    const KINDS: [(&str, &str, &str); 3] = [
        ("digits", "Handwritten digits", "digits"),
        ("folder:", "Folder of pictures", "folder:"),
        (
            "synthetic",
            "Synthetic",
            "synthetic:len=24,cost_ms=50,slow=4:1000",
        ),
    ];
    let mut command = None;
    let current = KINDS
        .iter()
        .position(|(prefix, ..)| options.dataset.starts_with(prefix));
    row(ui, "dataset", "Where the samples come from", |ui, label| {
        let name = current.map_or("?", |k| KINDS[k].1);
        let combo = ComboBox::from_id_salt("dataset")
            .selected_text(name)
            .width(140.0);
        let response = combo.show_ui(ui, |ui| {
            for (k, (_, name, spec)) in KINDS.iter().enumerate() {
                if ui.selectable_label(current == Some(k), *name).clicked() && current != Some(k) {
                    *options = example(spec, options);
                }
            }
        });
        response.response.labelled_by(label);
    });
    if options.dataset == "synthetic" {
        options.dataset.push(':');
    }
    let (prefix, rest) = options.dataset.split_once(':')?;
    let (prefix, mut rest) = (prefix.to_owned(), rest.to_owned());
    let (name, example) = match prefix.as_str() {
        "folder" => ("folder", "/path/to/pictures"),
        _ => ("costs", "len=24,cost_ms=50,slow=4:1000"),
    };
    let mut label = None;
    ui.horizontal(|ui| {
        label = Some(ui.label(RichText::new(name).font(mono(size::BODY))).id);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if prefix == "folder" && ui.button("Choose…").clicked() {
                command = Some(Action::ChooseFolder.into());
            }
        });
    });
    let edit = TextEdit::singleline(&mut rest)
        .hint_text(example)
        .font(mono(size::SMALL));
    let edit = ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit);
    if let Some(label) = label {
        edit.labelled_by(label);
    }
    let effect = match prefix.as_str() {
        "folder" => "One subfolder a class, as torchvision's ImageFolder; a flat folder works, too",
        _ => {
            "Keys: len, cost_ms, slow=index:ms, every=n:ms, jitter, tail, fail, panic, cpu, seed, shape"
        }
    };
    hint(ui, effect);
    options.dataset = format!("{prefix}:{rest}");
    if prefix == "folder" {
        ui.add_space(space::GAP);
        row(
            ui,
            "image_size",
            "Pictures are resized to this many pixels square",
            |ui, label| {
                ui.add(
                    DragValue::new(&mut options.image_size)
                        .clamp_existing_to_range(false)
                        .range(8..=1024)
                        .speed(1.0),
                )
                .labelled_by(label);
            },
        );
    }
    command
}

/// Time and faults on purpose. The synthetic dataset has its own.
fn faults(ui: &mut Ui, o: &mut RunOptions) {
    if o.dataset.starts_with("synthetic") {
        o.extra_cost.clear();
        return;
    }
    ui.add_space(space::GAP);
    let label = ui.label(RichText::new("extra_cost").font(mono(size::BODY)));
    let edit = TextEdit::singleline(&mut o.extra_cost)
        .hint_text("none")
        .font(mono(size::SMALL));
    ui.add_sized(egui::vec2(ui.available_width(), 24.0), edit)
        .labelled_by(label.id);
    hint(
        ui,
        "Slows samples down on purpose: cost_ms, slow=index:ms, every=n:ms, jitter, tail, fail, panic, cpu",
    );
}

fn hint(ui: &mut Ui, text: &str) {
    let text = RichText::new(text)
        .font(words(size::SMALL))
        .color(Palette::of(ui).weak);
    ui.add(egui::Label::new(text).wrap());
}

/// What one would run first with a kind of dataset: the demo's slowness is not the user's, and one slow sample is seen best
/// in batches of one.
fn example(spec: &str, old: &RunOptions) -> RunOptions {
    let mut new = RunOptions {
        dataset: spec.to_owned(),
        extra_cost: String::new(),
        ..old.clone()
    };
    if spec.starts_with("digits") {
        new = crate::prefs::demo();
    } else if spec.starts_with("synthetic") {
        new.batch_size = 1;
        new.shuffle = false;
        new.num_workers = 2;
        new.prefetch_factor = None;
        new.step_ms = 20.0;
    }
    new
}

fn loader(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "batch_size",
        "Samples a batch; default 1",
        |ui, label| {
            number(ui, label, &mut o.batch_size, 1..=65_536);
        },
    );
    row(
        ui,
        "shuffle",
        "A new random order in every epoch; default False",
        |ui, label| {
            flag(ui, label, &mut o.shuffle);
        },
    );
    row(
        ui,
        "generator",
        "The same seed gives PyTorch's order, every time",
        |ui, label| {
            let mut seed = o.seed.unwrap_or(0);
            let mut fixed = o.seed.is_some();
            if fixed {
                ui.add(DragValue::new(&mut seed).speed(0.1))
                    .labelled_by(label);
            }
            ui.checkbox(&mut fixed, "fixed");
            o.seed = fixed.then_some(seed);
        },
    );
    row(
        ui,
        "num_workers",
        "Threads that load ahead; 0: the trainer loads by itself; default 0",
        |ui, label| {
            number(ui, label, &mut o.num_workers, 0..=256);
            if o.num_workers == 0 {
                o.prefetch_factor = None;
                o.persistent_workers = false;
            }
        },
    );
    ui.add_enabled_ui(o.num_workers > 0, |ui| workers(ui, o));
    memory(ui, o);
}

/// What only workers have.
fn workers(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "prefetch_factor",
        "Batches in flight per worker; default 2",
        |ui, label| {
            let mut factor = o.prefetch_factor.unwrap_or(2);
            number(ui, label, &mut factor, 1..=64);
            // What was not touched stays PyTorch's default.
            if factor != o.prefetch_factor.unwrap_or(2) {
                o.prefetch_factor = Some(factor);
            }
        },
    );
    row(
        ui,
        "persistent_workers",
        "Keeps the workers alive between epochs; default False",
        |ui, label| {
            flag(ui, label, &mut o.persistent_workers);
        },
    );
    row(
        ui,
        "in_order",
        "Off: batches are handed out as they arrive; default True",
        |ui, label| {
            flag(ui, label, &mut o.in_order);
        },
    );
}

fn memory(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "pin_memory",
        "Copies batches to page-locked memory; default False",
        |ui, label| {
            let name = |pin| match pin {
                PinMemory::Off => "False",
                PinMemory::On => "True",
                PinMemory::Mlock => "mlock (no GPU)",
            };
            let combo = ComboBox::from_id_salt("pin_memory")
                .selected_text(name(o.pin_memory))
                .width(110.0);
            let response = combo.show_ui(ui, |ui| {
                for pin in [PinMemory::Off, PinMemory::On, PinMemory::Mlock] {
                    ui.selectable_value(&mut o.pin_memory, pin, name(pin));
                }
            });
            response.response.labelled_by(label);
        },
    );
    row(
        ui,
        "drop_last",
        "Leaves out a last batch that is not full; default False",
        |ui, label| {
            flag(ui, label, &mut o.drop_last);
        },
    );
}

fn training(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "epochs",
        "How often the dataset is gone through",
        |ui, label| {
            let drag = DragValue::new(&mut o.epochs).range(1..=10_000).speed(0.05);
            ui.add(drag.clamp_existing_to_range(false))
                .labelled_by(label);
        },
    );
    row(
        ui,
        "step",
        "How long the simulated training step takes",
        |ui, label| {
            let drag = DragValue::new(&mut o.step_ms)
                .clamp_existing_to_range(false)
                .range(0.0..=60_000.0)
                .speed(0.2)
                .max_decimals(2);
            ui.add(drag.suffix("\u{2009}ms")).labelled_by(label);
        },
    );
    row(
        ui,
        "on_error",
        "What to do when a sample fails",
        |ui, label| {
            let name = |on_error| match on_error {
                OnError::Stop => "Stop",
                OnError::Continue => "Go on",
            };
            let combo = ComboBox::from_id_salt("on_error")
                .selected_text(name(o.on_error))
                .width(80.0);
            let response = combo.show_ui(ui, |ui| {
                for choice in [OnError::Stop, OnError::Continue] {
                    ui.selectable_value(&mut o.on_error, choice, name(choice));
                }
            });
            response.response.labelled_by(label);
        },
    );
}

fn python(ui: &mut Ui, options: &RunOptions) {
    let line = options.python_line();
    ui.horizontal(|ui| {
        ui.label(
            RichText::new("The same in PyTorch")
                .font(words(size::SMALL))
                .color(Palette::of(ui).weak),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let copy = ui
                .small_button("Copy")
                .on_hover_text("Copies this line of Python");
            if copy.clicked() {
                ui.copy_text(line.clone());
            }
        });
    });
    let text: WidgetText = RichText::new(&line).font(mono(size::SMALL)).into();
    ui.add(egui::Label::new(text).wrap().selectable(true));
}
