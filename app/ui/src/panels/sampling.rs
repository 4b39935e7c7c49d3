//! Sampling workspace: the recorded or predicted order of the samples.

use std::sync::Arc;

use egui::{self, CentralPanel, Frame, Margin, Panel, Rect, ScrollArea, Ui};

use crate::kit::empty::empty;
use crate::kit::parts::mark;
use crate::theme::Palette;
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::coloring::Coloring;
use loadscope_insight::sampling::ranks::Ranks;
use loadscope_insight::sampling::{Choice, OrderSource};
use loadscope_lessons::Part;
use loadscope_model::command::Command;
use loadscope_model::sampling::order_of;
use loadscope_model::state::State;
use loadscope_model::view::Item;
use loadscope_words::say;

mod answers;
mod classes;
mod head;
mod ranks;
mod scatter;

use scatter::{Marks, Scatter};

/// Minimum width at which the answers are next to the scatter plot instead of below, points.
const WIDE: f32 = 760.0;

/// Sampling workspace. Everything it caches can be dropped at any time.
#[derive(Default)]
pub struct Sampling {
    scatter: Scatter,
    /// Selected batch of a predicted order. The run lacks it, so it cannot be the window's selection.
    picked: Option<usize>,
}

impl Sampling {
    /// Draws the workspace in all of `ui`.
    pub fn show(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let palette = Palette::of(ui);
        let mut commands = Vec::new();
        let panel = |x, y| {
            Frame::NONE
                .fill(palette.panel)
                .inner_margin(Margin::symmetric(x, y))
        };
        Panel::top("sampling head")
            .frame(panel(12, 4))
            .show(ui, |ui| head::show(ui, state, &mut commands));
        let Some(answers) = state.session.results.sampling.answers.clone() else {
            CentralPanel::default()
                .frame(panel(12, 8))
                .show(ui, |ui| nothing(ui, state));
            return commands;
        };
        let most = ui.available_height() * 0.3;
        // The findings would answer a lesson's question or solve a case.
        if !state.learn.hides_verdict() {
            let findings = Panel::top("sampling findings");
            findings.frame(panel(12, 4)).show(ui, |ui| {
                mark(ui, Part::Findings, ui.max_rect().expand(4.0));
                let all = ScrollArea::vertical().max_height(most);
                all.min_scrolled_height(most).show(ui, |ui| {
                    if let Some(position) = head::findings(ui, &answers) {
                        commands.extend(self.pick(&answers, position));
                    }
                });
            });
        }
        if answers.positions == 0 {
            CentralPanel::default()
                .frame(panel(12, 8))
                .show(ui, |ui| no_index(ui, state));
            return commands;
        }
        let in_case = state.learn.detecting().is_some() && state.learn.hides_verdict();
        if ui.available_width() >= WIDE {
            let width = (ui.available_width() * 0.3).clamp(280.0, 400.0);
            Panel::right("sampling answers")
                .frame(panel(12, 8))
                .exact_size(width)
                .show(ui, |ui| {
                    ScrollArea::vertical()
                        .auto_shrink([false, false])
                        .show(ui, |ui| answers::show(ui, &answers, in_case));
                });
            CentralPanel::default()
                .frame(Frame::NONE.fill(palette.canvas))
                .show(ui, |ui| {
                    commands.extend(self.pictures(ui, state, &answers, ui.available_height()));
                });
        } else {
            CentralPanel::default()
                .frame(Frame::NONE.fill(palette.canvas))
                .show(ui, |ui| {
                    // The area scrolls, so the ranks need not reduce the scatter plot.
                    let below = ranks_of(&answers).map_or(0.0, ranks::height);
                    let height = (ui.available_height() * 0.62).max(220.0) + below;
                    ScrollArea::vertical()
                        .auto_shrink([false, false])
                        .show(ui, |ui| {
                            commands.extend(self.pictures(ui, state, &answers, height));
                            panel(12, 8).show(ui, |ui| answers::show(ui, &answers, in_case));
                        });
                });
        }
        commands
    }

    /// Draws the scatter plot, and the ranks below if there are several.
    fn pictures(
        &mut self,
        ui: &mut Ui,
        state: &State,
        answers: &Arc<OrderAnalysis>,
        height: f32,
    ) -> Vec<Command> {
        let ranks = ranks_of(answers);
        let below = ranks.map_or(0.0, ranks::height);
        let marks = self.marks(state, answers);
        let size = egui::vec2(ui.available_width(), (height - below).max(160.0));
        let by = state.session.sampling.coloring.effective(answers);
        let top = ui.cursor().min;
        mark(ui, Part::Order, Rect::from_min_size(top, size));
        let pointed = self
            .scatter
            .show(ui, state.place.platform, size, answers, (&marks, by));
        if let Some(ranks) = ranks {
            let shown = ui.scope(|ui| {
                let colored = (by == Coloring::Rank).then_some(&answers.by_rank);
                ranks::show(ui, ranks, answers.rank, colored);
            });
            mark(ui, Part::Ranks, shown.response.rect);
        }
        let mut commands = Vec::new();
        commands.extend(pointed.coloring.map(|coloring| {
            let now = state.session.sampling;
            Command::Sampling(Choice { coloring, ..now })
        }));
        if let Some(position) = pointed.clicked {
            commands.extend(self.pick(answers, position));
        }
        if let Some(row) = pointed.hovered.and_then(|p| row_at(answers, p)) {
            commands.push(Command::Hover(Some(Item::Batch(row))));
        }
        commands
    }

    /// Returns the highlighted batches.
    fn marks(&self, state: &State, answers: &OrderAnalysis) -> Marks {
        let order = &answers.order;
        let place = |item: Option<Item>| {
            let row = u32::try_from(item?.batch()?).ok()?;
            // Rows follow the dispatch order, so they are sorted.
            order.rows.binary_search(&row).ok()
        };
        let selected = match order.rows.is_empty() {
            true => self.picked,
            false => place(state.session.selection),
        };
        Marks {
            selected: selected.and_then(|batch| order.positions(batch)),
            hovered: place(state.session.hovered).and_then(|batch| order.positions(batch)),
        }
    }

    /// Selects the batch that contains the index at `position`.
    fn pick(&mut self, answers: &OrderAnalysis, position: usize) -> Option<Command> {
        if answers.order.rows.is_empty() {
            let batch = answers.order.batch_at(position);
            self.picked = batch.filter(|_| self.picked != batch);
            return None;
        }
        Some(Command::Select(Some(Item::Batch(row_at(
            answers, position,
        )?))))
    }
}

/// Shows a placeholder before the first answer, or if the order cannot be predicted.
fn nothing(ui: &mut Ui, state: &State) {
    let answers = &state.session.results.sampling;
    match (&answers.refusal, answers.share) {
        (Some(refusal), _) => empty(ui, say!("The order cannot be predicted"), refusal),
        (None, Some(share)) => {
            empty(ui, say!("Analyzing the order"), "");
            ui.vertical_centered(|ui| {
                ui.add(
                    egui::ProgressBar::new(share)
                        .desired_width(240.0)
                        .desired_height(8.0),
                );
            });
        }
        (None, None) => no_index(ui, state),
    }
}

fn ranks_of(answers: &OrderAnalysis) -> Option<&Ranks> {
    answers.ranks.as_ref().filter(|r| r.shares.len() > 1)
}

fn row_at(answers: &OrderAnalysis, position: usize) -> Option<usize> {
    let batch = answers.order.batch_at(position)?;
    answers.order.rows.get(batch).map(|row| *row as usize)
}

/// Shows a placeholder for an order without indices.
fn no_index(ui: &mut Ui, state: &State) {
    let what =
        say!("Shows position × index, coverage, shuffle quality and class balance of an epoch");
    match order_of(state) {
        OrderSource::Run if state.session.run.batches().is_empty() => {
            let text = match state.session.source.is_live() {
                true => say!("The first batch is in flight"),
                false => say!("Press Ctrl+R to start a run, or preview the order of its options"),
            };
            empty(ui, say!("No indices drawn yet"), text);
        }
        OrderSource::Run => empty(
            ui,
            say!("The samples of this run have no indices"),
            say!(
                "An iterable-style dataset decides its own order. Next epoch shows the part of each worker, if known."
            ),
        ),
        _ => empty(ui, say!("No indices to draw"), what),
    }
}
