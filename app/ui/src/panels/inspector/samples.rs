//! Samples of a batch: fetch time by step, the slowest sample, all samples and their indices.

use egui::{Response, RichText, Ui};
use loadscope_trace::{Activity, Nanos, PathStep, Run, Sample, Stage};
use loadscope_words::say;

use crate::kit::action::{push_on_click, set_accessible_name, small_button};
use crate::kit::empty::remark;
use crate::kit::rows::{Cell, Marks, button, millis, row, share, virtual_list};
use crate::kit::table::{Column, Table, Text};
use crate::kit::titles::{section, section_with};
use crate::theme::{Palette, mono, size, space};
use loadscope_insight::code::CodeChoice;
use loadscope_insight::format;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;

/// Shows the samples of the batch at row `at`.
pub fn show(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let run = &state.session.run;
    let samples = by_cost(run, at, state.now());
    // The total per step is known once all samples are fetched.
    if samples.len() == run.samples(at).len() {
        stages(ui, run, at);
    }
    list(ui, state, at, &samples, commands);
    indices(ui, state, at, commands);
}

/// Shows the slowest sample, if there is one. It comes before the other contents of the batch.
pub fn costliest(ui: &mut Ui, run: &Run, at: usize, now: Nanos) {
    let samples = by_cost(run, at, now);
    if let [costliest, next, ..] = samples.as_slice()
        && next.wall < costliest.wall
    {
        let title = match has_been_fetched(run, at, now) {
            true => say!("Slowest sample"),
            false => say!("Slowest sample so far"),
        };
        section(ui, title);
        most_expensive(ui, run, at, costliest, samples[samples.len() / 2].wall);
    }
}

/// Returns the samples fetched by `now`, the slowest first.
fn by_cost(run: &Run, at: usize, now: Nanos) -> Vec<Sample> {
    let all = has_been_fetched(run, at, now);
    let (_, begun) = run.samples_begun(at, now);
    let mut samples: Vec<Sample> = begun.filter(|s| all || s.end() <= now).collect();
    samples.sort_by_key(|s| std::cmp::Reverse(s.wall));
    samples
}

/// Returns true if all samples of the batch were fetched by `now`.
fn has_been_fetched(run: &Run, at: usize, now: Nanos) -> bool {
    let path = run.path(at);
    let is_later = |step: &PathStep| step.stage > Stage::Fetching && step.start <= now;
    path.iter().any(is_later)
}

/// Shows the named steps of all samples, the most expensive first.
fn stages(ui: &mut Ui, run: &Run, at: usize) {
    let palette = Palette::of(ui.ctx());
    let Some(stages) = run.sample_stages(at).filter(|s| !s.names.is_empty()) else {
        return;
    };
    let mut costs: Vec<(Nanos, &str)> = stages
        .names
        .iter()
        .enumerate()
        .map(|(k, name)| (stages.total(k), name.as_str()))
        .collect();
    costs.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    let all = run.samples(at).fold(Nanos::ZERO, |sum, s| sum + s.wall);
    let named = costs.iter().fold(Nanos::ZERO, |sum, c| sum + c.0);
    // Unnamed time is shown, too. Below 1 % it is only measurement overhead.
    if (all - named).0 > all.0 / 100 {
        costs.push((all - named, say!("other")));
        costs.sort_by_key(|(total, _)| std::cmp::Reverse(*total));
    }
    let most = costs.first().map_or(Nanos::ZERO, |c| c.0);
    section(ui, say!("Fetch time by step"));
    let (name, number) = (106.0, 58.0);
    let columns = [
        Column::words(say!("Step"), name),
        Column::numbers(say!("Total, ms"), number),
        Column::numbers(say!("Share"), number),
    ];
    let table = Table::new(ui, columns);
    for (k, (total, what)) in costs.iter().enumerate() {
        let mut cells = [
            Text::from(*what),
            millis(*total).into(),
            format::percent(f64::from(share(*total, all))).into(),
        ];
        if k == 0 {
            cells = cells.map(|c| c.strong(palette));
        }
        let bar = Some((
            0.0,
            share(*total, most),
            palette.activity(Activity::Fetching),
        ));
        table.row(ui, cells, Marks { dot: None, bar });
    }
}

/// Shows the slowest sample and its steps.
fn most_expensive(ui: &mut Ui, run: &Run, at: usize, sample: &Sample, middle: Nanos) {
    let palette = Palette::of(ui.ctx());
    let name = match sample.index {
        Some(index) => say!("Sample {index}"),
        None => say!("Sample {} of the batch", sample.position + 1),
    };
    let times = sample.wall.0 as f64 / middle.0.max(1) as f64;
    ui.label(if times >= 1.1 {
        say!("{name} took {}, {times:.1}× the median", sample.wall)
    } else {
        say!("{name} took {}, about as long as the others", sample.wall)
    });
    let Some(stages) = run.sample_stages(at) else {
        return;
    };
    let walls = (0..stages.names.len()).map(|k| stages.wall(k, sample.position));
    let mut costs: Vec<(Nanos, &String)> = walls.zip(stages.names).collect();
    costs.sort_by_key(|(wall, _)| std::cmp::Reverse(*wall));
    let (name, number) = (106.0, 58.0);
    for (wall, step) in costs {
        let cells = [
            Cell::word(step, name),
            Cell::number(wall.to_string(), number),
            Cell::number(format::percent(f64::from(share(wall, sample.wall))), number),
        ];
        let bar = Some((
            0.0,
            share(wall, sample.wall),
            palette.activity(Activity::Fetching),
        ));
        row(ui, &cells, Marks { dot: None, bar });
    }
}

/// Shows all samples, the slowest first.
fn list(ui: &mut Ui, state: &State, at: usize, samples: &[Sample], commands: &mut Vec<Command>) {
    let (run, now) = (&state.session.run, state.now());
    let palette = Palette::of(ui.ctx());
    section(ui, say!("Samples"));
    let Some(most) = samples.first().map(|s| s.wall) else {
        remark(
            ui,
            match (has_been_fetched(run, at, now), run.samples_begun(at, now).0) {
                (true, 0) => say!("Times were not measured"),
                (false, 0) => say!("Times are available once all are fetched"),
                _ => say!("None fetched yet"),
            },
        );
        return;
    };
    let (index, number) = (64.0, 66.0);
    let head = [
        Cell::heading(say!("Index"), index, true, palette),
        Cell::heading(say!("Wall, ms"), number, true, palette),
        Cell::heading(say!("CPU, ms"), number, true, palette),
    ];
    row(ui, &head, Marks::default());
    virtual_list(ui, say!("samples"), samples.len(), |ui, k| {
        let sample = &samples[k];
        let missing = || "—".to_owned();
        let mut cells = [
            Cell::number(sample.index.map_or_else(missing, |i| i.to_string()), index),
            Cell::number(millis(sample.wall), number),
            Cell::number(sample.cpu.map_or_else(missing, millis), number),
        ];
        if k == 0 && samples.get(1).is_some_and(|next| next.wall < most) {
            cells = cells.map(|c| c.strong(palette));
        }
        let bar = Some((
            0.0,
            share(sample.wall, most),
            palette.activity(Activity::Fetching),
        ));
        let marks = Marks { dot: None, bar };
        let response = match run.stacks().is_empty() {
            true => row(ui, &cells, marks),
            false => code_button(ui, state, sample, &cells, marks, commands),
        };
        response.on_hover_ui(|ui| costs_of(ui, run, at, sample));
    });
}

/// Shows a row that can be clicked, which shows the code of the sample.
fn code_button(
    ui: &mut Ui,
    state: &State,
    sample: &Sample,
    cells: &[Cell],
    marks: Marks,
    commands: &mut Vec<Command>,
) -> Response {
    let response = button(ui, cells, marks);
    if response.clicked() {
        commands.push(Command::Code(CodeChoice {
            sample: Some(sample.position),
            ..state.session.code.for_another_item()
        }));
        commands.push(Action::ShowCode.into());
    }
    response
}

/// Shows the steps of a sample.
fn costs_of(ui: &mut Ui, run: &Run, at: usize, sample: &Sample) {
    let index = sample
        .index
        .map_or(say!("Sample").to_owned(), |i| say!("Sample {i}"));
    ui.label(say!("{index} took {}", sample.wall));
    let Some(stages) = run.sample_stages(at) else {
        return;
    };
    let mut costs: Vec<(Nanos, &String)> = stages
        .names
        .iter()
        .enumerate()
        .map(|(k, name)| (stages.wall(k, sample.position), name))
        .collect();
    costs.sort_by_key(|(wall, _)| std::cmp::Reverse(*wall));
    for (wall, name) in costs {
        ui.label(RichText::new(say!("{name} {wall}")).font(mono(size::SMALL)));
    }
}

/// Shows the dataset indices in sampler order.
fn indices(ui: &mut Ui, state: &State, at: usize, commands: &mut Vec<Command>) {
    let indices = state.session.run.indices(at);
    if indices.is_empty() {
        return;
    }
    let title = format::plural(indices.len() as u64, say!(n: "index"), say!(n: "indices"));
    section_with(ui, &title, |ui| {
        copy_button(ui, Action::CopyIndices, commands)
    });
    let digits = indices.iter().max().map_or(1, |i| i.to_string().len());
    let width = digits as f32 * size::SMALL * 0.6;
    let gap = 2.0 * space::GAP;
    let columns = (((ui.available_width() + gap) / (width + gap)) as usize).max(1);
    virtual_list(
        ui,
        "indices",
        indices.len().div_ceil(columns),
        |ui, line| {
            let part = indices.range(line * columns..indices.len().min((line + 1) * columns));
            let cells: Vec<Cell> = part
                .iter()
                .map(|i| Cell::number(i.to_string(), width))
                .collect();
            row(ui, &cells, Marks::default());
        },
    );
}

/// Shows a small button that copies something.
pub fn copy_button(ui: &mut Ui, action: Action, commands: &mut Vec<Command>) {
    let response = ui.add(small_button(say!("Copy")));
    set_accessible_name(&response, action);
    push_on_click(response, action, commands);
}
