//! Tests of *Diagnose*, *Run the program with other settings*: measurements of other arguments with the watched program.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};

use eframe::egui::{Key, Theme, Vec2, vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_engine::simulate::simulate;
use loadscope_insight::tune::{Expected, Kind, Measured, Table, Tried};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::message::Message;
use loadscope_model::watching::Program;
use loadscope_model::watching::{Outcome, TuneUpdate};
use loadscope_trace::{Overrides, Run, RunOptions};

use crate::fixture::{Window, control_recording, wait, write_log};
use crate::texts::{Picture as _, texts};

const SIZE: Vec2 = vec2(1920.0, 1080.0);

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

/// Opens the run in `file` as if it belonged to a program started from the window.
fn diagnose(theme: Theme, file: &Path, program: Program) -> Harness<'static, App> {
    let mut window = Window {
        theme,
        size: SIZE,
        files: vec![file.to_owned()],
        ..Window::new()
    }
    .open();
    let _ = window.state_mut().state.apply(Message::Watches(program));
    window.key_press(Key::Num3);
    wait(&mut window, |app| {
        app.state.session.results.diagnosis.what_if.is_some()
    });
    window.run();
    window
}

fn ran(workers: usize) -> Run {
    let options = RunOptions {
        dataset: "synthetic:len=400,cost_ms=12,jitter=0.1".to_owned(),
        batch_size: Some(4),
        num_workers: workers,
        step_ms: 10.0,
        ..RunOptions::default()
    };
    let mut run = Run::default();
    for event in simulate(&options).expect("it can be simulated") {
        run.apply(&event);
    }
    run
}

fn tried(kind: Kind, workers: usize) -> Tried {
    let run = ran(workers);
    let measured = Measured::of(&run, 100).expect("batches");
    Tried {
        kind,
        overrides: Overrides {
            num_workers: (kind == Kind::Try).then_some(workers),
            ..Overrides::default()
        },
        expected: (kind != Kind::Repeat).then_some(Expected {
            per_batch: measured.per_batch * 1.04,
            low: measured.per_batch * 0.9,
            high: measured.per_batch * 1.2,
        }),
        options: Some(run.info.options),
        measured: Ok(measured),
        recording: format!("{workers}.jsonl.zst"),
    }
}

/// Screenshots of the offer, the progress and the result.
#[test]
fn tries_match_their_images() {
    let mut results = SnapshotResults::new();
    let (_dir, file) = control_recording();
    for theme in [Theme::Dark, Theme::Light] {
        let program = Program {
            command: words(&["python", "train.py", "--epochs", "3"]),
            folder: None,
        };
        let mut window = diagnose(theme, &file, program);
        let said = "Runs python train.py --epochs 3 unchanged";
        assert!(window.query_by_label_contains(said).is_some());
        // One screenshot per theme: the start and the end.
        if theme == Theme::Dark {
            window.picture("trying-before");
        }
        let tell = |window: &mut Harness<'static, App>, news| {
            let _ = window.state_mut().state.apply(Message::Tune(news));
            window.run_steps(2);
        };
        tell(&mut window, TuneUpdate::Begun("tune".into()));
        for line in [
            "run 1: the unchanged program",
            "  24.1 ms per batch, 14.0 ms of it waiting (199 batches)",
            "run 2 of 9: num_workers=5",
        ] {
            tell(&mut window, TuneUpdate::Line(line.to_owned()));
        }
        assert!(window.query_by_label("run 2 of 9: num_workers=5").is_some());
        assert!(window.query_by_label("Stop measuring").is_some());
        let table = Table::of(
            "train.py:42".to_owned(),
            None,
            vec![
                tried(Kind::First, 1),
                tried(Kind::Try, 5),
                tried(Kind::Try, 2),
                tried(Kind::Repeat, 1),
            ],
            Vec::new(),
        );
        let over = TuneUpdate::Over(Outcome::Compared(table.into()));
        tell(&mut window, over);
        window.run();
        let mut said = window.query_all_by_label_contains("Best change: num_workers=5");
        assert!(said.next().is_some());
        drop(said);
        if theme == Theme::Light {
            window.picture("trying-over");
        }
        results.extend_harness(&mut window);
    }
}

fn set(overrides: &[(usize, usize)]) -> Table {
    let mut rows = vec![tried(Kind::First, 1)];
    for (workers, prefetch) in overrides {
        let mut one = tried(Kind::Try, *workers);
        one.overrides.prefetch_factor = Some(*prefetch);
        one.overrides.persistent_workers = Some(true);
        one.recording = format!("{workers}-{prefetch}.jsonl.zst");
        rows.push(one);
    }
    rows.push(tried(Kind::Repeat, 1));
    Table::of("train.py:42".to_owned(), None, rows, Vec::new())
}

/// Regression test: "num_workers=5..." appeared twice.
#[test]
fn tried_settings_have_different_names() {
    let (dir, file) = control_recording();
    let program = Program {
        command: words(&["python", "train.py"]),
        folder: None,
    };
    for width in [900.0, 1100.0, 1920.0] {
        let mut window = diagnose(Theme::Dark, &file, program.clone());
        window.set_size(vec2(width, 2400.0));
        window.run();
        let tell = |window: &mut Harness<'static, App>, news| {
            let _ = window.state_mut().state.apply(Message::Tune(news));
            window.run_steps(2);
        };
        tell(&mut window, TuneUpdate::Begun(dir.path().to_owned()));
        tell(
            &mut window,
            TuneUpdate::Line("run 2 of 9: num_workers=5".to_owned()),
        );
        // The status line is visible at any scroll position.
        window.get_by_label("Measuring: run 2 of 9: num_workers=5");
        let table = set(&[(5, 3), (5, 4), (2, 2), (2, 3)]);
        let names: Vec<String> = table.rows.iter().map(|row| row.name()).collect();
        tell(
            &mut window,
            TuneUpdate::Over(Outcome::Compared(table.into())),
        );
        window.run();
        let notices = &window.state().state.session.notices;
        let said = notices.iter().any(|n| {
            n.text
                .starts_with("The measurement has finished. Best change: ")
        });
        assert!(said && notices.iter().all(|n| !n.is_error), "{notices:?}");
        window
            .get_all_by_label_contains("Run the program with other settings")
            .last();
        // A long name wraps.
        let painted = texts(&window).join(" ");
        let painted = painted.split_whitespace().collect::<Vec<_>>().join(" ");
        for name in &names {
            assert!(
                painted.contains(name.as_str()),
                "{width}: {name} in {painted}"
            );
        }
    }
}

/// Regression test: "Best: 48.8 ms (-52 %)" was above a row with 45.6 ms (-55 %), without a reason.
#[test]
fn a_faster_row_than_the_recommended_one_is_explained() {
    let (dir, file) = control_recording();
    let program = Program {
        command: words(&["python", "train.py"]),
        folder: None,
    };
    let mut window = diagnose(Theme::Dark, &file, program);
    window.set_size(vec2(1100.0, 2400.0));
    window.run();
    let best = tried(Kind::Try, 6);
    let time = best.measured.as_ref().map(|m| m.per_batch);
    let time = time.expect("batches");
    let mut fastest = tried(Kind::Try, 8);
    if let Ok(measured) = &mut fastest.measured {
        measured.per_batch = 0.99 * time;
    }
    let rows = vec![tried(Kind::First, 1), best, fastest, tried(Kind::Repeat, 1)];
    let table = Table::of("train.py:42".to_owned(), None, rows, Vec::new());
    let why = table.why_not_fastest().expect("a reason");
    assert!(why.starts_with("num_workers=8 "), "{why}");
    for news in [
        TuneUpdate::Begun(dir.path().to_owned()),
        TuneUpdate::Over(Outcome::Compared(table.into())),
    ] {
        let _ = window.state_mut().state.apply(Message::Tune(news));
        window.run_steps(2);
    }
    window.run();
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let painted = one_line(texts(&window).join(" "));
    let why = one_line(why);
    assert!(painted.contains(&why), "{why} in {painted}");
}

/// Regression test: after a click, the text about the unchanged program was "This run is slower: −51 %".
#[test]
fn a_click_compares_the_changed_run_with_this_run() {
    let (dir, file) = control_recording();
    let program = Program {
        command: words(&["python", "train.py"]),
        folder: None,
    };
    let mut window = diagnose(Theme::Dark, &file, program);
    let before = RunOptions {
        dataset: "synthetic:len=400,cost_ms=12,jitter=0.1".to_owned(),
        batch_size: Some(4),
        num_workers: 1,
        step_ms: 10.0,
        ..RunOptions::default()
    };
    let after = RunOptions {
        num_workers: 5,
        ..before.clone()
    };
    let path = dir.path().join("5-3.jsonl.zst");
    write_log(&path, &simulate(&after).expect("it can be simulated"));
    let own = dir.path().join("own.jsonl.zst");
    write_log(&own, &simulate(&before).expect("it can be simulated"));
    let ctx = window.ctx.clone();
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Open(own)));
    wait(&mut window, |app| {
        app.state.session.run.batches().len() == 100
    });
    let _ = window
        .state_mut()
        .state
        .apply(Message::Tune(TuneUpdate::Begun(dir.path().to_owned())));
    let table = set(&[(5, 3), (2, 2)]);
    let over = TuneUpdate::Over(Outcome::Compared(table.into()));
    let _ = window.state_mut().state.apply(Message::Tune(over));
    window
        .state_mut()
        .run(&ctx, Command::Perform(Effect::Compare(path)));
    wait(&mut window, |app| {
        app.state.session.results.diagnosis.compared.is_some()
    });
    let compared = window
        .state()
        .state
        .session
        .results
        .diagnosis
        .compared
        .clone();
    let compared = compared.expect("both are there");
    let name = "num_workers=5, prefetch_factor=3, persistent_workers=True";
    assert_eq!(compared.names, ["This run", name]);
    assert!(
        compared
            .sentence
            .starts_with(&format!("{name} is faster: ")),
        "{}",
        compared.sentence
    );
}

/// Returns true while a process runs whose command line contains `word`.
fn runs(word: &str) -> bool {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut lines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")));
    lines.any(|line| String::from_utf8_lossy(&line.unwrap_or_default()).contains(word))
}

#[test]
#[cfg(unix)]
fn a_tried_program_runs_again_and_can_be_ended() {
    if std::process::Command::new("python3")
        .arg("--version")
        .output()
        .is_err()
    {
        return;
    }
    let (_dir, file) = control_recording();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = "stand_in_of_the_window.py";
    let script = folder.path().join(name);
    let text = include_str!("data/stand_in.py");
    let text = text.replace("open(\"written.txt\", \"a\").write(\"run\\n\")", "");
    std::fs::write(&script, text).expect("written");
    // The relative path is valid only in its folder.
    let program = Program {
        command: words(&["python3", name]),
        folder: Some(folder.path().to_owned()),
    };
    let mut window = diagnose(Theme::Dark, &file, program);
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::TryProgram.into());
    let until = Instant::now() + Duration::from_secs(60);
    let trying = |window: &Harness<'static, App>| window.state().state.look.trying.clone();
    // The first run has ended, and the next one starts.
    while trying(&window).is_none_or(|t| t.lines.len() < 3) {
        assert!(Instant::now() < until, "{:?}", trying(&window));
        std::thread::sleep(Duration::from_millis(20));
        window.run_steps(1);
    }
    // Between two runs, there is a moment without a process.
    while !runs(name) {
        assert!(Instant::now() < until, "it is not run again");
        std::thread::sleep(Duration::from_millis(5));
    }
    window.state_mut().run(&ctx, Action::EndTries.into());
    while trying(&window).is_some_and(|t| t.is_running()) {
        assert!(Instant::now() < until, "{:?}", trying(&window));
        std::thread::sleep(Duration::from_millis(20));
        window.run_steps(1);
    }
    let place = trying(&window).map(|t| t.folder);
    assert_eq!(place, Some(folder.path().join("tune")));
    let outcome = trying(&window).and_then(|t| t.outcome);
    let Some(Outcome::Compared(table)) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(table.rows[0].tried.measured.is_ok(), "{table:?}");
    assert!(!runs(name));
    // The run's recording can be opened.
    let recording = &table.rows[0].tried.recording;
    assert!(folder.path().join("tune").join(recording).exists());
}
