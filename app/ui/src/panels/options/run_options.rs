//! Options of the shown run, read-only. Those of the next run are in another tab.

use egui::{self, Align, Button, Label, Layout, RichText, ScrollArea, Ui};
use loadscope_insight::dataset;
use loadscope_insight::format::capital;
use loadscope_trace::{ArgValue, Argument, OnError, Origin, RunOptions, count};
use loadscope_words::say;

use super::row::python;
use crate::kit::action;
use crate::kit::empty::hint;
use crate::kit::titles::section;
use crate::theme::{Palette, mono, sans, size, space};
use loadscope_insight::loaders::names;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::{Source, State};
use loadscope_model::view::OptionsSource;

/// Height of a row, points.
const ROW: f32 = 16.0;

/// Shows the switch between the shown run and the next run.
pub(super) fn switch(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.add_space(space::GAP * 2.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for (of, label, tip) in [
            (
                OptionsSource::Run,
                say!("Shown run"),
                say!("Options of the shown run"),
            ),
            (
                OptionsSource::NextRun,
                say!("Next run"),
                say!("Options of the next run"),
            ),
        ] {
            let button = Button::new(label).selected(state.session.options_of == of);
            if ui.add(button).on_hover_text(tip).clicked() && state.session.options_of != of {
                commands.push(Command::OptionsSource(of));
            }
        }
    });
}

/// Shows the options of the run.
pub(super) fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let info = &state.session.run.info;
    let line = info.python_line();
    egui::Panel::bottom("python")
        .show_separator_line(true)
        .frame(egui::Frame::NONE.inner_margin(egui::Margin::symmetric(0, 8)))
        .show(ui, |ui| {
            ui.with_layout(Layout::top_down_justified(Align::Center), |ui| {
                action::button(ui, state, Action::TakeOptions, false, commands);
            });
            ui.add_space(space::GAP);
            if let Some(line) = &line {
                python(ui, line, None);
            }
        });
    switch(ui, state, commands);
    ScrollArea::vertical()
        .auto_shrink([false, false])
        .show(ui, |ui| {
            ui.set_width(ui.available_width() - space::GAP);
            ui.spacing_mut().interact_size.y = ROW;
            headline(ui, state);
            match line {
                Some(_) => arguments(ui, &info.options, &info.origin),
                None => hint(
                    ui,
                    say!("This recording does not include the DataLoader arguments"),
                ),
            }
            program(ui, state);
            ui.add_space(space::GROUP);
        });
}

/// Shows the kind and the name of the run.
fn headline(ui: &mut Ui, state: &State) {
    let what = match (&state.session.run.info.origin, &state.session.source) {
        (Origin::Engine, Source::Live { .. } | Source::Finished) => {
            say!("Shown run")
        }
        (_, Source::Live { .. }) => say!("Watched program"),
        (Origin::Pytorch(_), _) => say!("Recorded program"),
        (Origin::Import(_), _) => say!("Imported run"),
        (Origin::Simulation, _) => say!("Simulated run"),
        (Origin::Engine, _) => say!("Recorded options"),
    };
    section(ui, what);
    let all = state.session.loaders.all(&state.session.run);
    let at = all
        .iter()
        .position(|(id, _)| *id == state.session.loaders.shown());
    let name = at.and_then(|at| names(&all).into_iter().nth(at));
    let info = &state.session.run.info;
    let name = name.map(|name| match name == info.dataset {
        true => dataset(info),
        false => name,
    });
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        ui.add(Label::new(RichText::new(name).color(Palette::of(ui).text)).wrap());
    }
    if all.len() > 1 {
        let number = say!("One of {} loaders", count(all.len() as u64));
        hint(ui, &number);
    }
}

/// Shows a name and its value. PyTorch's defaults are weak.
fn fact(ui: &mut Ui, name: &str, value: &str, is_usual: bool) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.label(
            RichText::new(name)
                .font(mono(size::BODY))
                .color(palette.weak),
        );
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let color = if is_usual {
                palette.weak
            } else {
                palette.strong
            };
            let text = RichText::new(value).font(mono(size::BODY)).color(color);
            ui.add(Label::new(text).truncate().selectable(true));
        });
    });
}

/// Shows an argument, unless it has no effect.
fn argument(ui: &mut Ui, argument: Argument, o: &RunOptions) {
    let usual = RunOptions {
        batch_size: Some(1),
        ..RunOptions::default()
    };
    let is_usual = argument.is_same(o, &usual);
    let (name, value, is_usual) = match argument {
        _ if argument.needs_workers() && o.num_workers == 0 => return,
        Argument::Replacement | Argument::NumSamples | Argument::CollateFn if is_usual => return,
        Argument::CollateFn => (argument.option(), argument.value(o), false),
        Argument::PrefetchFactor => (argument.name(), argument.effective(o), o.prefetch() == 2),
        _ => (argument.name(), argument.value(o), is_usual),
    };
    let text = match value {
        ArgValue::Real(seconds) => format!("{seconds}\u{2009}s"),
        ArgValue::Text(text) if text.is_empty() => "None".to_owned(),
        value => value.to_string(),
    };
    fact(ui, name, &text, is_usual);
}

/// Shows the arguments and, for runs of Loadscope, the training loop.
fn arguments(ui: &mut Ui, o: &RunOptions, origin: &Origin) {
    section(ui, say!("DataLoader"));
    for one in Argument::DOCUMENTED {
        argument(ui, one, o);
    }
    // A recorded program reports the seed only for a sampler with its own seed.
    let whose = match (origin, o.sampler.as_str()) {
        (Origin::Pytorch(_), "distributed") => "sampler.seed",
        _ => "generator",
    };
    let seed = o
        .seed
        .map_or(say!("not fixed").to_owned(), |s| s.to_string());
    fact(ui, whose, &seed, o.seed.is_none());
    if let Some(seed) = o.global_seed {
        fact(ui, "manual_seed", &seed.to_string(), false);
    }
    if matches!(origin, Origin::Engine | Origin::Simulation) {
        section(ui, say!("Training loop"));
        fact(ui, "dataset", &o.dataset, false);
        if !o.extra_cost.is_empty() {
            fact(ui, "extra_cost", &o.extra_cost, false);
        }
        fact(ui, say!("epochs"), &o.epochs.to_string(), o.epochs == 1);
        let step = format!("{}\u{2009}ms", o.step_ms);
        fact(ui, "step", &step, o.step_ms == 0.0);
        let is_usual = o.on_error == OnError::Stop;
        fact(ui, "on_error", on_error(o.on_error), is_usual);
    }
}

/// Describes the handling of failed samples.
pub(super) fn on_error(choice: OnError) -> &'static str {
    match choice {
        OnError::Stop => say!("Stop"),
        OnError::Continue => say!("Continue"),
        OnError::Skip => say!("Skip sample"),
        OnError::Log => say!("Skip and log"),
    }
}

/// Shows the origin of the run.
fn program(ui: &mut Ui, state: &State) {
    let info = &state.session.run.info;
    section(ui, say!("Program"));
    let mut row = |name: &str, value: String| {
        let palette = Palette::of(ui);
        ui.horizontal(|ui| {
            ui.label(
                RichText::new(name)
                    .font(sans(size::BODY))
                    .color(palette.weak),
            );
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let text = RichText::new(&value).color(palette.text);
                ui.add(Label::new(text).truncate().selectable(true));
            });
        });
    };
    row(say!("Source"), capital(&info.origin.label()));
    if info.world_size > 1 {
        row(say!("Rank"), say!("{} of {}", info.rank, info.world_size));
    }
    for (name, value) in [
        (say!("Host"), &info.host),
        (say!("Recording"), &info.recording),
    ] {
        if !value.is_empty() {
            row(name, value.clone());
        }
    }
    let number = |n: u64| count(n);
    if let Some(len) = info.dataset_len {
        row(say!("Samples"), number(len));
    }
    if let Some(batches) = info.batches_per_epoch {
        row(say!("Batches per epoch"), number(batches));
    }
    if info.cores > 0 {
        row(say!("Cores"), info.cores.to_string());
    }
    if let Some(clock) = &info.clock {
        hint(ui, &say!("Clock aligned {}", clock.label()));
    }
}
