//! DataLoader arguments with PyTorch's names, their effects, and the equivalent Python code.

use egui::{self, Align, ComboBox, DragValue, Label, Layout, RichText, ScrollArea, Ui};
use loadscope_insight::options::{Field, program};
use loadscope_lessons::Part;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_trace::{Collate, OnError, PinMemory, RunOptions, plural};
use loadscope_words::say;

use self::row::{Form, flag, mark_row, number, part, python, row, time};
use crate::kit::dropdown;
use crate::kit::empty::hint;
use crate::kit::parts::mark;
use crate::kit::titles::section;
use crate::theme::{Palette, sans, size, space};

mod costs;
mod dataset;
mod row;
mod run_options;
mod sampler;

/// Shows the options of the next run or of the shown run.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    if state.shows_options_of_run() {
        run_options::show(ui, state, &mut commands);
        return commands;
    }
    let mut options = state.prefs.options.clone();
    let shown = state.options_of_run();
    let mut form = Form::new(&options, shown, &state.look.problems);
    let form = &mut form;
    let python_box = egui::Panel::bottom("python")
        .show_separator_line(true)
        .frame(egui::Frame::NONE.inner_margin(egui::Margin::symmetric(0, 8)))
        .show(ui, |ui| {
            problems(ui, state);
            let before = shown.filter(|_| !form.changed.is_empty()).map(program);
            python(ui, &program(&options), before.as_deref());
        });
    mark(ui, Part::Python, python_box.response.rect);
    if state.has_options_of_run() {
        run_options::switch(ui, state, &mut commands);
        difference(ui, form, &mut commands);
    }
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_width(ui.available_width() - space::GAP);
            section(ui, say!("Dataset"));
            dataset::dataset(ui, form, &mut options, &mut commands);
            dataset::faults(ui, form, &mut options);
            section(ui, say!("DataLoader"));
            loader(ui, form, &mut options);
            section(ui, say!("Training loop"));
            training(ui, form, &mut options);
            ui.add_space(space::GROUP);
        });
    if let Some(shown) = form.shown {
        for field in &form.resets {
            field.copy(shown, &mut options);
        }
    }
    if options != state.prefs.options {
        commands.push(Command::Edit(Box::new(options)));
    }
    commands
}

/// Shows the first problem of the options. It is below the list, so that scrolling does not hide it.
fn problems(ui: &mut Ui, state: &State) {
    let Some(first) = state.look.problems.first() else {
        return;
    };
    let text = match first.field {
        Some(field) => format!("{}: {}", field.name(), first.text),
        None => first.text.clone(),
    };
    let more = state.look.problems.len() - 1;
    let text = RichText::new(text).font(sans(size::SMALL));
    let label = Label::new(text.color(Palette::of(ui).stall)).truncate();
    ui.add(label).on_hover_text(&first.sentence);
    if more > 0 {
        hint(
            ui,
            &say!(
                "and {}",
                plural(more as u64, say!(n: "more"), say!(n: "more"))
            ),
        );
    }
    ui.add_space(space::GAP);
}

/// Shows the number of options that differ from the shown run, and a link that reverts them.
fn difference(ui: &mut Ui, form: &Form<'_>, commands: &mut Vec<Command>) {
    let Some(shown) = form.shown else {
        return;
    };
    ui.add_space(space::GAP);
    // The line keeps its height even without changes, so that the rows below do not move.
    ui.horizontal(|ui| {
        ui.set_min_height(ui.spacing().interact_size.y);
        if form.changed.is_empty() {
            hint(ui, say!("Same options as the shown run"));
            return;
        }
        let count = plural(
            form.changed.len() as u64,
            say!(n: "option changed"),
            say!(n: "options changed"),
        );
        let text = RichText::new(count).font(sans(size::SMALL));
        let names: Vec<&str> = form.changed.iter().map(|field| field.name()).collect();
        let label = ui.label(text.color(Palette::of(ui).text));
        label.on_hover_text(say!(
            "Different from the shown run: {}",
            names.join(say!(", "))
        ));
        let link = ui.link(RichText::new(say!("Revert")).font(sans(size::SMALL)));
        if link
            .on_hover_text(say!("Resets them to the shown run"))
            .clicked()
        {
            commands.push(Command::Edit(Box::new(shown.clone())));
        }
    });
}

fn loader(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    sampler::batches(ui, form, o);
    sampler::show(ui, form, o);
    row(
        ui,
        form,
        Field::Generator,
        say!("The same seed always gives PyTorch's order"),
        |ui, label| {
            let mut seed = o.seed.unwrap_or(0);
            let mut fixed = o.seed.is_some();
            if fixed {
                ui.add(DragValue::new(&mut seed).speed(0.1))
                    .labelled_by(label);
            }
            ui.checkbox(&mut fixed, say!("fixed"));
            o.seed = fixed.then_some(seed);
        },
    );
    row(
        ui,
        form,
        Field::NumWorkers,
        say!("Workers that load ahead. 0 (default): load in the main process."),
        |ui, label| {
            number(ui, label, &mut o.num_workers);
        },
    );
    ui.add_enabled_ui(o.num_workers > 0, |ui| workers(ui, form, o));
    collate(ui, form, o);
    memory(ui, form, o);
}

/// Shows the options that need workers.
fn workers(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    row(
        ui,
        form,
        Field::PrefetchFactor,
        say!("Batches in flight per worker (default 2)"),
        |ui, label| {
            let mut factor = o.prefetch_factor.unwrap_or(2);
            number(ui, label, &mut factor);
            // An unchanged value remains PyTorch's default.
            if factor != o.prefetch_factor.unwrap_or(2) {
                o.prefetch_factor = Some(factor);
            }
        },
    );
    row(
        ui,
        form,
        Field::PersistentWorkers,
        say!("Keeps the workers alive between epochs (default False)"),
        |ui, label| {
            flag(ui, label, &mut o.persistent_workers);
        },
    );
    row(
        ui,
        form,
        Field::Timeout,
        say!("Timeout for a batch from a worker. 0 (default): none."),
        |ui, label| {
            time(ui, label, &mut o.timeout, "\u{2009}s");
        },
    );
    let top = ui.cursor().min;
    let label = ui.horizontal(|ui| form.name(ui, Field::Context).id).inner;
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        context(ui, label, &mut o.multiprocessing_context);
        form.reset(ui, Field::Context);
    });
    form.effect(
        ui,
        Field::Context,
        say!(
            "How Python starts the workers. Only affects the Python code below: workers are threads here."
        ),
    );
    mark_row(ui, Field::Context, top);
    ui.add_space(space::GAP);
    row(
        ui,
        form,
        Field::InOrder,
        say!("Yields batches in order (default True). Off: as they arrive."),
        |ui, label| {
            flag(ui, label, &mut o.in_order);
        },
    );
}

fn context(ui: &mut Ui, label: egui::Id, method: &mut String) {
    let name = |method: &str| match method {
        "" => say!("default").to_owned(),
        method => method.to_owned(),
    };
    let combo = ComboBox::from_id_salt("multiprocessing_context")
        .selected_text(name(method))
        .width(dropdown::width(ui, 110.0))
        .truncate();
    let response = dropdown::show(ui, combo, |ui| {
        for one in ["", "fork", "spawn", "forkserver"] {
            dropdown::value(ui, method, one.to_owned(), name(one));
        }
    });
    response.labelled_by(label);
}

fn memory(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    row(
        ui,
        form,
        Field::PinMemory,
        say!("Copies batches to page-locked memory (default False)"),
        |ui, label| {
            let name = |pin| match pin {
                PinMemory::Off => "False",
                PinMemory::On => "True",
                PinMemory::Mlock => say!("mlock (no GPU)"),
            };
            let combo = ComboBox::from_id_salt("pin_memory")
                .selected_text(name(o.pin_memory))
                .width(dropdown::width(ui, 110.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                for pin in [PinMemory::Off, PinMemory::On, PinMemory::Mlock] {
                    dropdown::value(ui, &mut o.pin_memory, pin, name(pin));
                }
            });
            response.labelled_by(label);
        },
    );
}

/// Shows the options of the training loop: epochs, step time and reaction to errors.
fn training(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    row(
        ui,
        form,
        Field::Epochs,
        say!("Passes over the dataset"),
        |ui, label| {
            number(ui, label, &mut o.epochs);
        },
    );
    row(
        ui,
        form,
        Field::Step,
        say!("Duration of the simulated training step"),
        |ui, label| {
            time(ui, label, &mut o.step_ms, "\u{2009}ms");
        },
    );
    row(
        ui,
        form,
        Field::OnError,
        say!("Handling of failed samples"),
        |ui, label| {
            let name = run_options::on_error;
            let combo = ComboBox::from_id_salt("on_error")
                .selected_text(name(o.on_error))
                .width(dropdown::width(ui, 110.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                for one in [
                    OnError::Stop,
                    OnError::Continue,
                    OnError::Skip,
                    OnError::Log,
                ] {
                    dropdown::value(ui, &mut o.on_error, one, name(one));
                }
            });
            response.labelled_by(label);
        },
    );
}

/// Shows the collate function and the padding value.
fn collate(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    row(
        ui,
        form,
        Field::CollateFn,
        say!(
            "How samples become a batch: stacked, as a list per field, padded to the largest, or concatenated with offsets"
        ),
        |ui, label| {
            let in_force = Collate::Fitting.resolve(&o.dataset);
            let name = |choice: Collate| match choice {
                Collate::Fitting => say!("automatic ({})", short(in_force)),
                other => short(other).to_owned(),
            };
            let combo = ComboBox::from_id_salt("collate")
                .selected_text(name(o.collate))
                .width(dropdown::width(ui, 140.0))
                .truncate();
            let response = dropdown::show(ui, combo, |ui| {
                let padding = match o.collate {
                    Collate::Pad(value) => Collate::Pad(value),
                    _ => Collate::Pad(0.0),
                };
                for one in [
                    Collate::Fitting,
                    Collate::Stack,
                    Collate::List,
                    padding,
                    Collate::Concat,
                ] {
                    dropdown::value(ui, &mut o.collate, one, name(one));
                }
            });
            response.labelled_by(label);
        },
    );
    if let Collate::Pad(value) = &mut o.collate {
        part(
            ui,
            "padding_value",
            say!("Value appended to shorter samples"),
            |ui, label| {
                ui.add(DragValue::new(value).speed(0.1)).labelled_by(label);
            },
        );
    }
}

fn short(choice: Collate) -> &'static str {
    match choice {
        Collate::Fitting | Collate::Stack => say!("default"),
        Collate::List => say!("list"),
        Collate::Pad(_) => say!("pad"),
        Collate::Concat => say!("concat"),
    }
}
