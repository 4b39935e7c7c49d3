//! DataLoader arguments with PyTorch's names, their effects, and the equivalent Python code.

mod collate;
mod costs;
mod dataset;
mod row;
mod run_options;
mod sampler;

use egui::{self, Align, ComboBox, DragValue, Label, Layout, RichText, ScrollArea, Ui};
use loadscope_insight::options::program;
use loadscope_lessons::Part;
use loadscope_trace::{Argument, OnError, PinMemory, RunOptions, plural};
use loadscope_words::say;

use self::row::{Form, flag_row, mark_row, number_row, python, row, time_row};
use crate::kit::dropdown;
use crate::kit::empty::hint;
use crate::kit::parts::mark;
use crate::kit::titles::section;
use crate::theme::{Palette, sans, size, space};
use loadscope_model::command::Command;
use loadscope_model::state::State;

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
            rows(
                ui,
                form,
                &mut options,
                Argument::BatchSize,
                Argument::PinMemory,
            );
            section(ui, say!("Training loop"));
            rows(ui, form, &mut options, Argument::Epochs, Argument::OnError);
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

/// Shows the rows of the arguments from `first` to `last`. Without workers, those that need workers are disabled.
fn rows(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions, first: Argument, last: Argument) {
    let all = Argument::ALL.iter().copied();
    let all: Vec<Argument> = all.filter(|one| (first..=last).contains(one)).collect();
    for group in all.chunk_by(|a, b| a.needs_workers() == b.needs_workers()) {
        let needs_workers = group.iter().any(|one| one.needs_workers());
        let has_workers = o.num_workers > 0;
        let mut show = |ui: &mut Ui| {
            for argument in group {
                if argument.has_row(o) {
                    show_row(ui, form, o, *argument);
                }
            }
        };
        if needs_workers {
            ui.add_enabled_ui(has_workers, show);
        } else {
            show(ui);
        }
    }
}

/// Shows the row of an argument.
fn show_row(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions, argument: Argument) {
    let mut flag = |ui: &mut Ui, effect: &str, value: &mut bool| {
        flag_row(ui, form, argument, effect, value);
    };
    match argument {
        // `dataset.rs` shows these.
        Argument::Dataset | Argument::ImageSize | Argument::ExtraCost => {}
        Argument::BatchSize => sampler::batch_size(ui, form, o),
        Argument::DropLast => {
            let effect = say!("Drops the last, incomplete batch (default False)");
            flag(ui, effect, &mut o.drop_last);
        }
        Argument::Shuffle => {
            let effect = say!("New random order in every epoch (default False)");
            flag(ui, effect, &mut o.shuffle);
        }
        Argument::Sampler => sampler::sampler(ui, form, o),
        Argument::Replacement => {
            let effect = say!("Allows drawing a sample more than once");
            flag(ui, effect, &mut o.replacement);
        }
        Argument::NumSamples => sampler::num_samples(ui, form, o),
        Argument::NumReplicas => {
            let effect = say!("Ranks that share the samples");
            number_row(ui, form, argument, effect, &mut o.world_size);
        }
        Argument::Rank => {
            let effect = say!("Rank of this process");
            number_row(ui, form, argument, effect, &mut o.rank);
        }
        Argument::SamplerDropLast => {
            let effect =
                say!("Drops the tail instead of padding it, so all ranks get equally many");
            flag(ui, effect, &mut o.sampler_drop_last);
        }
        Argument::SetEpoch => {
            let effect =
                say!("Calls sampler.set_epoch(epoch). Without it, every epoch has the same order.");
            flag(ui, effect, &mut o.set_epoch);
        }
        Argument::Generator => generator(ui, form, o),
        Argument::NumWorkers => {
            let effect = say!("Workers that load ahead. 0 (default): load in the main process.");
            number_row(ui, form, argument, effect, &mut o.num_workers);
        }
        Argument::PrefetchFactor => prefetch_factor(ui, form, o),
        Argument::PersistentWorkers => {
            let effect = say!("Keeps the workers alive between epochs (default False)");
            flag(ui, effect, &mut o.persistent_workers);
        }
        Argument::Timeout => {
            let effect = say!("Timeout for a batch from a worker. 0 (default): none.");
            time_row(ui, form, argument, effect, &mut o.timeout, "\u{2009}s");
        }
        Argument::Context => context_row(ui, form, o),
        Argument::InOrder => {
            let effect = say!("Yields batches in order (default True). Off: as they arrive.");
            flag(ui, effect, &mut o.in_order);
        }
        Argument::CollateFn => collate::collate(ui, form, o),
        Argument::PinMemory => pin_memory(ui, form, o),
        Argument::Epochs => {
            let effect = say!("Passes over the dataset");
            number_row(ui, form, argument, effect, &mut o.epochs);
        }
        Argument::Step => {
            let effect = say!("Duration of the simulated training step");
            time_row(ui, form, argument, effect, &mut o.step_ms, "\u{2009}ms");
        }
        Argument::OnError => on_error(ui, form, o),
    }
}

fn generator(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let effect = say!("The same seed always gives PyTorch's order");
    row(ui, form, Argument::Generator, effect, |ui, label| {
        let mut seed = o.seed.unwrap_or(0);
        let mut fixed = o.seed.is_some();
        if fixed {
            ui.add(DragValue::new(&mut seed).speed(0.1))
                .labelled_by(label);
        }
        ui.checkbox(&mut fixed, say!("fixed"));
        o.seed = fixed.then_some(seed);
    });
}

fn prefetch_factor(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let before = o.prefetch_factor.unwrap_or(2);
    let mut factor = before;
    let effect = say!("Batches in flight per worker (default 2)");
    number_row(ui, form, Argument::PrefetchFactor, effect, &mut factor);
    // An unchanged value remains PyTorch's default.
    if factor != before {
        o.prefetch_factor = Some(factor);
    }
}

fn context_row(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let argument = Argument::Context;
    let top = ui.cursor().min;
    let label = ui.horizontal(|ui| form.name(ui, argument).id).inner;
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        context(ui, label, &mut o.multiprocessing_context);
        form.reset(ui, argument);
    });
    form.effect(
        ui,
        argument,
        say!(
            "How Python starts the workers. Only affects the Python code below: workers are threads here."
        ),
    );
    mark_row(ui, argument, top);
    ui.add_space(space::GAP);
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

fn pin_memory(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let effect = say!("Copies batches to page-locked memory (default False)");
    row(ui, form, Argument::PinMemory, effect, |ui, label| {
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
    });
}

fn on_error(ui: &mut Ui, form: &mut Form<'_>, o: &mut RunOptions) {
    let effect = say!("Handling of failed samples");
    row(ui, form, Argument::OnError, effect, |ui, label| {
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
    });
}
