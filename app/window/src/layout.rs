//! Layout of the window.

use egui::{Align, Button, CentralPanel, Color32, Context, Frame, Layout, Margin, Panel, Rect, Ui};
use loadscope_insight::headline::Headline;
use loadscope_lessons::Part;
use loadscope_model::Model;
use loadscope_model::code::can_have_code;
use loadscope_model::command::{Action, Command};
use loadscope_model::message::Message;
use loadscope_model::prefs::Splits;
use loadscope_model::state::State;
use loadscope_model::view::{LowerPanel, Workspace};
use loadscope_ui::panels::batches::BatchTable;
use loadscope_ui::panels::code::CodePanel;
use loadscope_ui::panels::loaders::LoadersView;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::panels::{
    diagnose, file_drop, glossary, help, learn, mark, messages, notices, options, palette, runs,
    search, status, toolbar, transport, watch_dialog, welcome,
};
use loadscope_ui::pipeline::PipelineView;
use loadscope_ui::theme::Palette;
use loadscope_ui::timeline::Timeline;
use loadscope_words::say;

use crate::side_panels::side_panels;
use crate::{Window, side_panels};

/// Views below the pipeline.
struct LowerViews<'a> {
    timeline: &'a mut Timeline,
    batches: &'a mut BatchTable,
    plots: &'a mut Plots,
    loaders: &'a mut LoadersView,
    code: &'a mut CodePanel,
}

/// Returns a frame with this background and margins.
pub(crate) fn framed(ground: Color32, x: i8, y: i8) -> Frame {
    Frame::NONE
        .fill(ground)
        .inner_margin(Margin::symmetric(x, y))
}

impl Window {
    /// Stores the width of the window. Returns true if it was as narrow as a phone before.
    fn was_phone(&mut self, width: f32) -> bool {
        std::mem::replace(&mut self.is_phone, side_panels::is_phone(width))
    }

    /// Draws the window and returns the requested commands.
    pub(crate) fn show(&mut self, ui: &mut Ui, model: &mut Model) -> Vec<Command> {
        let state: &State = model;
        learn::begin_frame(ui.ctx(), state);
        let was_phone = self.was_phone(ui.content_rect().width());
        if state.presents() {
            return self.present(ui, state);
        }
        let ground = Palette::of(ui).panel;
        let frame = |x, y| framed(ground, x, y);
        let verdict = self.verdict.headline();
        let mut commands = Self::bars(ui, state, verdict);
        let player = Self::player(ui, state, &mut commands);
        let splits = state.prefs.splits;
        let mut sizes = self.sizes;
        let (shows_options, shows_inspector) = match state.learn.shows_contents()
            || learn::hides_sides(state, ui.content_rect().size())
        {
            true => (false, false),
            false => side_panels::visible(state, ui.content_rect().width()),
        };
        if self.is_phone && !was_phone && shows_options {
            commands.push(Action::ToggleOptions.into());
        }
        let (options_side, inspector_side) = side_panels(&splits, ui.content_rect().width());
        let (mut options_open, mut inspector_open) = (shows_options, shows_inspector);
        Panel::left(options_side.id)
            .frame(frame(12, 0))
            .default_size(options_side.width)
            .size_range(220.0..=420.0)
            .show_collapsible(ui, &mut options_open, |ui| {
                sizes.options = ui.max_rect().width() + 24.0;
                mark(ui, Part::Options, ui.max_rect().expand2([8.0, 0.0].into()));
                commands.extend(options::show(ui, state));
            });
        if state.has_run() {
            Panel::right(inspector_side.id)
                .frame(frame(12, 8))
                .default_size(inspector_side.width)
                .size_range(240.0..=640.0)
                .show_collapsible(ui, &mut inspector_open, |ui| {
                    sizes.inspector = ui.max_rect().width() + 24.0;
                    mark(ui, Part::Inspector, ui.max_rect().expand(4.0));
                    commands.extend(self.inspector.show(ui, state));
                });
        }
        let is_toggled = options_open != shows_options;
        commands.extend(is_toggled.then(|| Action::ToggleOptions.into()));
        let is_toggled = inspector_open != shows_inspector;
        commands.extend(is_toggled.then(|| Action::ToggleInspector.into()));
        // Without a run, the workspace shows the sample order of the next run's options.
        let is_loading = state.is_reading();
        let middle = CentralPanel::default().frame(frame(0, 0)).show(ui, |ui| {
            if state.learn.shows_contents() {
                commands.extend(learn::contents(ui, state));
            } else if state.prefs.workspace == Workspace::Sampling && !is_loading {
                commands.extend(self.sampling.show(ui, state));
            } else if state.prefs.workspace == Workspace::Diagnose && !is_loading {
                commands.extend(diagnose::show(ui, state));
            } else if state.has_run() && (!is_loading || state.prefs.workspace == Workspace::Debug)
            {
                Self::verdict(ui, state, verdict, &mut commands);
                commands.extend(Self::debug(
                    ui,
                    state,
                    &mut sizes,
                    &mut self.pipeline,
                    &mut LowerViews {
                        timeline: &mut self.timeline,
                        batches: &mut self.batches,
                        plots: &mut self.plots,
                        loaders: &mut self.loaders,
                        code: &mut self.code,
                    },
                ));
            } else {
                commands.extend(welcome::show(ui, state));
            }
        });
        Self::overlays(ui, state, middle.response.rect, player, &mut commands);
        self.remember_sizes(ui, model, sizes);
        commands
    }

    /// Draws the verdict above the pipeline, unless a lesson hides it.
    fn verdict(
        ui: &mut Ui,
        state: &State,
        verdict: Option<&Headline>,
        commands: &mut Vec<Command>,
    ) {
        let hides = state.learn.hides_verdict();
        // A recording without batches shows its other data instead.
        if state.has_only_gauges() || (hides && state.learn.detecting().is_some()) {
            return;
        }
        let ground = Palette::of(ui).panel;
        let shown =
            Panel::top("headline")
                .frame(framed(ground, 12, 4))
                .show(ui, |ui| match hides {
                    _ if state.is_reading() => commands.extend(welcome::reading(ui, state)),
                    true => toolbar::hidden_headline(ui),
                    false => commands.extend(toolbar::headline(ui, verdict)),
                });
        if !hides {
            mark(ui, Part::Verdict, shown.response.rect);
        }
    }

    /// Draws the overlays. `middle` is the area between the side panels.
    pub(crate) fn overlays(
        ui: &mut Ui,
        state: &State,
        middle: Rect,
        player: Option<Rect>,
        commands: &mut Vec<Command>,
    ) {
        commands.extend(learn::highlight(ui, state, player));
        commands.extend(help::show(ui, state));
        commands.extend(glossary::show(ui, state));
        commands.extend(watch_dialog::show(ui, state));
        commands.extend(messages::show(ui, state));
        commands.extend(search::show(ui, state, middle));
        commands.extend(notices::show(ui, state));
        commands.extend(palette::show(ui, state));
        file_drop::show(ui);
    }

    /// Draws the bars at the top and at the bottom.
    fn bars(ui: &mut Ui, state: &State, verdict: Option<&Headline>) -> Vec<Command> {
        let ground = Palette::of(ui).panel;
        let mut commands = Vec::new();
        Panel::top("toolbar")
            .frame(framed(ground, 8, 4))
            .show(ui, |ui| commands.extend(toolbar::show(ui, state)));
        Panel::bottom("status")
            .frame(framed(ground, 12, 4))
            .exact_size(notices::STATUS)
            .show(ui, |ui| commands.extend(status::show(ui, state)));
        if runs::has_any(state) {
            Panel::bottom("runs")
                .frame(framed(ground, 8, 0))
                .exact_size(runs::HEIGHT)
                .show(ui, |ui| commands.extend(runs::show(ui, state, verdict)));
        }
        commands
    }

    /// Draws the lesson player above the status line, if a lesson is open. Returns its area.
    pub(crate) fn player(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) -> Option<Rect> {
        let height = learn::height(state, ui.content_rect().size())?;
        let panel = Panel::bottom("lesson")
            .frame(framed(Palette::of(ui).panel, 16, 8))
            .exact_size(height);
        let shown = panel.show(ui, |ui| commands.extend(learn::player(ui, state)));
        Some(shown.response.rect)
    }

    /// Stores sizes that the user dragged. All other sizes follow the window.
    fn remember_sizes(&mut self, ui: &Ui, model: &mut Model, sizes: Splits) {
        let before = std::mem::replace(&mut self.sizes, sizes);
        if !ui.input(|i| i.pointer.primary_down()) {
            return;
        }
        let mut splits = model.prefs.splits;
        // Only one edge is dragged at a time. Other changes are consequences.
        let dragged = [
            (&mut splits.options, before.options, sizes.options),
            (&mut splits.inspector, before.inspector, sizes.inspector),
            (&mut splits.pipeline, before.pipeline, sizes.pipeline),
        ]
        .into_iter()
        .find(|(_, before, now)| *before > 0.0 && before != now);
        if let Some((split, _, now)) = dragged {
            *split = now;
            let _ = model.apply(Message::Splits(splits));
        }
    }

    /// Draws the Debug workspace below the verdict: the pipeline, and the timeline or another view below it.
    fn debug(
        ui: &mut Ui,
        state: &State,
        sizes: &mut Splits,
        pipeline: &mut PipelineView,
        below: &mut LowerViews<'_>,
    ) -> Vec<Command> {
        let mut commands = Vec::new();
        let palette = Palette::of(ui);
        let frame = Frame::NONE
            .fill(palette.panel)
            .inner_margin(Margin::symmetric(12, 4));
        if state.has_only_gauges() && !state.session.source.is_live() {
            Panel::top("what is known")
                .frame(frame)
                .show(ui, |ui| welcome::only_gauges(ui, state));
            CentralPanel::default()
                .frame(Frame::NONE.fill(palette.canvas))
                .show(ui, |ui| commands.extend(below.timeline.show(ui, state)));
            return commands;
        }
        if state.session.run.whole().transitions().is_empty() {
            CentralPanel::default()
                .frame(Frame::NONE.fill(palette.canvas))
                .show(ui, |ui| welcome::nothing_yet(ui, state));
            return commands;
        }
        let height = ui.available_height();
        // A narrow pipeline needs less height, which the timeline can use.
        let tallest = (ui.available_width() * 0.46)
            .max(220.0)
            .min(height - 140.0)
            .max(161.0);
        // The height follows the window until the user drags the edge.
        let id = match state.prefs.splits.pipeline > 0.0 {
            true => "pipeline".to_owned(),
            false => format!("pipeline {height:.0}"),
        };
        Panel::top(id)
            .frame(Frame::NONE.fill(palette.canvas))
            .resizable(true)
            .default_size(stored_or(
                state.prefs.splits.pipeline,
                (height * 0.42).clamp(200.0, 400.0),
            ))
            .size_range(160.0..=tallest)
            .show(ui, |ui| {
                sizes.pipeline = ui.max_rect().height();
                commands.extend(pipeline.show(ui, state));
            });
        Panel::top("lower tabs")
            .frame(frame)
            .show(ui, |ui| commands.extend(toolbar::lower_tabs(ui, state)));
        CentralPanel::default()
            .frame(Frame::NONE.fill(palette.canvas))
            .show(ui, |ui| {
                let part = match state.look.lower {
                    LowerPanel::Batches => Part::Batches,
                    LowerPanel::Plots => Part::Plots,
                    LowerPanel::Timeline | LowerPanel::Loaders | LowerPanel::Code => Part::Timeline,
                };
                mark(ui, part, ui.max_rect());
                commands.extend(match state.look.lower {
                    LowerPanel::Batches => below.batches.show(ui, state),
                    LowerPanel::Plots => below.plots.show(ui, state),
                    LowerPanel::Loaders if state.session.loaders.are_many() => {
                        below.loaders.show(ui, state)
                    }
                    LowerPanel::Code if can_have_code(state) => below.code.show(ui, state),
                    LowerPanel::Timeline | LowerPanel::Loaders | LowerPanel::Code => {
                        below.timeline.show(ui, state)
                    }
                });
            });
        commands
    }
}

/// Returns the stored size, or the default if there is none.
fn stored_or(stored: f32, default: f32) -> f32 {
    if stored > 0.0 { stored } else { default }
}

/// Width of a presented window, points, at any resolution.
const ACROSS: f32 = 1_150.0;

/// Maximum zoom factor.
const LARGEST: f32 = 3.0;

/// Sets the zoom factor of the user, or that of a presentation.
pub(crate) fn zoom(ctx: &Context, state: &State) {
    let now = ctx.zoom_factor();
    let across = ctx.content_rect().width() * now;
    let asked = match state.prefs.zoom {
        zoom if zoom.is_finite() => zoom.clamp(0.5, LARGEST),
        _ => 1.0,
    };
    let wanted = match state.presents() {
        true => (across / ACROSS).clamp(1.0, LARGEST).max(asked),
        false => asked,
    };
    if (now - wanted).abs() > 0.01 {
        ctx.set_zoom_factor(wanted);
    }
}

impl Window {
    /// Draws the window in presentation mode.
    pub(crate) fn present(&mut self, ui: &mut Ui, state: &State) -> Vec<Command> {
        let mut commands = Vec::new();
        let palette = Palette::of(ui);
        let player = Self::player(ui, state, &mut commands);
        Panel::bottom("presentation")
            .frame(framed(palette.panel, 8, 4))
            .show(ui, |ui| {
                ui.horizontal(|ui| {
                    transport::show(ui, state, &mut commands);
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        let keys = Action::Present.info().keys(ui.ctx());
                        let leave = ui.add(Button::new(say!("End presentation ({keys})")));
                        commands.extend(leave.clicked().then_some(Action::Present.into()));
                    });
                });
            });
        let middle = CentralPanel::default()
            .frame(framed(palette.canvas, 0, 0))
            .show(ui, |ui| {
                commands.extend(self.pipeline.show(ui, state));
            });
        Self::overlays(ui, state, middle.response.rect, player, &mut commands);
        commands
    }
}
