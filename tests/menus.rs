//! Tests of context menus, tooltips of terms, and the glossary.

use eframe::egui::{Key, Theme, Vec2};
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope::window::App;
use loadscope_insight::glossary::Term;
use loadscope_model::command::{Action, Command};
use loadscope_model::view::{Item, LowerPanel};
use loadscope_trace::Lane;

use crate::fixture::{open_control as open, run};
use crate::texts::{Picture as _, cut, overlapping};

const USUAL: Vec2 = Vec2::new(1100.0, 700.0);

#[test]
fn a_right_click_on_a_chip_opens_its_batch_menu() {
    let (_dir, mut window) = open(USUAL, Theme::Dark);
    window.get_by_label("batch 3, fetching").click_secondary();
    window.run();
    window.get_by_label("Zoom to it");
    window.get_by_label_contains("Why was it late?").click();
    window.run();
    let state = &window.state().state;
    assert_eq!(state.session.selection, Some(Item::Batch(3)));
    assert_eq!(state.pipeline().awaited().map(|batch| batch.row), Some(3));
    assert!(
        window.query_by_label("Zoom to it").is_none(),
        "the menu is closed"
    );
}

/// Regression test: the tooltip of a lane hid the entries of its menu.
#[test]
fn tooltips_do_not_cover_an_open_menu() {
    use eframe::egui::Order;

    let (_dir, mut window) = open(USUAL, Theme::Dark);
    let tooltips = |window: &Harness<'static, App>| {
        let layers = window.ctx.memory(|m| m.areas().visible_layer_ids());
        layers
            .iter()
            .filter(|id| id.order == Order::Tooltip)
            .count()
    };
    let trainer = window.get_by_label("trainer lane").rect();
    let worker = window.get_by_label("worker 1 lane").rect();
    let mut hovered = 0;
    for at in [
        trainer.left_center() + [40.0, 0.0].into(),
        trainer.center(),
        worker.left_center() + [40.0, 0.0].into(),
        worker.center(),
        window.get_by_label("batch 3, fetching").rect().center(),
        window.get_by_label("worker 1").rect().center(),
    ] {
        window.hover_at(at);
        // Some tooltips appear after half a second.
        window.run_steps(60);
        hovered += usize::from(tooltips(&window) > 0);
        secondary_click(&mut window, at);
        for by in [[0.0, 0.0], [8.0, 4.0], [60.0, 20.0], [-30.0, -10.0]] {
            window.hover_at(at + by.into());
            window.run_steps(30);
            assert_eq!(tooltips(&window), 0, "{at} moved by {by:?}");
        }
        window.key_press(Key::Escape);
        window.run();
    }
    assert!(hovered >= 4, "tooltips appear without a menu: {hovered}");
}

fn secondary_click(window: &mut Harness<'static, App>, at: eframe::egui::Pos2) {
    use eframe::egui::{Event, Modifiers, PointerButton};
    for pressed in [true, false] {
        window.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Secondary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        window.run_steps(2);
    }
}

/// Regression test: the remaining height for the menu was negative.
#[test]
fn a_menu_has_height_in_a_very_low_window() {
    let (_dir, mut window) = open(Vec2::new(1100.0, 40.0), Theme::Dark);
    window.get_by_label("File").click();
    window.run();
    let entry = window.get_by_label(Action::Open.info().name);
    assert!(entry.rect().height() > 0.0);
}

#[test]
fn the_worker_menu_filters_the_table_to_its_batches() {
    let (_dir, mut window) = open(USUAL, Theme::Dark);
    window.get_by_label("worker 1").click_secondary();
    window.run();
    window
        .get_by_label("Show only worker 1 in the table")
        .click();
    window.run();
    assert_eq!(window.state().state.look.lower, LowerPanel::Batches);
    window.get_by_label("4 of 12 batches");
    // A row of the table has the menu of its batch.
    window.get_by_label("batch 4").click_secondary();
    window.run();
    window.get_by_label("Go to its end").click();
    window.run();
    assert_eq!(window.state().state.session.selection, Some(Item::Batch(4)));
}

#[test]
fn a_right_click_on_a_lane_acts_on_the_clicked_part() {
    let (_dir, mut window) = open(USUAL, Theme::Dark);
    let lane = window.get_by_label("trainer lane").rect();
    let press = |window: &mut Harness<'static, App>, at| {
        use eframe::egui::{Event, Modifiers, PointerButton};
        window.hover_at(at);
        window.run();
        for pressed in [true, false] {
            window.event(Event::PointerButton {
                pos: at,
                button: PointerButton::Secondary,
                pressed,
                modifiers: Modifiers::NONE,
            });
            window.run();
        }
    };
    // The click is on the name at the left.
    press(&mut window, lane.left_center() + [40.0, 0.0].into());
    window.get_by_label("Go to its longest wait").click();
    window.run();
    // The click is on the long wait, which is on the screen now.
    let at = window.state().state.now();
    let whole = window.state().state.shown();
    let share = (at - whole.start).0 as f32 / whole.len().0 as f32;
    let time = lane.left() + 144.0 + (lane.width() - 156.0) * share;
    press(&mut window, eframe::egui::pos2(time, lane.center().y));
    window.hover_at(lane.left_center() + [40.0, 60.0].into());
    window.run();
    window.get_by_label("Go to the start of this span").click();
    window.run();
    let start = window.state().state.now();
    assert!(start < at, "{start} {at}");
    let wait = window
        .state()
        .state
        .session
        .run
        .waits()
        .iter()
        .find(|w| w.start == start);
    assert!(wait.is_some_and(|w| w.batch == Some(3)), "{wait:?}");
}

#[test]
fn pipeline_tooltips_give_the_pytorch_names() {
    let (_dir, mut window) = open(Vec2::new(1920.0, 1080.0), Theme::Dark);
    for (word, pytorch) in [
        ("Reorder buffer", "_task_info"),
        ("Result queue", "_worker_result_queue"),
        ("Workers", "num_workers, worker_init_fn"),
        ("Index queues", "_index_queues[worker]"),
        ("Sampler", "sampler, batch_sampler"),
        ("Trainer", "for batch in loader:"),
        ("tasks_outstanding", "_tasks_outstanding"),
        ("rcvd_idx", "_rcvd_idx"),
    ] {
        let place = place_of(&window, word);
        window.hover_at(place);
        // The tooltip appears after half a second.
        window.run_steps(60);
        let says = format!("PyTorch: {pytorch}");
        assert!(
            window.query_by_label(&says).is_some(),
            "{word} at {place} does not say {says:?}"
        );
    }
}

/// Returns the position of a painted word: the topmost one, or for `rcvd_idx` the lowest one, which is in the line of counters.
fn place_of(window: &Harness<'static, App>, word: &str) -> eframe::egui::Pos2 {
    use eframe::egui::{Pos2, Shape};
    fn find(shape: &Shape, word: &str, found: &mut Vec<Pos2>) {
        match shape {
            Shape::Vec(all) => all.iter().for_each(|shape| find(shape, word, found)),
            Shape::Text(text) if text.galley.text() == word => {
                found.push(text.pos + text.galley.size() * 0.5);
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    for clipped in &window.output().shapes {
        find(&clipped.shape, word, &mut found);
    }
    // Menus and tabs are at the top.
    found.retain(|at| at.y > 90.0);
    found.sort_by(|a, b| a.y.total_cmp(&b.y));
    let place = match word {
        // The name also appears above the slot of the awaited batch.
        "rcvd_idx" => found.last(),
        _ => found.first(),
    };
    *place.unwrap_or_else(|| panic!("{word} is nowhere"))
}

#[test]
fn the_glossary_opens_with_f1_finds_words_and_closes() {
    let mut results = SnapshotResults::new();
    for (name, size, theme) in [
        ("dark", USUAL, Theme::Dark),
        ("light", USUAL, Theme::Light),
        ("small", Vec2::new(760.0, 480.0), Theme::Dark),
    ] {
        let (_dir, mut window) = open(size, theme);
        window.key_press(Key::F1);
        window.run();
        window.get_by_label(Term::Sampler.entry().meaning);
        assert!(cut(&window).is_empty(), "{name}: {:?}", cut(&window));
        let pairs = overlapping(&window);
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
        window.picture(format!("glossary_{name}"));
        run(&mut window, Command::Glossary(Some("rcvd".to_owned())));
        window.get_by_label("_rcvd_idx");
        assert!(window.query_by_label("collate_fn").is_none());
        run(&mut window, Action::Escape);
        assert!(window.query_by_label("_rcvd_idx").is_none());
        results.extend_harness(&mut window);
    }
}

#[test]
fn menus_match_their_images() {
    let mut results = SnapshotResults::new();
    for (name, size, theme) in [
        ("dark", USUAL, Theme::Dark),
        ("light", USUAL, Theme::Light),
        ("small", Vec2::new(760.0, 480.0), Theme::Light),
    ] {
        let (_dir, mut window) = open(size, theme);
        run(
            &mut window,
            Command::Select(Some(Item::Lane(Lane::Worker(0)))),
        );
        window.get_by_label("batch 3, fetching").click_secondary();
        window.run();
        window.picture(format!("menus_{name}"));
        results.extend_harness(&mut window);
    }
}
