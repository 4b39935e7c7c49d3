//! Short films of the window, frame by frame. `cargo xtask film` runs these tests and converts the frames to animated images.

use std::env;
use std::path::PathBuf;

use eframe::egui::{Key, Theme, Vec2};
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::prefs::Motion;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::Nanos;

use crate::fixture::{Window, control_recording};

/// Environment variable with the folder of the frames.
const FOLDER: &str = "LOADSCOPE_FILM";
/// Frames per second.
const RATE: f64 = 12.0;

/// Film in progress.
struct Film {
    window: Harness<'static, App>,
    folder: PathBuf,
    frames: usize,
}

impl Film {
    /// Starts a film. Returns `None` if no folder was given.
    fn of(name: &str, files: Vec<PathBuf>) -> Option<Self> {
        let folder = PathBuf::from(env::var_os(FOLDER)?).join(name);
        std::fs::create_dir_all(&folder).expect("there is room");
        let mut window = Window {
            size: Vec2::new(1100.0, 700.0),
            theme: Theme::Dark,
            files,
            moves: true,
            ..Window::new()
        };
        window.prefs.motion = Motion::Full;
        // The pipeline gets all the space.
        window.prefs.options_open = false;
        window.prefs.inspector_open = name == "head-of-line";
        let mut window = window.open();
        window.set_size(Vec2::new(1100.0, 700.0));
        Some(Self {
            window,
            folder,
            frames: 0,
        })
    }

    fn act(&mut self, command: impl Into<Command>) {
        let ctx = self.window.ctx.clone();
        self.window.state_mut().run(&ctx, command.into());
        self.window.run_steps(1);
    }

    fn key(&mut self, key: Key) {
        self.window.key_press(key);
        self.window.run_steps(1);
    }

    /// Records this many seconds of the window's time.
    fn film(&mut self, seconds: f64) {
        for _ in 0..(seconds * RATE) as usize {
            let picture = self.window.render().expect("the window can be drawn");
            let path = self.folder.join(format!("{:04}.png", self.frames));
            picture.save(&path).expect("there is room");
            self.frames += 1;
            // Each film frame covers five steps of 1/60 s.
            for _ in 0..5 {
                self.window.run_steps(1);
            }
        }
    }

    fn end(mut self) {
        drop::<SnapshotResults>(self.window.take_snapshot_results());
    }
}

#[test]
#[ignore = "cargo xtask film makes the films"]
fn readme_films_are_drawn() {
    head_of_line_blocking();
    time_travel();
}

/// Films a slow batch that holds all batches that arrive before it.
fn head_of_line_blocking() {
    let (_dir, path) = control_recording();
    let Some(mut film) = Film::of("head-of-line", vec![path]) else {
        return;
    };
    film.act(Command::Select(Some(Item::Batch(3))));
    film.act(Command::Cursor(Cursor::At(Nanos::from_millis(250))));
    film.film(1.0);
    film.act(Command::Speed(0.1));
    film.act(Action::PauseResume);
    film.film(8.0);
    film.end();
}

/// Steps forward and backward.
fn time_travel() {
    let (_dir, path) = control_recording();
    let Some(mut film) = Film::of("time-travel", vec![path]) else {
        return;
    };
    film.act(Command::Cursor(Cursor::At(Nanos::from_millis(300))));
    film.film(1.0);
    for _ in 0..10 {
        film.key(Key::ArrowRight);
        film.film(0.5);
    }
    for _ in 0..6 {
        film.key(Key::ArrowLeft);
        film.film(0.4);
    }
    film.act(Action::NextStall);
    film.film(2.0);
    film.end();
}
