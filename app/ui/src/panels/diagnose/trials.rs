//! Measurement of other settings with the watched program.

use egui::{Button, Color32, Label, RichText, Ui};
use loadscope_insight::tune::{Outcome as Is, Row, Table};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::watching::Program;
use loadscope_model::watching::{Outcome, TuneRuns};
use loadscope_trace::Nanos;
use loadscope_words::say;

use crate::kit::action::button;
use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, button as row_button, row};
use crate::kit::titles::section;
use crate::theme::{Palette, sans, size, space};

/// Maximum number of progress lines shown, the latest ones.
const LINES: usize = 6;

/// Shows the measurement if the window watches a program.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let trying = state.look.trying.as_ref();
    let program = state.session.program.as_ref();
    if program.is_none() && trying.is_none() {
        return;
    }
    section(ui, say!("Other settings, measured"));
    match trying {
        Some(trying) if trying.is_running() => running(ui, state, trying, commands),
        Some(trying) => {
            over(ui, trying, commands);
            button(ui, state, Action::TryProgram, false, commands);
        }
        None => {
            let program = program.map(Program::shown).unwrap_or_default();
            remark(
                ui,
                &say!(
                    "Runs {program} unchanged, then with each promising setting. Each run ends after 200 batches. The program writes its files again in each run."
                ),
            );
            button(ui, state, Action::TryProgram, false, commands);
        }
    }
}

fn running(ui: &mut Ui, state: &State, trying: &TuneRuns, commands: &mut Vec<Command>) {
    let from = trying.lines.len().saturating_sub(LINES);
    for line in &trying.lines[from..] {
        remark(ui, line);
    }
    ui.horizontal(|ui| {
        ui.spinner();
        button(ui, state, Action::EndTries, false, commands);
    });
}

fn over(ui: &mut Ui, trying: &TuneRuns, commands: &mut Vec<Command>) {
    match &trying.outcome {
        Some(Outcome::Compared(table)) => compared(ui, trying, table, commands),
        Some(Outcome::Failed(why)) => {
            let text = RichText::new(why).color(Palette::of(ui).stall);
            ui.add(Label::new(text).wrap());
        }
        Some(Outcome::Ended) | None => remark(ui, say!("Stopped before the first run finished")),
    }
    let folder = trying.folder.display();
    remark(ui, &say!("Recordings of the runs: {folder}"));
}

fn compared(ui: &mut Ui, trying: &TuneRuns, table: &Table, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    for line in table.verdict().lines() {
        let text = RichText::new(line)
            .font(sans(size::BODY))
            .color(palette.strong);
        ui.add(Label::new(text).wrap());
    }
    if let Some(why) = table.why_not_fastest() {
        remark(ui, &why);
    }
    ui.add_space(space::GAP);
    let name = (ui.available_width() - 260.0).max(120.0);
    // A truncated name may equal that of another row.
    let widest = table.rows.iter().map(|row| wide(ui, &row.name()));
    let is_narrow = widest.fold(0.0, f32::max) > name;
    let first = if is_narrow { "" } else { say!("Setting") };
    let head = [
        Cell::heading(first, name, false, palette),
        Cell::heading(say!("Forecast"), 76.0, true, palette),
        Cell::heading(say!("Per batch"), 76.0, true, palette),
        Cell::heading(say!("Change"), 70.0, true, palette),
    ];
    row(ui, &head, Marks::default());
    for tried in &table.rows {
        let cell = match is_narrow {
            // The name is above its numbers.
            true => {
                ui.add(Label::new(tried.name()).wrap());
                Cell::word("", name)
            }
            false => Cell::word(tried.name(), name),
        };
        line(ui, trying, tried, cell, commands);
    }
    if let Some(copy) = copied(table)
        && ui.add(Button::new(say!("Copy the arguments"))).clicked()
    {
        commands.push(Command::Perform(Effect::Copy(copy)));
    }
}

/// Returns the recommended arguments if others are faster.
fn copied(table: &Table) -> Option<String> {
    let best = table.recommended()?;
    Some(best.tried.overrides.to_string())
}

fn wide(ui: &Ui, text: &str) -> f32 {
    let font = sans(size::BODY);
    let galley = ui
        .painter()
        .layout_no_wrap(text.to_owned(), font, Color32::PLACEHOLDER);
    galley.size().x
}

fn line(ui: &mut Ui, trying: &TuneRuns, tried: &Row, name: Cell, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    let time = |seconds: f64| Nanos::from_secs_f64(seconds).to_string();
    let measured = tried.tried.measured.as_ref();
    let forecast = tried
        .tried
        .expected
        .map_or("—".to_owned(), |e| time(e.per_batch));
    let took = measured.map_or("—".to_owned(), |m| time(m.per_batch));
    let color = match tried.outcome {
        Some(Is::Faster) => palette.step,
        Some(Is::Slower) => palette.stall,
        Some(Is::WithinNoise) | None => palette.text,
    };
    let change = tried
        .change
        .map_or(String::new(), loadscope_insight::format::signed);
    let cells = [
        name,
        Cell::number(forecast, 76.0),
        Cell::number(took, 76.0),
        Cell::number(change, 70.0).color(color),
    ];
    let tip = match measured {
        Ok(_) => say!(
            "{}\nCompares its recording with this run",
            tried.difference()
        ),
        Err(why) => why.clone(),
    };
    let response = row_button(ui, &cells, Marks::default()).on_hover_text(tip);
    if response.clicked() {
        let path = trying.folder.join(&tried.tried.recording);
        commands.push(Command::Perform(Effect::Compare(path)));
    }
}
