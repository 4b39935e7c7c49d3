//! Transport: run, pause, step, jump and play.

use egui::{
    self, Button, Color32, Popup, RichText, Role, Sense, StrokeKind, Ui, WidgetInfo, pos2, vec2,
};

use crate::kit::action;
use crate::kit::action::tooltip_with_obstacle;
use crate::kit::icons::{Icon, draw};
use crate::panels::menus;
use crate::theme::{Palette, mono, size};
use loadscope_insight::landmarks::Goal;
use loadscope_model::command::{Action, Command};
use loadscope_model::state::{Source, State};
use loadscope_model::update::{SPEEDS, obstacle};
use loadscope_model::view::Cursor;
use loadscope_trace::Nanos;
use loadscope_words::say;

/// Minimum window width for the Simulate button, points. In narrower windows, it is in the menu *Other ways to run*.
const SIMULATE: f32 = 1300.0;
// In narrower windows, the controls of the next three constants are in the overflow menu.
/// Minimum window width for the jump buttons and *Hide future*, points.
const JUMP: f32 = 1096.0;
/// Minimum window width for the speed and the live position, points.
const SPEED: f32 = 1010.0;
/// Minimum window width for the buttons of the previous and the next batch, points.
const BATCHES: f32 = 800.0;
/// Minimum window width for the button of all actions, points.
pub(super) const ACTIONS: f32 = 1180.0;

/// Shows the transport.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    use Action as A;
    let width = ui.content_rect().width();
    let playing = match &state.session.source {
        Source::Live { paused } => {
            button(
                ui,
                state,
                A::Stop,
                Icon::Stop,
                say!("Stop"),
                false,
                commands,
            );
            !paused
        }
        _ if state.place.in_page => {
            // A web page cannot run a loader, so the simulation button is always visible.
            action::button(ui, state, A::Simulate, false, commands);
            state.session.playing
        }
        _ => {
            let between = std::mem::replace(&mut ui.spacing_mut().item_spacing.x, 2.0);
            button(ui, state, A::Run, Icon::Play, say!("Run"), false, commands);
            pace(ui, state, commands);
            ui.spacing_mut().item_spacing.x = between;
            state.session.playing
        }
    };
    if width >= SIMULATE && !state.session.source.is_live() && !state.place.in_page {
        action::button(ui, state, A::Simulate, false, commands);
    }
    if !state.has_run() {
        more(ui, state, width, commands);
        return;
    }
    ui.separator();
    ui.spacing_mut().item_spacing.x = 2.0;
    let mut icon = |ui: &mut Ui, action, icon| button(ui, state, action, icon, "", false, commands);
    if width >= BATCHES {
        icon(ui, A::PreviousBatch, Icon::BatchBack);
    }
    icon(ui, A::StepBack, Icon::StepBack);
    let play = if playing { Icon::Pause } else { Icon::Play };
    icon(ui, A::PauseResume, play);
    icon(ui, A::StepForward, Icon::StepForward);
    if width >= BATCHES {
        icon(ui, A::NextBatch, Icon::BatchForward);
    }
    if width >= SPEED {
        if !state.session.source.is_live() {
            speed(ui, state, commands);
        }
        ui.separator();
        if width >= JUMP {
            jump(ui, state, commands);
        }
        ui.spacing_mut().item_spacing.x = 8.0;
        live_chip(ui, state, commands);
        if width >= JUMP {
            let hides = state.prefs.hides_future;
            button(ui, state, A::HideFuture, Icon::Future, "", hides, commands);
        }
    }
    more(ui, state, width, commands);
}

/// Shows the menu of other ways to run: paused, slowly or simulated.
fn pace(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let name = say!("Other ways to run");
    let (rect, response) = ui.allocate_exact_size(vec2(18.0, 24.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let visuals = ui.style().interact(&response);
    let (fill, ink) = (visuals.weak_bg_fill, visuals.fg_stroke.color);
    ui.painter().rect_filled(rect, 4.0, fill);
    draw(ui.painter(), rect.center(), Icon::Down, ink);
    Popup::menu(&response).show(|ui| {
        ui.set_min_width(260.0);
        for action in [Action::RunPaused, Action::RunSlowly, Action::Simulate] {
            menus::entry(ui, state, action, commands);
        }
    });
    response.on_hover_text(say!(
        "Other ways to run: paused before the first batch, at 1/10 speed, simulated"
    ));
    ui.spacing_mut().item_spacing.x = 8.0;
}

/// Returns the actions that do not fit into the window.
fn hidden(state: &State, width: f32) -> Vec<Action> {
    use Action as A;
    let mut all = Vec::new();
    if width < JUMP && state.has_run() {
        let (previous, next) = actions(state.look.goal);
        all.extend([previous, next, A::HideFuture]);
    }
    if width < SPEED && state.has_run() {
        all.extend([A::Slower, A::Faster, A::FollowLive]);
    }
    if width < BATCHES && state.has_run() && state.look.goal != Goal::Batch {
        all.extend([A::PreviousBatch, A::NextBatch]);
    }
    if width < ACTIONS {
        all.push(A::Palette);
    }
    all
}

/// Shows the overflow menu of the toolbar.
fn more(ui: &mut Ui, state: &State, width: f32, commands: &mut Vec<Command>) {
    let hidden = hidden(state, width);
    if hidden.is_empty() {
        return;
    }
    let response = ui.menu_button("»", |ui| {
        ui.set_min_width(220.0);
        for action in hidden {
            menus::entry(ui, state, action, commands);
        }
    });
    let response = response.response;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, say!("More tools")));
    response.on_hover_text(say!("Tools that do not fit into the window"));
}

/// Shows a button with an icon and optional text. `on` highlights it.
pub fn button(
    ui: &mut Ui,
    state: &State,
    action: Action,
    icon: Icon,
    text: &str,
    on: bool,
    commands: &mut Vec<Command>,
) {
    let why_not = obstacle(state, action);
    let response = icon_button(ui, why_not.is_none(), icon, text, on, action.info().name);
    let tip = tooltip_with_obstacle(ui, state, action);
    if response.on_hover_text(tip).clicked() && why_not.is_none() {
        commands.push(action.into());
    }
}

/// Shows a button with an icon, without an action's tooltip.
pub fn icon_button(
    ui: &mut Ui,
    possible: bool,
    icon: Icon,
    text: &str,
    on: bool,
    name: &str,
) -> egui::Response {
    let palette = Palette::of(ui);
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = (!text.is_empty()).then(|| {
        ui.painter()
            .layout_no_wrap(text.to_owned(), font, palette.text)
    });
    let width = galley.as_ref().map_or(28.0, |g| g.size().x + 36.0);
    let sense = if possible {
        Sense::click()
    } else {
        Sense::hover()
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), sense);
    response.widget_info(|| WidgetInfo::selected(Role::Button, possible, on, name));
    let visuals = ui.style().interact_selectable(&response, on);
    let color: Color32 = if possible {
        visuals.fg_stroke.color
    } else {
        palette.line
    };
    let shown = response.hovered() || response.has_focus() || galley.is_some() || on;
    if possible && shown {
        let (fill, stroke) = (visuals.weak_bg_fill, visuals.bg_stroke);
        ui.painter()
            .rect(rect, 4.0, fill, stroke, StrokeKind::Inside);
    }
    let centre = match &galley {
        Some(_) => pos2(rect.left() + 14.0, rect.center().y),
        None => rect.center(),
    };
    draw(ui.painter(), centre, icon, color);
    if let Some(galley) = galley {
        let at = pos2(rect.left() + 26.0, rect.center().y - galley.size().y / 2.0);
        ui.painter()
            .galley_with_override_text_color(at, galley, color);
    }
    response
}

/// Shows the jump buttons, with a menu of their target.
fn jump(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let (previous, next) = actions(state.look.goal);
    button(ui, state, previous, Icon::JumpBack, "", false, commands);
    let response = ui.menu_button(state.look.goal.label(), |ui| {
        for goal in Goal::ALL {
            let (previous, next) = actions(goal);
            let keys = |action: Action| action.info().keys(ui.ctx());
            let keys = format!("{}  {}", keys(previous), keys(next));
            let entry = Button::new(goal.label())
                .selected(goal == state.look.goal)
                .shortcut_text(keys);
            let entry = ui.add(entry);
            let here = goal == state.look.goal;
            entry.widget_info(|| WidgetInfo::selected(Role::Button, true, here, goal.label()));
            if entry.clicked() {
                commands.push(Command::Goal(goal));
                ui.close();
            }
        }
    });
    let name = say!("Jump to: {}", state.look.goal.label());
    let response = response.response;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    response.on_hover_text(say!("Jump target of the previous and next buttons"));
    button(ui, state, next, Icon::JumpForward, "", false, commands);
}

/// Returns the actions for the previous and the next target.
fn actions(goal: Goal) -> (Action, Action) {
    use Action as A;
    match goal {
        Goal::Batch => (A::PreviousBatch, A::NextBatch),
        Goal::Stall => (A::PreviousStall, A::NextStall),
        Goal::OutOfOrder => (A::PreviousOutOfOrder, A::NextOutOfOrder),
        Goal::Trouble => (A::PreviousTrouble, A::NextTrouble),
        Goal::Marker => (A::PreviousMarker, A::NextMarker),
    }
}

fn speed(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let text = |speed: f64| RichText::new(format!("{speed}×")).font(mono(size::SMALL));
    let response = ui.menu_button(text(state.look.speed), |ui| {
        for speed in SPEEDS {
            let entry = Button::new(text(speed)).selected(state.look.speed == speed);
            if ui.add(entry).clicked() {
                commands.push(Command::Speed(speed));
                ui.close();
            }
        }
    });
    let keys = |action: Action| action.info().keys(ui.ctx());
    let tip = say!(
        "Playback speed\n{} slower, {} faster",
        keys(Action::Slower),
        keys(Action::Faster)
    );
    let response = response.response;
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, say!("Speed")));
    response.on_hover_text(tip);
}

/// Shows the button that returns to the live position.
fn live_chip(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let following = state.session.cursor == Cursor::Live && state.session.view.is_none();
    let (name, tooltip) = if state.session.source.is_live() {
        (say!("Live"), Action::FollowLive.info().tooltip)
    } else {
        (
            say!("End"),
            say!("Shows the whole run and the pipeline at its end"),
        )
    };
    let keys = Action::FollowLive.info().keys(ui.ctx());
    let response = match behind(state) {
        None => ui.add(Button::new(name).selected(following)),
        Some(by) => {
            // The color matches the frame around the pipeline, which marks a view of the past.
            let palette = Palette::of(ui);
            let whole = say!("{by} behind live · Back to live ({keys})");
            let text = match ui.content_rect().width() >= SIMULATE {
                true => whole.clone(),
                false => say!("{by} behind"),
            };
            let text = RichText::new(text).color(palette.text_on(palette.held));
            let response = ui.add(Button::new(text).fill(palette.held));
            response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &whole));
            response
        }
    };
    let tip = format!("{name}  {keys}\n{tooltip}");
    if response.on_hover_text(tip).clicked() {
        commands.push(Action::FollowLive.into());
    }
}

/// Returns the distance from the live position, if the user looks at the past of a running session.
fn behind(state: &State) -> Option<Nanos> {
    let session = &state.session;
    let in_past = session.source.is_live() && session.cursor != Cursor::Live;
    in_past.then(|| session.run.whole().end() - state.now())
}
