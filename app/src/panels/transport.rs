//! The transport: run, pause, step, play. Its signs are drawn, so that they look the same with every font.

use eframe::egui::{
    self, Button, Color32, Painter, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo, pos2, vec2,
};

use crate::command::{Action, Command};
use crate::state::{Source, State};
use crate::theme::{Palette, mono, size};
use crate::update::is_possible;
use crate::view::Cursor;

/// A sign on a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Play,
    Pause,
    Stop,
    StepBack,
    StepForward,
    StallBack,
    StallForward,
}

/// Shows the transport.
pub fn show(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let mut button = |ui: &mut Ui, action: Action, sign: Sign, text: &str| {
        let possible = is_possible(state, action);
        let response = sign_button(ui, possible, sign, text, action.info().name);
        let info = action.info();
        let keys = info.keys(ui.ctx());
        let tip = format!("{}  {keys}\n{}", info.name, info.tooltip);
        if response.on_hover_text(tip).clicked() {
            commands.push(action.into());
        }
    };
    let playing = match &state.source {
        Source::Live { paused } => {
            button(ui, Action::Stop, Sign::Stop, "Stop");
            !paused
        }
        _ => {
            button(ui, Action::Run, Sign::Play, "Run");
            state.playing
        }
    };
    if !state.has_run() {
        return;
    }
    ui.separator();
    ui.spacing_mut().item_spacing.x = 2.0;
    button(ui, Action::PreviousStall, Sign::StallBack, "");
    button(ui, Action::StepBack, Sign::StepBack, "");
    let sign = if playing { Sign::Pause } else { Sign::Play };
    button(ui, Action::PauseResume, sign, "");
    button(ui, Action::StepForward, Sign::StepForward, "");
    button(ui, Action::NextStall, Sign::StallForward, "");
    ui.spacing_mut().item_spacing.x = 8.0;
    if !state.source.is_live() {
        speed(ui, state, commands);
    }
    live_chip(ui, state, commands);
}

fn sign_button(ui: &mut Ui, possible: bool, sign: Sign, text: &str, name: &str) -> egui::Response {
    let font = egui::TextStyle::Button.resolve(ui.style());
    let galley = (!text.is_empty()).then(|| {
        let colour = Palette::of(ui).text;
        ui.painter().layout_no_wrap(text.to_owned(), font, colour)
    });
    let width = galley.as_ref().map_or(28.0, |g| g.size().x + 36.0);
    let sense = if possible {
        Sense::click()
    } else {
        Sense::hover()
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), sense);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, possible, name));
    let visuals = ui.style().interact(&response);
    let colour = if possible {
        visuals.fg_stroke.color
    } else {
        Palette::of(ui).line
    };
    if possible && (response.hovered() || response.has_focus() || galley.is_some()) {
        let fill = visuals.weak_bg_fill;
        ui.painter()
            .rect(rect, 4.0, fill, visuals.bg_stroke, StrokeKind::Inside);
    }
    let centre = match &galley {
        Some(_) => pos2(rect.left() + 14.0, rect.center().y),
        None => rect.center(),
    };
    draw(
        ui.painter(),
        Rect::from_center_size(centre, vec2(10.0, 10.0)),
        sign,
        colour,
    );
    if let Some(galley) = galley {
        let at = pos2(rect.left() + 26.0, rect.center().y - galley.size().y / 2.0);
        ui.painter()
            .galley_with_override_text_color(at, galley, colour);
    }
    response
}

fn draw(painter: &Painter, rect: Rect, sign: Sign, colour: Color32) {
    let triangle = |tip: egui::Pos2, base: f32| {
        let points = vec![tip, pos2(base, rect.top()), pos2(base, rect.bottom())];
        painter.add(egui::Shape::convex_polygon(points, colour, Stroke::NONE));
    };
    let bar = |x: f32| {
        let bar = Rect::from_min_max(pos2(x, rect.top()), pos2(x + 2.0, rect.bottom()));
        painter.rect_filled(bar, 0.0, colour);
    };
    let (left, right, middle) = (rect.left(), rect.right(), rect.center().y);
    match sign {
        Sign::Play => triangle(pos2(right, middle), left + 1.0),
        Sign::Pause => {
            bar(left + 1.5);
            bar(right - 3.5);
        }
        Sign::Stop => {
            painter.rect_filled(rect.shrink(1.0), 1.0, colour);
        }
        Sign::StepForward => {
            bar(left);
            triangle(pos2(right, middle), left + 4.0);
        }
        Sign::StepBack => {
            bar(right - 2.0);
            triangle(pos2(left, middle), right - 4.0);
        }
        Sign::StallForward => {
            triangle(pos2(right - 2.0, middle), left);
            bar(right - 2.0);
        }
        Sign::StallBack => {
            triangle(pos2(left + 2.0, middle), right);
            bar(left);
        }
    }
}

fn speed(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let text = |speed: f64| RichText::new(format!("{speed}×")).font(mono(size::SMALL));
    let response = ui.menu_button(text(state.speed), |ui| {
        for speed in [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0] {
            let entry = Button::new(text(speed)).selected(state.speed == speed);
            if ui.add(entry).clicked() {
                commands.push(Command::Speed(speed));
                ui.close();
            }
        }
    });
    response
        .response
        .widget_info(|| WidgetInfo::labeled(Role::Button, true, "Speed"));
    response
        .response
        .on_hover_text("How fast the recording is played");
}

/// Brings one back to what happens now.
fn live_chip(ui: &mut Ui, state: &State, commands: &mut Vec<Command>) {
    let following = state.cursor == Cursor::Live && state.view.is_none();
    let (name, tooltip) = if state.source.is_live() {
        ("Live", Action::FollowLive.info().tooltip)
    } else {
        ("End", "Shows the whole run and the machine at its end")
    };
    let response = ui.add(Button::new(name).selected(following));
    if response.on_hover_text(tooltip).clicked() {
        commands.push(Action::FollowLive.into());
    }
}
