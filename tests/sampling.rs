//! Tests of the Sampling workspace in the whole window, with the engine's recorded and predicted orders.

use eframe::egui::{Key, Modifiers, PointerButton, Role, Theme, Vec2, vec2};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Item, Workspace};
use loadscope_trace::RunOptions;

mod fixture;

use fixture::{Recorded, open};

use crate::fixture::{until, wait};
use crate::texts::{Picture as _, texts};

const SMALL: Vec2 = vec2(1100.0, 700.0);
const LARGE: Vec2 = vec2(1920.0, 1080.0);

fn digits() -> RunOptions {
    RunOptions {
        dataset: "digits".to_owned(),
        batch_size: Some(32),
        shuffle: true,
        seed: Some(0),
        num_workers: 4,
        epochs: 2,
        ..RunOptions::default()
    }
}

fn distributed() -> RunOptions {
    RunOptions {
        dataset: "synthetic:len=1003".to_owned(),
        batch_size: Some(16),
        sampler: "distributed".to_owned(),
        world_size: 4,
        rank: 1,
        set_epoch: false,
        seed: Some(5),
        num_workers: 2,
        epochs: 2,
        ..RunOptions::default()
    }
}

fn select(window: &mut Harness<'static, App>, row: usize) {
    let ctx = window.ctx.clone();
    let command = Command::Select(Some(Item::Batch(row)));
    window.state_mut().run(&ctx, command);
    window.run();
}

#[test]
fn a_shuffled_run_matches_its_images() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, LARGE, "sampling_shuffled"),
        (Theme::Light, SMALL, "sampling_shuffled-small"),
    ] {
        let mut window = open(&Recorded::of(digits()), theme, size);
        until(&mut window, "Each of the 1,797 indices comes exactly once");
        window.picture(name);
        select(&mut window, 100);
        window.picture(format!("{name}-selected"));
        results.extend_harness(&mut window);
    }
}

/// Opens the drop-down for the coloring of the points.
fn open_colorings(window: &mut Harness<'static, App>) {
    window.get_by_label("Colour of the points").click();
    window.run();
}

/// Selects a coloring of the points.
fn color(window: &mut Harness<'static, App>, by: &str) {
    open_colorings(window);
    window.get_by_label(by).click();
    window.run();
}

/// Returns the number of different colors in the middle of the window.
fn colors(window: &mut Harness<'static, App>) -> usize {
    let picture = window.render().expect("the window can be drawn");
    let (w, h) = (picture.width(), picture.height());
    let middle =
        |x: u32, y: u32| (w * 2 / 5..w * 3 / 5).contains(&x) && (h / 2..h * 4 / 5).contains(&y);
    let pixels = picture
        .enumerate_pixels()
        .filter(|(x, y, _)| middle(*x, *y));
    let all: std::collections::BTreeSet<[u8; 4]> = pixels.map(|(.., p)| p.0).collect();
    all.len()
}

#[test]
fn points_are_colored_by_class_by_worker_or_by_batch() {
    let mut results = SnapshotResults::new();
    for (theme, name) in [(Theme::Dark, "dark"), (Theme::Light, "light")] {
        let mut window = open(&Recorded::of(digits()), theme, SMALL);
        until(&mut window, "Each of the 1,797 indices");
        let plain = colors(&mut window);
        for by in ["Colour by class", "Colour by worker", "Colour by batch"] {
            color(&mut window, by);
            assert_eq!(window.state().state.session.sampling.coloring.label(), by);
            let many = colors(&mut window);
            assert!(many > plain + 2, "{by}: {many} and {plain} colours");
            if by == "Colour by class" {
                window.picture(format!("sampling_classes-{name}"));
            }
        }
        results.extend_harness(&mut window);
    }
}

#[test]
fn ranks_and_epochs_are_overlaid_in_one_plot() {
    let mut results = SnapshotResults::new();
    let told = RunOptions {
        set_epoch: true,
        ..distributed()
    };
    for (options, said, by, layers, name) in [
        (
            told,
            "251 of 1,003 indices come",
            "Colour by rank",
            ["rank 0", "rank 1", "rank 2", "rank 3"].as_slice(),
            "sampling_by_rank",
        ),
        (
            digits(),
            "Each of the 1,797 indices",
            "Colour by epoch",
            ["epoch 0", "epoch 1"].as_slice(),
            "sampling_by_epoch",
        ),
    ] {
        for (theme, size, name) in [
            (Theme::Dark, vec2(1440.0, 900.0), format!("{name}-dark")),
            (Theme::Light, SMALL, format!("{name}-light")),
        ] {
            let mut window = open(&Recorded::of(options.clone()), theme, size);
            until(&mut window, said);
            let plain = colors(&mut window);
            color(&mut window, by);
            let many = colors(&mut window);
            assert!(many > plain, "{by}: {many} and {plain} colours");
            // The squares next to the drop-down are the legend.
            for layer in layers {
                let all = window.query_all_by_label(layer);
                assert!(all.count() >= 1, "{layer}");
            }
            window.picture(name);
            results.extend_harness(&mut window);
        }
    }
}

/// A run with one epoch of one rank has nothing to overlay.
#[test]
fn coloring_by_rank_or_epoch_needs_several() {
    let options = RunOptions {
        epochs: 1,
        ..digits()
    };
    let mut window = open(&Recorded::of(options), Theme::Dark, SMALL);
    until(&mut window, "Each of the 1,797 indices");
    open_colorings(&mut window);
    for by in ["Colour by rank", "Colour by epoch"] {
        assert!(window.get_by_label(by).accesskit_node().is_disabled());
    }
}

#[test]
fn ranks_without_set_epoch_match_their_images() {
    let mut results = SnapshotResults::new();
    for (theme, size, name) in [
        (Theme::Dark, vec2(1440.0, 900.0), "sampling_ranks"),
        (Theme::Light, LARGE, "sampling_ranks-light"),
        (Theme::Dark, SMALL, "sampling_ranks-small"),
    ] {
        let mut window = open(&Recorded::of(distributed()), theme, size);
        until(&mut window, "have the same order of 251 indices");
        window.picture(name);
        results.extend_harness(&mut window);
    }
}

#[test]
fn faulty_orders_match_their_images() {
    let mut results = SnapshotResults::new();
    let sorted = RunOptions {
        shuffle: false,
        drop_last: true,
        ..digits()
    };
    let mut window = open(&Recorded::of(sorted), Theme::Dark, vec2(1440.0, 900.0));
    until(&mut window, "drop_last=True drops 5 of 1,797 samples");
    window.picture("sampling_sorted");
    results.extend_harness(&mut window);

    let dir = tempfile::tempdir().expect("a temporary folder");
    let weights = dir.path().join("weights.txt");
    let weight = |i: u32| if i % 10 == 3 { "6" } else { "1" };
    let text: Vec<&str> = (0..1797).map(weight).collect();
    std::fs::write(&weights, text.join("\n")).expect("there is room");
    let weighted = RunOptions {
        shuffle: false,
        sampler: format!("weighted:{}", weights.display()),
        replacement: true,
        ..digits()
    };
    let mut window = open(&Recorded::of(weighted), Theme::Light, vec2(1440.0, 900.0));
    until(&mut window, "because the sampler draws with replacement");
    // The path of the file of weights differs in each run.
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::ToggleOptions.into());
    window.run();
    window.picture("sampling_weighted");
    results.extend_harness(&mut window);
}

#[test]
fn predicted_orders_match_their_images() {
    let mut results = SnapshotResults::new();
    let mut window = open(&Recorded::nothing(), Theme::Dark, SMALL);
    window.picture("sampling_empty");
    // The recording has no indices for a stream, but the engine knows the samples of its workers.
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "stream:len=240".to_owned(),
        num_workers: 3,
        batch_size: Some(8),
        ..RunOptions::default()
    };
    window.get_by_label("Next run").click();
    until(&mut window, "3 workers yield 720 samples");
    window.picture("sampling_iterable");
    window.state_mut().state.set_up().prefs.options.dataset = "folder:/no/such/folder".to_owned();
    until(&mut window, "The order cannot be predicted");
    window.picture("sampling_refused");
    window.state_mut().state.set_up().prefs.options = RunOptions {
        dataset: "synthetic:len=1000000".to_owned(),
        batch_size: Some(256),
        shuffle: true,
        seed: Some(1),
        ..RunOptions::default()
    };
    until(
        &mut window,
        "Each of the 1,000,000 indices comes exactly once",
    );
    // The points of the large order are drawn in the background.
    std::thread::sleep(std::time::Duration::from_millis(500));
    window.run();
    window.picture("sampling_million");
    results.extend_harness(&mut window);
}

#[test]
fn the_order_prediction_agrees_with_earlier_epochs() {
    let mut window = open(&Recorded::of(digits()), Theme::Dark, SMALL);
    until(&mut window, "Each of the 1,797 indices comes exactly once");
    window.get_by_label("Next epoch").click();
    until(&mut window, "earlier epochs matched");
    window.get_by_label("This run").click();
    window.run();
    window.get_by_label("‹").click();
    until(&mut window, "57 batches");
    assert!(window.query_by_label_contains("same order").is_none());
}

#[test]
fn a_click_on_a_point_selects_its_batch() {
    let mut window = open(&Recorded::of(distributed()), Theme::Dark, SMALL);
    until(&mut window, "251 of 1,003 indices come");
    let rect = window.get_by_label_contains("Position × index: ").rect();
    // Some point is near one of these places.
    for k in 0..40 {
        let at = rect.left_top() + rect.size() * vec2(0.3 + 0.01 * k as f32, 0.5);
        window.hover_at(at);
        window.run();
        for pressed in [true, false] {
            window.event(eframe::egui::Event::PointerButton {
                pos: at,
                button: PointerButton::Primary,
                pressed,
                modifiers: Modifiers::NONE,
            });
        }
        window.run();
        if window.state().state.session.selection.is_some() {
            break;
        }
    }
    assert!(matches!(
        window.state().state.session.selection,
        Some(Item::Batch(_))
    ));
    window
        .get_by_role_and_label(Role::Button, "Zoom into the order")
        .click();
    window.run();
    assert!(window.query_by_label("Show the whole order").is_some());
    window.key_press(Key::Num1);
    window.run();
    assert_eq!(window.state().state.prefs.workspace, Workspace::Debug);
}

#[test]
fn the_sampling_workspace_follows_a_live_run() {
    let mut window = crate::fixture::Window::new();
    window.prefs.options = RunOptions {
        num_workers: 2,
        step_ms: 2.0,
        epochs: 1,
        ..digits()
    };
    window.prefs.workspace = Workspace::Sampling;
    let mut window = window.open();
    // A start without a run shows the start page, whatever workspace was open last.
    assert!(
        window
            .query_by_label_contains("Find out why training waits for data")
            .is_some()
    );
    window.key_press(Key::Num2);
    window.run();
    // Without a run, the workspace predicts the order of the next run.
    until(&mut window, "Each of the 1,797 indices comes exactly once");
    assert!(window.query_by_label_contains("still running").is_none());
    let predicted = window.state().state.session.run.batches().len();
    assert_eq!(predicted, 0);
    let ctx = window.ctx.clone();
    window.state_mut().run(&ctx, Action::Run.into());
    wait(&mut window, |app| {
        !app.state.session.run.batches().is_empty()
    });
    wait(&mut window, |app| !app.state.session.source.is_live());
    until(&mut window, "57 batches");
    until(&mut window, "Each of the 1,797 indices comes exactly once");
}

#[test]
fn an_epoch_stopped_early_reports_no_missing_indices() {
    let first = RunOptions {
        epochs: 1,
        ..digits()
    };
    let mut window = open(&Recorded::cut(first, 150), Theme::Dark, SMALL);
    until(&mut window, "stopped early");
    assert!(window.query_by_label_contains("never come").is_none());
    window.picture("sampling_stopped-early");
}

#[test]
fn a_recorded_stream_shows_its_yielded_samples() {
    let stream = RunOptions {
        dataset: "stream:len=24".to_owned(),
        num_workers: 3,
        batch_size: Some(4),
        ..RunOptions::default()
    };
    let mut window = open(&Recorded::of(stream), Theme::Light, SMALL);
    until(
        &mut window,
        "3 workers yielded 72 samples from a dataset of 24",
    );
    assert!(window.query_by_label_contains("never come").is_none());
    window.picture("sampling_iterable-recorded");
    window.get_by_label("Next epoch").click();
    until(&mut window, "24 of them distinct");
}

/// Regression test: a permutation of 8 indices was called poorly shuffled.
#[test]
fn the_shuffle_of_few_indices_is_not_judged() {
    let few = RunOptions {
        dataset: "synthetic:len=8".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        shuffle: true,
        seed: Some(1),
        ..RunOptions::default()
    };
    let mut window = open(&Recorded::of(few), Theme::Dark, LARGE);
    until(&mut window, "Not judged: fewer than 100 indices");
    let seen = texts(&window);
    let is_shown = |part: &str| seen.iter().any(|text| text.contains(part));
    assert!(is_shown("Not judged: fewer than 100 indices"), "{seen:?}");
    assert!(!is_shown("· shuffle quality"), "{seen:?}");
}
