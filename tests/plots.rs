//! Tests of the plots alone: user input, and screenshots of full, empty and hovered plots.

use eframe::egui::{self, Modifiers, PointerButton, Pos2, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope_model::command::Command;
use loadscope_model::state::{Source, State};
use loadscope_model::view::{Cursor, Item, TimeView};
use loadscope_trace::Nanos;
use loadscope_ui::panels::plots::Plots;
use loadscope_ui::theme;

use crate::texts::Picture as _;
use crate::timeline::fixture::{CONTROL, LARGE, Loader, SMALL};

#[derive(Default)]
struct Window {
    plots: Plots,
    state: State,
}

impl Window {
    fn new(loader: &Loader) -> Self {
        let mut window = Self::default();
        window.state.session.run = loader.run(None);
        window.state.session.source = Source::Finished;
        window.state.look.still = true;
        window
    }

    fn show(&mut self, ui: &mut egui::Ui) {
        for command in self.plots.show(ui, &self.state) {
            match command {
                Command::Cursor(cursor) => self.state.session.cursor = cursor,
                Command::Select(item) => self.state.session.selection = item,
                other => panic!("not a plot's business: {other:?}"),
            }
        }
    }
}

fn open(window: Window, size: Vec2, theme: Theme) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(size)
        .with_pixels_per_point(1.0)
        .with_theme(theme)
        .with_context_setup(theme::install)
        .wgpu()
        .build_ui_state(
            |ui, window: &mut Window| {
                let palette = theme::Palette::of(ui);
                egui::CentralPanel::default()
                    .frame(egui::Frame::NONE.fill(palette.canvas))
                    .show(ui, |ui| window.show(ui));
            },
            window,
        );
    harness.run();
    harness
}

fn press(window: &mut Harness<'static, Window>, pos: Pos2, pressed: bool) {
    window.event(egui::Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    window.run();
}

fn drag(window: &mut Harness<'static, Window>, from: Pos2, to: Pos2) {
    window.hover_at(from);
    window.run();
    press(window, from, true);
    for k in 1..=4 {
        window.hover_at(from + (to - from) * (k as f32 / 4.0));
        window.run();
    }
    press(window, to, false);
}

#[test]
fn dragging_selects_a_range_and_clicking_sets_the_cursor() {
    let mut window = open(Window::new(&SMALL), vec2(1300.0, 700.0), Theme::Dark);
    let rect = window.get_by_label_contains("Throughput: ").rect();
    let at = |share: f32| rect.left_top() + rect.size() * vec2(share, 0.5);
    drag(&mut window, at(0.3), at(0.6));
    let Some(Item::Range(start, end)) = window.state().state.session.selection else {
        panic!("a range is selected");
    };
    let shown = window.state().state.shown();
    let share = (end - start).0 as f64 / shown.len().0 as f64;
    assert!(shown.start < start && end < shown.end);
    assert!((share - 0.3).abs() < 0.05, "{share}");
    let pos = at(0.5);
    window.hover_at(pos);
    window.run();
    press(&mut window, pos, true);
    press(&mut window, pos, false);
    let Cursor::At(now) = window.state().state.session.cursor else {
        panic!("the cursor is somewhere");
    };
    assert!(start < now && now < end);
}

#[test]
fn clicking_a_bar_selects_its_batches_in_turn() {
    let mut window = open(Window::new(&CONTROL), vec2(1300.0, 700.0), Theme::Dark);
    let rect = window.get_by_label_contains("Fetch time: ").rect();
    // All batches except batch 3 take 0.1 s. Their bar is at the left, and that of batch 3 at the right.
    let mut seen = Vec::new();
    for share in [0.25, 0.25, 0.90, 0.94, 0.97] {
        let pos = rect.left_top() + rect.size() * vec2(share, 0.6);
        window.hover_at(pos);
        window.run();
        press(&mut window, pos, true);
        press(&mut window, pos, false);
        seen.push(window.state().state.session.selection.and_then(Item::batch));
    }
    assert!(seen.contains(&Some(3)), "{seen:?}");
}

#[test]
fn plots_match_their_images() {
    let mut results = SnapshotResults::new();
    let part = |loader: &Loader| {
        let mut window = Window::new(loader);
        let end = window.state.session.run.end();
        let at = |share: f64| Nanos((end.0 as f64 * share) as i64);
        window.state.session.selection = Some(Item::Range(at(0.35), at(0.55)));
        window.state.session.cursor = Cursor::At(at(0.62));
        window
    };
    let mut zoomed = part(&LARGE);
    let end = zoomed.state.session.run.end();
    zoomed.state.session.view = Some(TimeView::new(
        Nanos(end.0 / 100 * 40),
        Nanos(end.0 / 100 * 70),
    ));
    for (window, theme, size, name) in [
        (
            part(&SMALL),
            Theme::Dark,
            vec2(1352.0, 620.0),
            "plots_range",
        ),
        (zoomed, Theme::Light, vec2(1352.0, 620.0), "plots_zoomed"),
        (
            Window::new(&LARGE),
            Theme::Dark,
            vec2(532.0, 900.0),
            "plots_narrow",
        ),
    ] {
        let mut window = open(window, size, theme);
        window.picture(name);
        results.extend_harness(&mut window);
    }
    let mut empty = Window::new(&CONTROL);
    empty.state.session.view = Some(TimeView::new(
        Nanos::from_millis(20_000),
        Nanos::from_millis(21_000),
    ));
    let mut window = open(empty, vec2(1000.0, 420.0), Theme::Dark);
    window.picture("plots_empty");
    results.extend_harness(&mut window);
}
