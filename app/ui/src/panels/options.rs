//! The DataLoader's arguments: PyTorch's names, their effect in a sentence, the equivalent line of Python.

mod collate;
mod dataset;
mod of_run;
mod row;
mod sampler;

use egui::{self, Align, ComboBox, DragValue, Layout, RichText, ScrollArea, Ui};
use loadscope_trace::{OnError, PinMemory, RunOptions};

use self::row::{flag, number, python, row, time};
use crate::kit::empty::hint;
use crate::kit::titles::section;
use crate::theme::{Palette, mono, size, space};
use loadscope_model::command::Command;
use loadscope_model::state::State;

/// Shows the options of the next run, or the options of the run that is shown.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    if state.shows_options_of_run() {
        of_run::show(ui, state, &mut commands);
        return commands;
    }
    let mut options = state.prefs.options.clone();
    egui::Panel::bottom("python")
        .show_separator_line(true)
        .frame(egui::Frame::NONE.inner_margin(egui::Margin::symmetric(0, 8)))
        .show(ui, |ui| {
            // Below the options, which may have been scrolled: it says why nothing can be run.
            if let Some(error) = &state.look.options_error {
                ui.colored_label(Palette::of(ui).stall, error);
                ui.add_space(space::GAP);
            }
            python(ui, &options.python_line());
        });
    if state.has_options_of_run() {
        of_run::switch(ui, state, &mut commands);
    }
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_width(ui.available_width() - space::GAP);
            section(ui, "Dataset");
            dataset::dataset(ui, &mut options, &mut commands);
            dataset::faults(ui, &mut options);
            section(ui, "DataLoader");
            loader(ui, &mut options);
            section(ui, "Training loop");
            training(ui, &mut options);
            ui.add_space(space::GROUP);
        });
    if options != state.prefs.options {
        commands.push(Command::Edit(Box::new(options)));
    }
    commands
}

fn loader(ui: &mut Ui, o: &mut RunOptions) {
    sampler::batches(ui, o);
    sampler::show(ui, o);
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
            number(ui, label, &mut o.num_workers);
        },
    );
    ui.add_enabled_ui(o.num_workers > 0, |ui| workers(ui, o));
    collate::collate(ui, o);
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
            number(ui, label, &mut factor);
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
        "timeout",
        "The longest wait for a worker; 0: no limit, the default",
        |ui, label| {
            time(ui, label, &mut o.timeout, "\u{2009}s");
        },
    );
    let name = RichText::new("multiprocessing_context").font(mono(size::BODY));
    let label = ui.label(name);
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        context(ui, label.id, &mut o.multiprocessing_context);
    });
    hint(
        ui,
        "How Python starts its processes; workers are threads here, so it only shows in the line of Python",
    );
    ui.add_space(space::GAP);
    row(
        ui,
        "in_order",
        "Off: batches are yielded as they arrive; default True",
        |ui, label| {
            flag(ui, label, &mut o.in_order);
        },
    );
}

fn context(ui: &mut Ui, label: egui::Id, method: &mut String) {
    let name = |method: &str| match method {
        "" => "default".to_owned(),
        method => method.to_owned(),
    };
    let combo = ComboBox::from_id_salt("multiprocessing_context")
        .selected_text(name(method))
        .width(110.0);
    let response = combo.show_ui(ui, |ui| {
        for choice in ["", "fork", "spawn", "forkserver"] {
            ui.selectable_value(method, choice.to_owned(), name(choice));
        }
    });
    response.response.labelled_by(label);
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
}

fn training(ui: &mut Ui, o: &mut RunOptions) {
    row(
        ui,
        "epochs",
        "How often the dataset is gone through",
        |ui, label| {
            number(ui, label, &mut o.epochs);
        },
    );
    row(
        ui,
        "step",
        "How long the simulated training step takes",
        |ui, label| {
            time(ui, label, &mut o.step_ms, "\u{2009}ms");
        },
    );
    row(
        ui,
        "on_error",
        "What to do when a sample fails",
        |ui, label| {
            let name = of_run::on_error;
            let combo = ComboBox::from_id_salt("on_error")
                .selected_text(name(o.on_error))
                .width(110.0);
            let response = combo.show_ui(ui, |ui| {
                for choice in [
                    OnError::Stop,
                    OnError::Continue,
                    OnError::Skip,
                    OnError::Log,
                ] {
                    ui.selectable_value(&mut o.on_error, choice, name(choice));
                }
            });
            response.response.labelled_by(label);
        },
    );
}
