//! Toolbar: menus, transport and verdict.

use std::sync::Arc;

use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::{self, Align, Button, Galley, Layout, MenuBar, RichText, Role, Ui, WidgetInfo};

use crate::kit::action;
use crate::kit::action::{push_on_click, set_accessible_name};
use crate::kit::dropdown;
use crate::kit::icons::Icon;
use crate::kit::titles::title_text;
use crate::panels::{menus, transport};
use crate::theme::{Palette, mono, sans, size};
use loadscope_insight::headline::Headline;
use loadscope_insight::loaders::names;
use loadscope_model::code::can_have_code;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::State;
use loadscope_model::view::LowerPanel;
use loadscope_model::view::{Item, Workspace};
use loadscope_words::say;

/// Shows the menus and the transport.
pub fn show(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    MenuBar::new().ui(ui, |ui| {
        menus::show(ui, state, &mut commands);
        // The menu bar's style ends here, so that the following buttons have frames.
        *ui.style_mut() = (*ui.global_style()).clone();
        ui.separator();
        workspaces(ui, state, &mut commands);
        ui.separator();
        transport::show(ui, state, &mut commands);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for (action, icon, on) in [
                (
                    Action::ToggleInspector,
                    Icon::PanelRight,
                    state.prefs.inspector_open,
                ),
                (
                    Action::ToggleOptions,
                    Icon::PanelLeft,
                    state.prefs.options_open,
                ),
            ] {
                transport::button(ui, state, action, icon, "", on, &mut commands);
            }
            if ui.content_rect().width() < transport::ACTIONS {
                return;
            }
            let info = Action::Palette.info();
            let keys = info.keys(ui.ctx());
            let keys = RichText::new(keys).font(mono(size::SMALL));
            let response = ui.add(Button::new((say!("Actions"), keys.weak())));
            set_accessible_name(&response, Action::Palette);
            push_on_click(response, Action::Palette, &mut commands);
        });
    });
    commands
}

/// Shows the workspace switch.
fn workspaces(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.x = 2.0;
        for workspace in Workspace::ALL {
            // The list of lessons is not a workspace.
            let on = state.prefs.workspace == workspace && !state.learn.shows_contents();
            action::button(ui, state, Action::from(workspace), on, commands);
        }
    });
}

/// Share of waiting below which the wait is unimportant.
const IMPORTANT_SHARE: f64 = 0.05;
/// Minimum width at which the verdict and its cause are next to each other, points.
const ONE_LINE: f32 = 1120.0;
/// Maximum share of the verdict in a line with its cause.
const VERDICT: f32 = 0.6;
/// Width of the link to the diagnosis with its margin, points.
const LINK: f32 = 64.0;
/// Minimum width at which the cause needs one line instead of two, points.
const CAUSE_ON_ONE_LINE: f32 = 960.0;

/// Returns the number of lines of the cause, and the height. They depend only on the width, so that the pipeline below never moves.
fn lines(width: f32) -> (usize, f32) {
    match width {
        w if w >= ONE_LINE => (1, 24.0),
        w if w >= CAUSE_ON_ONE_LINE => (1, 42.0),
        _ => (2, 60.0),
    }
}

/// Shows the verdict: the share of waiting and its cause.
pub fn headline(ui: &mut Ui, headline: Option<&Headline>) -> Vec<Command> {
    let mut commands = Vec::new();
    let palette = Palette::of(ui);
    let Some(headline) = headline else {
        ui.label(RichText::new(say!("No events yet")).color(palette.weak));
        return commands;
    };
    let color = if headline.share >= IMPORTANT_SHARE || headline.has_failed {
        palette.stall
    } else if headline.is_empty {
        palette.weak
    } else {
        palette.step
    };
    let side_by_side = ui.available_width() >= ONE_LINE;
    let (rows, height) = lines(ui.available_width());
    ui.horizontal(|ui| {
        ui.set_height(height);
        let (bar, _) = ui.allocate_exact_size(egui::vec2(4.0, height - 6.0), egui::Sense::hover());
        ui.painter().rect_filled(bar, 2.0, color);
        if side_by_side {
            let share = if headline.cause.is_some() {
                VERDICT
            } else {
                1.0
            };
            verdict(ui, headline, share);
            why(ui, headline, &mut commands);
            cause(ui, headline, rows, &mut commands);
        } else {
            ui.vertical(|ui| {
                ui.spacing_mut().item_spacing.y = 2.0;
                // The texts are centered in the height reserved for the longest text.
                let below = headline.cause.as_ref().map(|text| wrapped(ui, text, rows));
                let below = below.map_or(0.0, |galley| galley.size().y + 2.0);
                let line = ui.text_style_height(&egui::TextStyle::Body);
                ui.add_space(((height - line - below) / 2.0).max(0.0).floor());
                ui.horizontal(|ui| {
                    verdict(ui, headline, 1.0);
                    why(ui, headline, &mut commands);
                });
                cause(ui, headline, rows, &mut commands);
            });
        }
    });
    commands
}

/// Shows the verdict on one line, in at most a share of the width. If it is cut, it is complete on hover.
fn verdict(ui: &mut Ui, headline: &Headline, share: f32) {
    let text = title_text(ui, &headline.verdict);
    let link = if has_link(headline) { LINK } else { 0.0 };
    ui.scope(|ui| {
        let whole = ui.available_width();
        ui.set_max_width((whole * share).min(whole - link).max(0.0));
        ui.add(egui::Label::new(text).truncate());
    });
}

/// Returns true if the verdict has a link to the diagnosis.
fn has_link(headline: &Headline) -> bool {
    !headline.has_failed && headline.share >= IMPORTANT_SHARE
}

/// Shows a link to the diagnosis if there is significant waiting.
fn why(ui: &mut Ui, headline: &Headline, commands: &mut Vec<Command>) {
    if !has_link(headline) {
        return;
    }
    let response = ui.add(action::small_button(say!("Why?")));
    response.widget_info(|| {
        WidgetInfo::labeled(Role::Button, true, say!("Diagnose why the trainer waited"))
    });
    push_on_click(response, Action::ShowDiagnose, commands);
}

/// Replaces the verdict during a lesson's question, because it may be the answer. The height is the same.
pub fn hidden_headline(ui: &mut Ui) {
    let (_, height) = lines(ui.available_width());
    ui.horizontal(|ui| {
        ui.set_height(height);
        let text = say!("Answer the question to see the verdict");
        ui.label(RichText::new(text).color(Palette::of(ui).weak));
    });
}

/// Lays out a text in at most `rows` rows.
fn wrapped(ui: &Ui, text: &str, rows: usize) -> Arc<Galley> {
    let format = TextFormat::simple(sans(size::BODY), Palette::of(ui).text);
    let mut job = LayoutJob::single_section(text.to_owned(), format);
    job.wrap = TextWrapping {
        max_width: ui.available_width(),
        max_rows: rows,
        ..TextWrapping::default()
    };
    ui.painter().layout_job(job)
}

/// Shows the cause in at most `rows` rows. A click selects its batch.
fn cause(ui: &mut Ui, headline: &Headline, rows: usize, commands: &mut Vec<Command>) {
    let Some(cause) = &headline.cause else {
        return;
    };
    let galley = wrapped(ui, cause, rows);
    let is_cut = galley.elided;
    let response = ui
        .add(egui::Label::new(galley).sense(egui::Sense::click()))
        .on_hover_ui(|ui| {
            if is_cut {
                ui.label(cause);
            }
            ui.label(say!("Selects this batch and zooms to it"));
        });
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, cause.as_str()));
    if response.clicked() {
        commands.push(Command::Select(headline.batch.map(Item::Batch)));
        commands.push(Action::FitSelection.into());
    }
}

/// Shows the tabs for the area below the pipeline.
pub fn lower_tabs(ui: &mut Ui, state: &State) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.horizontal(|ui| {
        let are_many = state.session.loaders.are_many();
        // Without its tab, a panel falls back to the timeline.
        let shown = match state.look.lower {
            LowerPanel::Loaders if !are_many => LowerPanel::Timeline,
            LowerPanel::Code if !can_have_code(state) => LowerPanel::Timeline,
            lower => lower,
        };
        for (action, lower) in [
            (Action::ShowTimeline, LowerPanel::Timeline),
            (Action::ShowBatches, LowerPanel::Batches),
            (Action::ShowPlots, LowerPanel::Plots),
            (Action::ShowCode, LowerPanel::Code),
            (Action::ShowLoaders, LowerPanel::Loaders),
        ] {
            let is_there = match lower {
                LowerPanel::Timeline | LowerPanel::Batches | LowerPanel::Plots => true,
                LowerPanel::Code => can_have_code(state),
                LowerPanel::Loaders => are_many,
            };
            if is_there {
                action::button(ui, state, action, shown == lower, &mut commands);
            }
        }
        if are_many {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                chooser(ui, state, &mut commands);
            });
        }
    });
    commands
}

/// Shows the drop-down for the loader.
fn chooser(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let all = state.session.loaders.all(&state.session.run);
    let shown = state.session.loaders.shown();
    let names = names(&all);
    let at = all.iter().position(|(id, _)| *id == shown);
    let combo = egui::ComboBox::from_id_salt("loader")
        .selected_text(at.map_or("", |at| &names[at]))
        .truncate()
        .width(160.0);
    let response = dropdown::show(ui, combo, |ui| {
        for ((id, _), name) in all.iter().zip(&names) {
            if dropdown::entry(ui, *id == shown, name) && *id != shown {
                commands.push(Command::ShowLoader(*id));
            }
        }
    });
    let tip = say!("Selects the loader to show");
    response.on_hover_text(tip);
}
