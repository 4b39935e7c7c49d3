//! Head of the Sampling workspace: the source of the order, the epoch, a summary and the findings.

use egui::{
    Align, Button, Label, Layout, ProgressBar, Response, RichText, Role, Sense, Ui, WidgetInfo,
};
use loadscope_insight::format::{count, plural};
use loadscope_insight::sampling::analysis::OrderAnalysis;
use loadscope_insight::sampling::shuffle::Shuffle;
use loadscope_insight::sampling::{Choice, OrderSource};
use loadscope_model::command::Command;
use loadscope_model::sampling::{choice_of, epochs, incomplete, order_of};
use loadscope_model::state::State;
use loadscope_words::say;

use crate::kit::titles;
use crate::kit::titles::title_text;
use crate::theme::{Palette, heading, mono, size, space};

/// Shows the source switch, the epoch and the description of the order.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (what, name, tip) in [
                (OrderSource::Run, say!("This run"), say!("Actual order")),
                (
                    OrderSource::Next,
                    say!("Next epoch"),
                    say!("Predicted order of the next epoch, with the options of this run"),
                ),
                (
                    OrderSource::Options,
                    say!("Next run"),
                    say!("Predicted order with the options on the left"),
                ),
            ] {
                let asks = state.learn.question().is_some();
                let possible = match what {
                    OrderSource::Run => state.has_run(),
                    // The prediction may be the answer to a lesson's question.
                    OrderSource::Next => state.has_run() && !asks,
                    OrderSource::Options => !asks,
                };
                let button = Button::new(name).selected(order_of(state) == what);
                if ui
                    .add_enabled(possible, button)
                    .on_hover_text(tip)
                    .clicked()
                {
                    commands.push(Command::Sampling(Choice {
                        of: what,
                        ..state.session.sampling
                    }));
                }
            }
        });
        ui.add_space(space::GAP);
        stepper(ui, state, commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(share) = state
                .session
                .results
                .sampling
                .share
                .filter(|share| *share > 0.0)
            {
                ui.add(
                    ProgressBar::new(share)
                        .desired_width(80.0)
                        .desired_height(4.0),
                );
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let text = RichText::new(about(state)).color(palette.weak);
                ui.add(Label::new(text).truncate());
            });
        });
    });
}

fn stepper(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let (epoch, first, last) = epochs(state);
    let number = match order_of(state) {
        OrderSource::Run => {
            (state.session.run.epochs().get(epoch as usize)).map_or(epoch, |e| e.epoch)
        }
        _ => epoch,
    };
    let mut to = None;
    ui.label(say!("Epoch"));
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        let before = ui.add_enabled(epoch > first, Button::new("‹"));
        if before.on_hover_text(say!("Previous epoch")).clicked() {
            to = Some(epoch - 1);
        }
        ui.label(RichText::new(number.to_string()).font(mono(size::BODY)));
        let after = ui.add_enabled(epoch < last, Button::new("›"));
        if after.on_hover_text(say!("Next epoch")).clicked() {
            to = Some(epoch + 1);
        }
    });
    commands.extend(to.map(|epoch| Command::Sampling(choice_of(state, epoch))));
}

/// Describes the size and the reliability of the order.
fn about(state: &State) -> String {
    let Some(answers) = &state.session.results.sampling.answers else {
        return String::new();
    };
    let batches = answers.order.count(&state.session.run) as u64;
    let mut parts = vec![plural(batches, say!(n: "batch"), say!(n: "batches"))];
    if order_of(state) == OrderSource::Run {
        let (epoch, ..) = epochs(state);
        parts.extend(incomplete(state, epoch as usize).map(str::to_owned));
    }
    if answers.is_unseeded {
        parts.push(say!("no seed, so every run has a different order").to_owned());
    } else if answers.agrees == Some(true) {
        parts.push(say!("predicted (earlier epochs matched)").to_owned());
    } else if answers.agrees == Some(false) {
        parts.push(
            say!("unreliable prediction: earlier epochs did not match these options").to_owned(),
        );
    }
    parts.join(" · ")
}

/// Returns true if the order is long enough for a shuffle quality.
pub fn judges(answers: &OrderAnalysis) -> bool {
    answers.positions >= Shuffle::FEWEST
}

/// Shows a summary in one sentence, and the findings. Returns the position of a finding that was clicked.
pub fn findings(ui: &mut Ui, answers: &OrderAnalysis) -> Option<usize> {
    let palette = Palette::of(ui);
    ui.spacing_mut().item_spacing.y = space::GAP;
    let mut headline = answers.headline();
    if let Some(shuffle) = answers.shuffle.as_ref().filter(|_| judges(answers)) {
        headline += &say!(
            " · shuffle quality {}",
            loadscope_insight::format::percent(shuffle.quality().min(1.0))
        );
    }
    if let Some(p) = answers.balance.as_ref().and_then(|b| b.test).map(|t| t.p) {
        headline += match p {
            p if p < 0.001 => say!(" · classes out of balance"),
            _ => say!(" · classes balanced"),
        };
    }
    ui.label(title_text(ui, headline));
    let mut clicked = None;
    for finding in &answers.findings {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::GAP * 2.0;
            let color = if finding.is_problem {
                palette.held
            } else {
                palette.weak
            };
            ui.label(RichText::new("•").font(heading(size::BODY)).color(color));
            let says = RichText::new(&finding.says).color(palette.text);
            match finding.position {
                Some(position) => {
                    let response = ui
                        .add(Label::new(says.underline()).sense(Sense::click()))
                        .on_hover_text(say!(
                            "Selects the batch at position {}",
                            count(position as u64)
                        ));
                    if response.clicked() {
                        clicked = Some(position);
                    }
                }
                None => {
                    ui.label(says);
                }
            }
            ui.label(RichText::new(&finding.remedy).color(palette.weak));
        });
    }
    clicked
}

/// Shows a heading with a figure at the right.
pub fn title(ui: &mut Ui, text: &str, figure: &str) {
    let palette = Palette::of(ui);
    ui.horizontal(|ui| {
        titles::title(ui, text);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(
                RichText::new(figure)
                    .font(mono(size::BODY))
                    .color(palette.strong),
            );
        });
    });
}

/// Sets an accessible name for screen readers.
pub fn name(response: &Response, text: &str) {
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, text));
}
