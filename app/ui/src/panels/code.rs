//! Code of the selection: hot lines and a flame graph, next to the source with a heat per line.

mod flame;
mod lines;
mod phases;
mod shared;
mod source;

use egui::{Align, Button, Frame, Label, Layout, Margin, RichText, ScrollArea, Ui, vec2};
use loadscope_insight::code::{CodeProfile, Subject, Work};
use loadscope_insight::format;
use loadscope_model::command::Command;
use loadscope_model::state::State;
use loadscope_trace::Lane;
use loadscope_words::say;

use crate::kit::action::small_button;
use crate::kit::empty::{empty, remark};
use crate::kit::rows::ROW;
use crate::kit::titles::title_text;
use crate::theme::{Palette, space};
use flame::FlameGraph;
use shared::choose;
pub(crate) use shared::{frame_color, phase_color};
use source::SourceView;

/// Minimum width with the source next to the flame graph, points.
const SIDE_BY_SIDE: f32 = 640.0;
/// Minimum width with the switches in the line of the title, points.
const ONE_LINE: f32 = 760.0;
/// Fraction of the width for the hot lines and the flame graph.
const LEFT: f32 = 0.52;
/// Number of hot lines shown at once. The others scroll.
const MOST_LINES: f32 = 6.0;
/// Height of the source below the flame graph, points.
const SOURCE_BELOW: f32 = 260.0;

/// Code of the selection.
#[derive(Default)]
pub struct CodePanel {
    flame: FlameGraph,
    source: SourceView,
}

impl CodePanel {
    /// Shows the code. A click on a line or a frame shows it in the source.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let mut commands = Vec::new();
        Frame::NONE
            .inner_margin(Margin::symmetric(12, 4))
            .show(ui, |ui| self.contents(ui, state, &mut commands));
        commands
    }

    fn contents(&mut self, ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
        if state.session.run.stacks().is_empty() {
            no_stacks(ui, state);
            return;
        }
        let results = &state.session.results.code;
        let Some(profile) = results.profile.as_deref() else {
            remark(
                ui,
                results
                    .refusal
                    .as_deref()
                    .unwrap_or(say!("Counting the stacks")),
            );
            return;
        };
        head(ui, state, profile, commands);
        if profile.total == 0 {
            remark(
                ui,
                &say!(
                    "No stack was recorded here: one is recorded every {}",
                    profile.period
                ),
            );
            return;
        }
        phases::show(ui, profile);
        ui.add_space(space::GAP);
        let room = ui.available_size();
        if room.x < SIDE_BY_SIDE {
            ScrollArea::vertical()
                .id_salt("code")
                .auto_shrink(false)
                .show(ui, |ui| {
                    lines::show(ui, state, profile, MOST_LINES, commands);
                    self.flame.show(ui, state, profile, None, commands);
                    ui.add_space(space::GAP);
                    ui.allocate_ui(vec2(ui.available_width(), SOURCE_BELOW), |ui| {
                        self.source.show(ui, state, profile, commands);
                    });
                });
            return;
        }
        let left = (room.x * LEFT).round();
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = space::GROUP;
            ui.allocate_ui_with_layout(vec2(left, room.y), Layout::top_down(Align::Min), |ui| {
                ui.set_width(left);
                // The hot lines leave most of the height to the flame graph.
                let most = (room.y * 0.4 / ROW).floor().clamp(2.0, MOST_LINES);
                lines::show(ui, state, profile, most, commands);
                let height = ui.available_height();
                self.flame.show(ui, state, profile, Some(height), commands);
            });
            ui.vertical(|ui| self.source.show(ui, state, profile, commands));
        });
    }
}

fn no_stacks(ui: &mut Ui, state: &State) {
    if state.hides_future() || state.session.source.is_live() {
        empty(
            ui,
            say!("No stacks yet"),
            say!("They arrive a few seconds after the work"),
        );
    } else {
        empty(
            ui,
            say!("No stacks recorded"),
            say!(
                "On Linux, `loadscope record` samples the Python stacks of all processes. This recording has none."
            ),
        );
    }
}

/// Shows the name of the selection, its number of samples, and the switches.
fn head(ui: &mut Ui, state: &State, profile: &CodeProfile, commands: &mut Vec<Command>) {
    let is_wide = ui.available_width() >= ONE_LINE;
    ui.horizontal(|ui| {
        ui.label(title_text(ui, name(state, profile)));
        if let Subject::Sample(..) = profile.question.subject {
            let whole = ui.add(small_button(say!("Whole batch")));
            if whole.clicked() {
                choose(state, commands, |choice| choice.sample = None);
            }
        }
        let weak = Palette::of(ui).weak;
        let text = RichText::new(extent(profile)).color(weak);
        if is_wide {
            ui.label(text);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                order_switch(ui, state, profile, commands);
                ui.add_space(space::GROUP);
                work_switch(ui, state, profile, commands, true);
            });
        } else {
            ui.add(Label::new(text).truncate());
        }
    });
    if !is_wide {
        ui.horizontal_wrapped(|ui| {
            work_switch(ui, state, profile, commands, false);
            ui.add_space(space::MARGIN);
            order_switch(ui, state, profile, commands);
        });
    }
}

/// Returns the name of the selection.
fn name(state: &State, profile: &CodeProfile) -> String {
    let run = &state.session.run;
    let of_batch = |row: usize| {
        let batch = run.batches().get(row);
        let id = batch.map_or(say!("batch —").to_owned(), |batch| batch.id.to_string());
        match batch.and_then(|batch| batch.worker) {
            Some(worker) => format!("{id} · {}", Lane::Worker(worker)),
            None => id,
        }
    };
    match profile.question.subject {
        Subject::Run => say!("Whole run").to_owned(),
        Subject::Range(start, end) => say!("Selected {}", end - start),
        Subject::Process(Some(worker)) => format::capital(&Lane::Worker(worker).to_string()),
        Subject::Process(None) => say!("Main process").to_owned(),
        Subject::Batch(row) => format::capital(&of_batch(row)),
        Subject::Sample(row, position) => {
            let sample = run.samples(row).find(|one| one.position == position);
            let batch = of_batch(row);
            match sample.and_then(|one| one.index) {
                Some(index) => say!("Sample {index} of {batch}"),
                None => say!("Sample {} of {batch}", position + 1),
            }
        }
    }
}

/// Returns the number of stacks, their interval, and a note for few of them.
fn extent(profile: &CodeProfile) -> String {
    let stacks = format::plural(profile.total, say!(n: "stack"), say!(n: "stacks"));
    let mut text = say!("{stacks}, one every {}", profile.period);
    if profile.total > 0 && profile.is_rough() {
        text += say!(": shares are rough");
    }
    text
}

fn work_switch(
    ui: &mut Ui,
    state: &State,
    profile: &CodeProfile,
    commands: &mut Vec<Command>,
    is_from_right: bool,
) {
    let mut all: Vec<(Work, u64)> = Work::ALL.into_iter().zip(profile.counts).collect();
    if is_from_right {
        all.reverse();
    }
    for (work, count) in all {
        let button = Button::new(work.label()).selected(work == profile.work);
        let response = ui.add_enabled(count > 0, button);
        let tip = format::plural(count, say!(n: "stack"), say!(n: "stacks"));
        let response = response.on_hover_text(tip);
        let response = response.on_disabled_hover_text(say!("No stacks"));
        if response.clicked() {
            choose(state, commands, |choice| choice.work = Some(work));
        }
    }
}

fn order_switch(ui: &mut Ui, state: &State, profile: &CodeProfile, commands: &mut Vec<Command>) {
    let is_on = profile.question.over_time && profile.no_order.is_none();
    let button = Button::new(say!("Over time")).selected(is_on);
    let response = ui.add_enabled(profile.no_order.is_none(), button);
    let response = response.on_hover_text(say!(
        "Orders the flame graph by time. Otherwise, equal calls are together and the most frequent are at the left."
    ));
    let response = response.on_disabled_hover_text(profile.no_order.unwrap_or_default());
    if response.clicked() {
        choose(state, commands, |choice| choice.over_time = !is_on);
    }
}
