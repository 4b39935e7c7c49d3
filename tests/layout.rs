//! Nothing is cut off and nothing is written over something else, in any state and at any size.

use eframe::egui::{Theme, Vec2};
use egui_kittest::Harness;
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{Lane, Nanos};

use crate::fixture::{Window, control_recording, failed_sequence, write_log};
use crate::texts::{cut, overlapping};

const SIZES: [Vec2; 4] = [
    Vec2::new(760.0, 480.0),
    Vec2::new(1100.0, 700.0),
    Vec2::new(1920.0, 1080.0),
    Vec2::new(2560.0, 1440.0),
];

/// What is wrong with the layout of some states.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn look(&mut self, state: &str, window: &Harness<'static, App>) {
        let size = window.ctx.content_rect().size();
        let of = |what: String| format!("{state}, {}×{}: {what}", size.x, size.y);
        let cut = cut(window)
            .into_iter()
            .map(|text| of(format!("{text:?} is cut off")));
        self.0.extend(cut);
        let pairs = overlapping(window).into_iter();
        let pairs = pairs.map(|(a, b)| of(format!("{b:?} is written over {a:?}")));
        self.0.extend(pairs);
    }

    fn none(self) {
        assert!(self.0.is_empty(), "{}", self.0.join("\n"));
    }
}

fn act(window: &mut Harness<'static, App>, command: impl Into<Command>) {
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, command.into());
    window.run();
}

#[test]
fn the_start_page_fits() {
    let mut faults = Faults::default();
    for size in SIZES {
        let mut window = Window {
            size,
            theme: Theme::Light,
            ..Window::new()
        };
        window.prefs.recent = vec!["/data/runs/monday.jsonl.zst".into()];
        faults.look("start", &window.open());
    }
    faults.none();
}

#[test]
fn every_workspace_fits() {
    let mut faults = Faults::default();
    for size in SIZES {
        let (_dir, path) = control_recording();
        let mut window = Window {
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        act(
            &mut window,
            Command::Cursor(Cursor::At(Nanos::from_millis(480))),
        );
        for item in [
            Item::Batch(3),
            Item::Lane(Lane::Worker(1)),
            Item::Lane(Lane::Main),
        ] {
            act(&mut window, Command::Select(Some(item)));
            faults.look(&format!("{item:?}"), &window);
        }
        for action in [
            Action::ShowBatches,
            Action::ShowPlots,
            Action::ShowLoaders,
            Action::ShowSampling,
            Action::ShowDiagnose,
        ] {
            act(&mut window, action);
            window.run_steps(4);
            faults.look(&format!("{action:?}"), &window);
        }
    }
    faults.none();
}

#[test]
fn what_lies_over_the_window_fits() {
    let mut faults = Faults::default();
    for size in SIZES {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let path = dir.path().join("failed.jsonl.zst");
        write_log(&path, &failed_sequence());
        let mut window = Window {
            size,
            files: vec![path],
            ..Window::new()
        }
        .open();
        faults.look("a run that failed", &window);
        for action in [Action::ShowMessages, Action::Help, Action::Palette] {
            act(&mut window, action);
            faults.look(&format!("{action:?}"), &window);
            act(&mut window, Action::Escape);
        }
    }
    faults.none();
}
