//! Window that contains only a timeline, with simulated pointer input.

use eframe::egui::{self, Modifiers, MouseWheelUnit, PointerButton, Pos2, Theme, Vec2, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::Command;
use loadscope_model::state::{Source, State};
use loadscope_trace::Nanos;
use loadscope_ui::theme;
use loadscope_ui::timeline::Timeline;

use super::fixture::Loader;

/// Window that contains only a timeline, and the commands it has issued.
#[derive(Default)]
pub struct Window {
    pub timeline: Timeline,
    pub state: State,
    pub asked: Vec<Command>,
}

impl Window {
    pub fn new(loader: &Loader) -> Self {
        let mut window = Self::default();
        window.state.session.run = loader.run(None);
        window.state.session.source = Source::Finished;
        window.state.look.still = true;
        window
    }

    fn show(&mut self, ui: &mut egui::Ui) {
        self.state.session.hovered = self.state.session.hovering.take();
        let commands = self.timeline.show(ui, &self.state);
        for command in &commands {
            match command {
                Command::View(view) => self.state.session.view = *view,
                Command::Cursor(cursor) => self.state.session.cursor = *cursor,
                Command::Select(item) => self.state.session.selection = *item,
                Command::EditMarker(mark) => self.state.session.markers.apply(mark.clone()),
                Command::Fold(group) => {
                    if !self.state.look.folded.remove(group) {
                        self.state.look.folded.insert(*group);
                    }
                }
                Command::Hover(item) => self.state.session.hovering = *item,
                other => panic!("not a timeline's business: {other:?}"),
            }
        }
        self.asked.extend(commands);
    }
}

pub fn open(window: Window, size: Vec2, theme: Theme) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_pixels_per_point(1.0)
        .with_theme(theme)
        .with_context_setup(theme::install)
        .wgpu()
        .build_ui_state(
            |ui, window: &mut Window| {
                egui::CentralPanel::default()
                    .frame(egui::Frame::NONE)
                    .show(ui, |ui| window.show(ui));
            },
            window,
        );
    harness.run();
    harness
}

pub fn small(window: Window) -> Harness<'static, Window> {
    open(window, vec2(1100.0, 500.0), Theme::Dark)
}

pub fn press(harness: &mut Harness<'_, Window>, at: Pos2, button: PointerButton, pressed: bool) {
    harness.event(egui::Event::PointerMoved(at));
    harness.event(egui::Event::PointerButton {
        pos: at,
        button,
        pressed,
        modifiers: Modifiers::NONE,
    });
    harness.step();
}

pub fn drag(harness: &mut Harness<'_, Window>, from: Pos2, to: Pos2, button: PointerButton) {
    press(harness, from, button, true);
    for share in [0.3, 0.6, 1.0] {
        harness.event(egui::Event::PointerMoved(from.lerp(to, share)));
        harness.step();
    }
    press(harness, to, button, false);
    harness.run();
}

pub fn click(harness: &mut Harness<'_, Window>, at: Pos2) {
    press(harness, at, PointerButton::Primary, true);
    press(harness, at, PointerButton::Primary, false);
    harness.run();
}

pub fn wheel(harness: &mut Harness<'_, Window>, at: Pos2, lines: Vec2, modifiers: Modifiers) {
    harness.event(egui::Event::PointerMoved(at));
    harness.event_modifiers(
        egui::Event::MouseWheel {
            unit: MouseWheelUnit::Line,
            delta: lines,
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers,
        },
        modifiers,
    );
    // Egui spreads a notch over several frames.
    harness.run_steps(30);
}

/// Returns a point in the middle of a lane, at a time.
pub fn place(harness: &Harness<'_, Window>, lane: &str, ms: i64) -> Pos2 {
    let y = harness.get_by_label(&format!("{lane} lane")).rect();
    let ruler = harness.get_by_label("Time ruler").rect();
    let view = harness.state().state.shown();
    let share = (Nanos::from_millis(ms) - view.start).0 as f64 / view.len().0 as f64;
    pos2(
        ruler.left() + share as f32 * ruler.width(),
        y.top() + y.height().min(24.0) / 2.0,
    )
}

pub fn row(harness: &Harness<'_, Window>, idx: u32) -> usize {
    let run = &harness.state().state.session.run;
    run.row(loadscope_trace::BatchId { epoch: 0, idx })
        .expect("it was dispatched")
}
