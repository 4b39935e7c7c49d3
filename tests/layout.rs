//! Tests that no text is truncated or overlaps another text, in any state and size.

use eframe::egui::{Theme, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Lane, Nanos};

use crate::fixture::{Window, control_recording, failed_sequence, run, write_log};
use crate::texts::{cut, overlapping};

const SIZES: [Vec2; 4] = [
    Vec2::new(760.0, 480.0),
    Vec2::new(1100.0, 700.0),
    Vec2::new(1920.0, 1080.0),
    Vec2::new(2560.0, 1440.0),
];

/// Environment variable with a folder for screenshots of every state, size and theme.
const LOOK: &str = "LOADSCOPE_LOOK";

/// Returns the themes to test. The layout is the same in both, but screenshots differ.
fn themes() -> &'static [Theme] {
    match std::env::var_os(LOOK) {
        Some(_) => &[Theme::Dark, Theme::Light],
        None => &[Theme::Light],
    }
}

/// Returns every size, in these themes.
fn settings() -> impl Iterator<Item = (Vec2, Theme)> {
    let of = |size| themes().iter().map(move |theme| (size, *theme));
    SIZES.into_iter().flat_map(of)
}

/// Saves a screenshot if requested.
fn keep(state: &str, window: &mut Harness<'static, App>) {
    let Some(folder) = std::env::var_os(LOOK) else {
        return;
    };
    let size = window.ctx.content_rect().size();
    let theme = match window.ctx.theme() {
        Theme::Dark => "dark",
        Theme::Light => "light",
    };
    let name: String = state
        .chars()
        .map(|c| if c.is_alphanumeric() { c } else { '-' })
        .collect();
    let name = format!("{name}_{}_{theme}.png", size.x);
    let picture = window.render().expect("a picture");
    let path = std::path::Path::new(&folder).join(name);
    picture.save(path).expect("a folder that can be written to");
}

/// Layout faults of some states.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn look(&mut self, state: &str, window: &mut Harness<'static, App>) {
        let size = window.ctx.content_rect().size();
        keep(state, window);
        let of = |what: String| format!("{state}, {}×{}: {what}", size.x, size.y);
        let cut = cut(window)
            .into_iter()
            .map(|text| of(format!("{text:?} is cut off")));
        self.0.extend(cut);
        let pairs = overlapping(window).into_iter();
        let pairs = pairs.map(|(a, b)| of(format!("{b:?} is written over {a:?}")));
        self.0.extend(pairs);
    }

    /// Checks that a sheet higher than the window still shows its first and last line.
    fn is_in_sight(&mut self, text: &str, window: &Harness<'static, App>) {
        let screen = window.ctx.content_rect();
        let found = window.query_all_by_label_contains(text);
        if !found
            .map(|node| node.rect())
            .any(|rect| screen.contains_rect(rect))
        {
            self.0.push(format!("{text:?} is outside of {screen:?}"));
        }
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

#[test]
fn the_start_page_fits_every_window_size() {
    let mut faults = Faults::default();
    for (size, theme) in settings() {
        let mut window = Window {
            size,
            theme,
            ..Window::new()
        };
        window.prefs.recent = vec!["/data/runs/monday.jsonl.zst".into()];
        faults.look("start", &mut window.open());
    }
    faults.none();
}

#[test]
fn every_workspace_fits_every_window_size() {
    let mut faults = Faults::default();
    for (size, theme) in settings() {
        let (_dir, path) = control_recording();
        let mut window = Window {
            size,
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        run(
            &mut window,
            Command::Cursor(Cursor::At(Nanos::from_millis(480))),
        );
        for item in [
            Item::Batch(3),
            Item::Lane(Lane::Worker(1)),
            Item::Lane(Lane::Main),
        ] {
            run(&mut window, Command::Select(Some(item)));
            faults.look(&format!("{item:?}"), &mut window);
        }
        run(&mut window, Action::Search);
        run(&mut window, Command::Search("worker 1".to_owned()));
        faults.look("search", &mut window);
        run(&mut window, Action::Escape);
        run(&mut window, Action::HideFuture);
        faults.look("hidden future", &mut window);
        run(&mut window, Action::HideFuture);
        for action in [
            Action::ShowBatches,
            Action::ShowPlots,
            Action::ShowLoaders,
            Action::ShowSampling,
            Action::ShowDiagnose,
        ] {
            run(&mut window, action);
            window.run_steps(4);
            faults.look(&format!("{action:?}"), &mut window);
        }
    }
    faults.none();
}

#[test]
fn dialogs_and_overlays_fit_every_window_size() {
    let mut faults = Faults::default();
    for (size, theme) in settings() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("failed.jsonl.zst");
        write_log(&path, &failed_sequence());
        let mut window = Window {
            size,
            theme,
            files: vec![path],
            ..Window::new()
        }
        .open();
        faults.look("a run that failed", &mut window);
        for action in [
            Action::ShowMessages,
            Action::Help,
            Action::Palette,
            Action::Glossary,
        ] {
            run(&mut window, action);
            faults.look(&format!("{action:?}"), &mut window);
            if action == Action::Help {
                faults.is_in_sight("On the timeline: Ctrl+wheel", &window);
                faults.is_in_sight("Keys", &window);
            }
            run(&mut window, Action::Escape);
        }
        run(&mut window, Action::WatchProgram);
        faults.look("watch sheet", &mut window);
        run(&mut window, Action::Escape);
        run(&mut window, Action::Present);
        faults.look("presentation", &mut window);
    }
    faults.none();
}
