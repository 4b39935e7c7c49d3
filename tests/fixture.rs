//! Shared fixtures of the tests: recordings, a folder of photographs, a window.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use eframe::egui::{Theme, ThemePreference, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use image::{ImageReader, Rgb, RgbImage};
use loadscope::window::preview::LearnTarget;
use loadscope::window::{App, Start};
use loadscope_engine::simulate::{Simulation, Work};
use loadscope_model::command::Command;
use loadscope_model::prefs::{Prefs, demo};
use loadscope_model::state::Source;
use loadscope_model::view::Cursor;
use loadscope_session::Journal;
use loadscope_trace::{
    BatchContent, BatchId, Event, EventKind, Field, FieldData, Level, LogWriter, Message, Nanos,
    Pictures, RunId, RunInfo, RunOptions, Stage,
};
use tempfile::TempDir;

/// Returns a path in the repository.
pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns the control sequence: 12 samples of 0.1 s, of which sample 3 takes 0.6 s. Batch size 1, 3 workers, prefetch 2, a training step
/// of 0.02 s.
/// The sequence is simulated, so all runs are identical to the nanosecond.
pub fn control_sequence() -> Vec<Event> {
    let options = RunOptions {
        dataset: "synthetic:len=12,cost_ms=100,slow=3:600".to_owned(),
        batch_size: Some(1),
        num_workers: 3,
        step_ms: 20.0,
        ..RunOptions::default()
    };
    let info = RunInfo {
        origin: loadscope_trace::Origin::Simulation,
        dataset: "12 synthetic samples".to_owned(),
        dataset_len: Some(12),
        batches_per_epoch: Some(12),
        classes: (0..12).map(|c| format!("class {c}")).collect(),
        measured: Stage::ALL.to_vec(),
        world_size: 1,
        cores: 4,
        options,
        ..RunInfo::default()
    };
    let simulation = Simulation {
        info,
        work: Work::Batches((0..12).map(|i| vec![i]).collect()),
        collate: Nanos::from_millis(4),
        pin: None,
        step: Nanos::from_millis(20),
    };
    let cost = |i| Nanos::from_millis(if i == 3 { 600 } else { 100 });
    with_content(simulation.run(cost))
}

/// Adds an image and a label to each batch, as the engine does.
fn with_content(events: Vec<Event>) -> Vec<Event> {
    let mut out = Vec::with_capacity(events.len());
    for event in events {
        let content = match &event.kind {
            EventKind::Entered {
                batch,
                stage: Stage::Returning,
            } => Some(content(*batch)),
            _ => None,
        };
        let at = event.at;
        out.push(event);
        out.extend(content.map(|content| Event {
            at,
            run: RunId(0),
            kind: EventKind::Content(content.into()),
        }));
    }
    out
}

fn content(batch: BatchId) -> BatchContent {
    let side = 8;
    let shade = |k: u32| ((k * 29 + batch.idx * 53) % 256) as u8;
    let field = |name: &str, dtype: &str, shape: &[i64], data| Field {
        min: Some(0.0),
        max: Some(255.0),
        mean: Some(127.5),
        ..Field::new(name, dtype, shape, data)
    };
    let pictures = Pictures {
        width: side,
        height: side,
        channels: 1,
        pixels: (0..side * side).map(shade).collect(),
    };
    BatchContent {
        batch,
        fields: vec![
            field(
                "[0]",
                "torch.uint8",
                &[1, 1, 8, 8],
                FieldData::Pictures(pictures),
            ),
            field(
                "[1]",
                "torch.int64",
                &[1],
                FieldData::Numbers(vec![f64::from(batch.idx)]),
            ),
        ],
    }
}

/// Writes a recording.
pub fn write_log(path: &Path, events: &[Event]) {
    let mut log = LogWriter::create(path).expect("the folder is writable");
    for event in events {
        log.write(event).expect("there is room");
        // A recorder also flushes from time to time, so that the data become readable.
        log.flush().expect("there is room");
    }
    log.finish().expect("there is room");
}

/// Returns the control sequence with a broken image in batch 5. The error ends the run, like a training loop without `try`.
pub fn failed_sequence() -> Vec<Event> {
    let broken = |id: BatchId| id.idx == 5;
    let mut out = Vec::new();
    for event in control_sequence() {
        let at = event.at;
        let mut tell = |kind| {
            out.push(Event {
                at,
                run: RunId(0),
                kind,
            });
        };
        match &event.kind {
            EventKind::Entered {
                batch,
                stage: Stage::Training,
            } if broken(*batch) => {
                tell(EventKind::Message(Box::new(Message {
                    level: Level::Error,
                    text: "UnidentifiedImageError: flowers/0005.jpg is empty. Delete it or copy it again (in worker 2, \
                           sample 5, batch 5)"
                        .to_owned(),
                    about: Some(*batch),
                    worker: Some(2),
                    sample: Some(5),
                })));
                tell(EventKind::Entered {
                    batch: *batch,
                    stage: Stage::Failed,
                });
                tell(EventKind::EpochEnded { epoch: 0 });
                tell(EventKind::RunEnded);
                return out;
            }
            EventKind::Content(content) if broken(content.batch) => {}
            _ => out.push(event),
        }
    }
    out
}

/// Writes the control sequence to a recording in its own folder.
pub fn control_recording() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("control.jsonl.zst");
    write_log(&path, &control_sequence());
    (dir, path)
}

/// Creates `count` JPEG files in two classes. They are crops of the repository's two photographs.
pub fn photographs(count: usize) -> TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (class, name) in [("buildings", "china.jpg"), ("flowers", "flower.jpg")] {
        let photo = ImageReader::open(repository("assets/pictures").join(name))
            .expect("it comes with the repository")
            .decode()
            .expect("a sound JPEG")
            .into_rgb8();
        let folder = dir.path().join(class);
        std::fs::create_dir(&folder).expect("an empty folder");
        for k in 0..count / 2 {
            let (w, h) = (160 + (k as u32 * 7) % 200, 120 + (k as u32 * 11) % 180);
            let x = (k as u32 * 37) % (photo.width() - w);
            let y = (k as u32 * 23) % (photo.height() - h);
            let crop: RgbImage = image::imageops::crop_imm(&photo, x, y, w, h).to_image();
            let path = folder.join(format!("{k:03}.jpg"));
            crop.save(path).expect("there is room");
        }
    }
    dir
}

/// Writes a small red PNG.
pub fn red_png(path: &Path) {
    let picture = RgbImage::from_pixel(20, 10, Rgb([200, 30, 30]));
    picture.save(path).expect("there is room");
}

/// Parameters of a window in a test.
pub struct Window {
    /// Size, points.
    pub size: Vec2,
    /// Dark or light.
    pub theme: Theme,
    /// Stored preferences.
    pub prefs: Prefs,
    /// Recordings to open.
    pub files: Vec<PathBuf>,
    /// Journal of live runs.
    pub journal: Option<Journal>,
    /// True to keep all messages that change the state.
    pub keeps_messages: bool,
    /// True to animate. A step is then 1/60 s.
    pub moves: bool,
    /// True to leave the cursor where a recording opens. Otherwise, it moves to the end.
    pub as_opened: bool,
    /// Lesson page to open.
    pub learn: Option<LearnTarget>,
}

impl Window {
    /// Returns a dark window of the smallest supported size.
    pub fn new() -> Self {
        Self {
            size: Vec2::new(1100.0, 700.0),
            theme: Theme::Dark,
            prefs: Prefs {
                options: demo(),
                ..Prefs::default()
            },
            files: Vec::new(),
            journal: None,
            keeps_messages: false,
            moves: false,
            as_opened: false,
            learn: None,
        }
    }

    /// Returns the preferences and the start parameters.
    pub fn start(&self) -> (Prefs, Start) {
        let prefs = Prefs {
            theme: match self.theme {
                Theme::Dark => ThemePreference::Dark,
                Theme::Light => ThemePreference::Light,
            },
            ..self.prefs.clone()
        };
        let start = Start {
            files: self.files.clone(),
            learn: self.learn.clone(),
            journal: self.journal.clone(),
            still: !self.moves,
            keeps_messages: self.keeps_messages,
            ..Start::default()
        };
        (prefs, start)
    }

    /// Opens the window and waits until its files are read.
    pub fn open(self) -> Harness<'static, App> {
        let (prefs, start) = self.start();
        let (moves, to_end) = (self.moves, !self.as_opened && !self.files.is_empty());
        // A thread prepares lessons, which takes an unknown time.
        let prepares = self.learn.is_some();
        let mut harness = Harness::builder()
            .with_size(self.size)
            .with_step_dt(if moves { 1.0 / 60.0 } else { 0.25 })
            .with_pixels_per_point(1.0)
            .with_theme(self.theme)
            .with_max_steps(40)
            .wgpu()
            .build_eframe(move |cc| App::new(&cc.egui_ctx, prefs, start));
        let loading = |app: &App| {
            matches!(app.state.session.source, Source::Loading { .. })
                || app.state.overlay.checking_file.is_some()
        };
        wait(&mut harness, |app| !loading(app));
        if to_end {
            harness.state_mut().state.set_up().session.cursor = Cursor::Live;
        }
        match moves || prepares {
            true => harness.run_steps(4),
            false => _ = harness.run(),
        }
        harness
    }
}

/// Opens the control sequence at a time when batch 3 is slow and later batches are held.
pub fn open_control(size: Vec2, theme: Theme) -> (TempDir, Harness<'static, App>) {
    let (dir, path) = control_recording();
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
    (dir, window)
}

/// Runs a command of the user.
pub fn run(window: &mut Harness<'static, App>, command: impl Into<Command>) {
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, command.into());
    window.run();
}

/// Steps the window until `done` is true, for at most 30 s.
pub fn wait(harness: &mut Harness<'static, App>, done: impl Fn(&App) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done(harness.state()) {
        assert!(Instant::now() < deadline, "it did not happen in time");
        std::thread::sleep(Duration::from_millis(5));
        harness.run_steps(1);
    }
}

/// Steps the window until it contains `text` and nothing changes any more, for at most 60 s.
pub fn until(window: &mut Harness<'static, App>, text: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while window.query_all_by_label_contains(text).next().is_none() {
        assert!(Instant::now() < deadline, "{text:?} did not come in time");
        std::thread::sleep(Duration::from_millis(5));
        window.run_steps(1);
    }
    window.run();
}
