//! Tests of the window in Chinese: no English text, no truncated text, and an immediate change of language.
//!
//! These tests are a separate program, because a program has only one language.
#![allow(clippy::disallowed_methods, reason = "tests make files of any kind")]
#![allow(clippy::expect_used, reason = "a test ends with what went wrong")]
#![allow(dead_code, reason = "a part of what the tests share is used")]

mod fixture;
mod snapshots;
mod texts;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use eframe::egui::{Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command, LearnCommand};

use loadscope_model::view::{Cursor, Item, OptionsSource};
use loadscope_trace::{Lane, Nanos};
use loadscope_words::{Language, language};

use fixture::{Window, control_recording, failed_sequence, write_log};
use texts::{Picture as _, cut};

/// Locks the tests' mutex. The windows share the language, so the tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn chinese(window: Window) -> Harness<'static, App> {
    let mut window = window;
    window.prefs.language = Some(Language::Zh);
    window.open()
}

fn do_all(window: &mut Harness<'static, App>, commands: impl IntoIterator<Item = Command>) {
    let ctx = window.ctx.clone();
    for command in commands {
        window.state_mut().run(&ctx, command);
        settle(window);
    }
    settle(window);
}

/// Runs frames until nothing moves. A calculation in another thread may take longer than one attempt.
fn settle(window: &mut Harness<'static, App>) {
    for _ in 0..200 {
        if window.try_run().is_ok() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    window.run();
}

/// Opens the recording of the control sequence, at the time when the reorder buffer holds batches.
fn with_recording(theme: Theme, size: Vec2) -> (tempfile::TempDir, Harness<'static, App>) {
    let (dir, path) = control_recording();
    let mut window = chinese(Window {
        theme,
        size,
        files: vec![path],
        ..Window::new()
    });
    let at = Command::Cursor(Cursor::At(Nanos::from_millis(480)));
    do_all(&mut window, [at, Command::Select(Some(Item::Batch(3)))]);
    (dir, window)
}

const SMALL: Vec2 = Vec2::new(1100.0, 700.0);

/// Words that stay English, such as names of PyTorch, Python, formats and tools, units and keys. Words with a digit, a symbol or an
/// underscore are ignored.
const NAMES: &[&str] = &include!("chinese/names.rs");

/// A warning of PyTorch, which is quoted unchanged.
const PYTORCH: &str = "This DataLoader will create";

/// Returns the English words of a text, except names.
fn english(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "_./:=-+#()[]{}'\"<>%".contains(c);
    // The last word of a truncated text may be incomplete.
    let text = match text.strip_suffix('…') {
        Some(cut) => cut.rsplit_once([' ', ',']).map_or("", |(whole, _)| whole),
        None => text,
    };
    let words = text.split(|c: char| !is_word(c));
    let words = words.map(|w| w.trim_matches(|c: char| !c.is_ascii_alphanumeric()));
    let is_name =
        |w: &&str| w.len() < 2 || w.chars().any(|c| !c.is_ascii_alphabetic()) || NAMES.contains(w);
    words.filter(|w| !is_name(w)).map(str::to_owned).collect()
}

/// Collected English words and truncated texts.
#[derive(Default)]
struct Faults {
    english: BTreeSet<String>,
    cut: BTreeSet<String>,
}

impl Faults {
    fn look(&mut self, state: &str, window: &Harness<'static, App>) {
        let own = |text: &String| !text.starts_with(PYTORCH);
        for text in texts::texts(window).into_iter().filter(own) {
            let words = english(&text);
            if !words.is_empty() {
                self.english
                    .insert(format!("{state}: {words:?} in {text:?}"));
            }
        }
        self.cut.extend(
            cut(window)
                .into_iter()
                .map(|text| format!("{state}: {text:?}")),
        );
    }

    fn is_none(&self) {
        let all: Vec<&String> = self.english.iter().chain(&self.cut).collect();
        assert!(all.is_empty(), "{} texts:\n{all:#?}", all.len());
    }
}

#[test]
fn a_window_without_a_run_is_fully_chinese() {
    let _turn = alone();
    let mut faults = Faults::default();
    let mut window = chinese(Window::new());
    faults.look("welcome", &window);
    for action in [Action::ShowSampling, Action::ShowDiagnose, Action::Palette] {
        do_all(&mut window, [action.into()]);
        faults.look(&format!("{action:?}"), &window);
    }
    faults.is_none();
}

#[test]
fn every_menu_is_chinese() {
    let _turn = alone();
    let mut faults = Faults::default();
    // In a small window, the menus are in a single menu.
    let (_dir, mut window) = with_recording(Theme::Dark, Vec2::new(1100.0, 700.0));
    for menu in ["文件", "编辑", "运行", "导航", "视图", "帮助"] {
        // A button of the toolbar may have the same name.
        window
            .get_all_by_role_and_label(eframe::egui::accesskit::Role::Button, menu)
            .next()
            .expect("the menu is there")
            .click();
        window.run();
        faults.look(menu, &window);
        do_all(&mut window, [Action::Escape.into()]);
    }
    faults.is_none();
}

#[test]
fn a_window_with_a_run_is_fully_chinese() {
    let _turn = alone();
    let mut faults = Faults::default();
    let (_dir, mut window) = with_recording(Theme::Dark, SMALL);
    let lanes = [
        Lane::Trainer,
        Lane::Worker(0),
        Lane::IndexQueue(0),
        Lane::ResultQueue,
        Lane::Reorder,
        Lane::Main,
    ];
    for lane in lanes {
        do_all(&mut window, [Command::Select(Some(Item::Lane(lane)))]);
        faults.look(&format!("{lane:?}"), &window);
    }
    let range = Item::Range(Nanos::from_millis(100), Nanos::from_millis(700));
    do_all(&mut window, [Command::Select(Some(range))]);
    faults.look("range", &window);
    do_all(&mut window, [Command::Select(Some(Item::Sampler))]);
    faults.look("sampler", &window);
    do_all(
        &mut window,
        [Command::OptionsSource(OptionsSource::NextRun)],
    );
    faults.look("options", &window);
    for action in [
        Action::ShowBatches,
        Action::ShowPlots,
        Action::ShowTimeline,
        Action::ToggleVariables,
        Action::ShowSampling,
        Action::ShowDiagnose,
        Action::ShowDebug,
        Action::Help,
    ] {
        do_all(&mut window, [action.into()]);
        match action {
            Action::ShowSampling => fixture::until(&mut window, "覆盖情况"),
            Action::ShowDiagnose => fixture::until(&mut window, "预测准确度"),
            _ => {}
        }
        faults.look(&format!("{action:?}"), &window);
    }
    faults.is_none();
}

/// Regression test: texts below the visible area were not checked, and "trainer step" and "cores" were English.
#[test]
fn texts_below_the_visible_area_are_chinese() {
    let _turn = alone();
    let mut faults = Faults::default();
    let (_dir, mut window) = with_recording(Theme::Dark, Vec2::new(1600.0, 2600.0));
    faults.look("inspector", &window);
    do_all(
        &mut window,
        [Command::OptionsSource(OptionsSource::NextRun)],
    );
    faults.look("options", &window);
    do_all(&mut window, [Action::ShowSampling.into()]);
    fixture::until(&mut window, "覆盖情况");
    faults.look("sampling", &window);
    do_all(&mut window, [Action::ShowDiagnose.into()]);
    fixture::until(&mut window, "预测准确度");
    faults.look("diagnose", &window);
    faults.is_none();
}

#[test]
fn a_failed_run_is_shown_in_chinese() {
    let _turn = alone();
    let mut faults = Faults::default();
    let dir = tempfile::tempdir().expect("a temporary folder");
    let path = dir.path().join("failed.jsonl");
    write_log(&path, &failed_sequence());
    let mut window = chinese(Window {
        files: vec![path],
        ..Window::new()
    });
    faults.look("failed", &window);
    do_all(&mut window, [Action::ShowMessages.into()]);
    faults.look("messages", &window);
    faults.is_none();
}

#[test]
fn a_language_change_applies_at_once_and_is_stored() {
    let _turn = alone();
    let mut window = Window::new().open();
    assert_eq!(language(), Language::En);
    assert!(window.query_by_label("File").is_some());
    do_all(&mut window, [Action::ChangeLanguage.into()]);
    assert_eq!(language(), Language::Zh);
    assert!(window.query_by_label("File").is_none() && window.query_by_label("文件").is_some());
    assert_eq!(window.state().prefs().language, Some(Language::Zh));
    assert_eq!(window.state().prefs().learned.language, Language::Zh);
    do_all(&mut window, [Action::ChangeLanguage.into()]);
    assert!(window.query_by_label("File").is_some());
    assert_eq!(window.state().prefs().language, Some(Language::En));
}

#[test]
fn chinese_windows_match_their_images() {
    let _turn = alone();
    let mut results = SnapshotResults::new();
    for (theme, end) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let (_dir, mut window) = with_recording(theme, SMALL);
        window.picture(format!("chinese_debug_{end}"));
        do_all(&mut window, [Action::ShowDiagnose.into()]);
        fixture::until(&mut window, "预测准确度");
        window.picture(format!("chinese_diagnose_{end}"));
        results.extend_harness(&mut window);
    }
    let mut window = chinese(Window::new());
    window.picture("chinese_welcome");
    results.extend_harness(&mut window);
    let (_dir, mut window) = with_recording(Theme::Dark, SMALL);
    do_all(
        &mut window,
        [
            Command::OptionsSource(OptionsSource::NextRun),
            Action::ShowBatches.into(),
        ],
    );
    window.picture("chinese_options");
    do_all(&mut window, [Action::Help.into()]);
    window.picture("chinese_help");
    results.extend_harness(&mut window);
}

/// Runs a command, and waits until the lesson's calculation is finished and drawn.
fn learned(window: &mut Harness<'static, App>, command: impl Into<Command>) {
    do_all(window, [command.into()]);
    fixture::wait(window, |app| app.state.learn.wanted.is_none());
    window.run_steps(12);
}

#[test]
fn chinese_quiz_and_cases_match_their_images() {
    let _turn = alone();
    let mut results = SnapshotResults::new();
    let mut window = Window {
        theme: Theme::Light,
        size: SMALL,
        ..Window::new()
    };
    window.prefs.learned.language = Language::Zh;
    let mut window = chinese(window);
    learned(&mut window, LearnCommand::Quiz(3));
    window.picture("chinese_quiz");
    for _ in 0..loadscope_lessons::QUIZ_LENGTH {
        learned(&mut window, Action::SkipStep);
    }
    window.picture("quiz_result-zh");
    learned(&mut window, LearnCommand::Case(1, 1));
    window.picture("case_open-zh");
    let detecting = window.state().state.learn.detecting().expect("a case");
    let case = detecting.case.clone().expect("it was made");
    let solved = case.solve(&[], &[]);
    for culprit in solved.causes {
        learned(&mut window, LearnCommand::Name(culprit));
    }
    for remedy in solved.best {
        learned(&mut window, LearnCommand::Choose(remedy));
    }
    learned(&mut window, Action::GoOn);
    fixture::until(&mut window, "预测准确度");
    window.picture("case_solved-zh");
    results.extend_harness(&mut window);
}
