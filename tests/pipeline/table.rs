//! Tests of the table of batches.

use std::time::{Duration, Instant};

use eframe::egui::Theme;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::command::Command;
use loadscope_model::state::{Source, State};
use loadscope_model::update::update;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{BatchId, Event, EventKind, Nanos, Run, RunId, Stage};
use loadscope_ui::panels::batches::BatchTable;

use super::enact::{Play, enact};
use super::{Asked, save, state, step_of, window};
use crate::texts::texts;

fn table<'a>(size: (f32, f32), theme: Theme, state: State) -> (Harness<'a, State>, Asked) {
    let mut table = BatchTable::default();
    window(size, theme, state, move |ui, state| table.show(ui, state))
}

#[test]
fn the_table_sorts_by_column_and_selects_rows() {
    let run = enact(Play::default());
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state(run, Cursor::Live));
    harness.run();
    harness.get_by_label("batch 4").click();
    harness.run();
    assert_eq!(harness.state().session.selection, Some(Item::Batch(4)));
    save(&mut harness, "table");
    let top = |harness: &Harness<'_, State>, label: &str| harness.get_by_label(label).rect().top();
    assert!(top(&harness, "batch 0") < top(&harness, "batch 3"));
    harness.get_by_label("Fetch, ms").click();
    harness.run();
    assert!(top(&harness, "batch 3") < top(&harness, "batch 0"));
    harness.get_by_label("Fetch, ms ↓").click();
    harness.run();
    assert!(top(&harness, "batch 0") < top(&harness, "batch 3"));
}

#[test]
fn the_table_shows_waited_and_arrived_times() {
    let run = enact(Play::default());
    // Batch 3 is slow. The batches after it are ready when the trainer asks for them.
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state(run, Cursor::Live));
    harness.run();
    harness.get_by_label("Arrived, ms").click();
    harness.run();
    let top = |harness: &Harness<'_, State>, label: &str| harness.get_by_label(label).rect().top();
    assert!(
        top(&harness, "batch 4") < top(&harness, "batch 3"),
        "early ones first"
    );
    harness.get_by_label("Arrived, ms ↓").click();
    harness.run();
    assert!(top(&harness, "batch 3") < top(&harness, "batch 4"));
    let texts = texts(&harness).join("\n");
    assert!(
        texts.contains(" late") && texts.contains(" early"),
        "{texts}"
    );
    harness.get_by_label_contains("Waited, ");
    save(&mut harness, "table-waited");
}

#[test]
fn a_filter_limits_the_table_to_matching_batches() {
    let play = Play {
        batches: 300,
        workers: 4,
        cost: |idx| if idx == 77 { 90.0 } else { 4.0 },
        ..Play::default()
    };
    let (mut harness, _) = table(
        (980.0, 300.0),
        Theme::Light,
        state(enact(play), Cursor::Live),
    );
    harness.run();
    harness.get_by_label("300 batches");
    let filter = |harness: &mut Harness<'_, State>, text: &str| {
        harness.get_by_label("Batch filter").focus();
        harness.run();
        harness.get_by_label("Batch filter").type_text(text);
        harness.run();
    };
    filter(&mut harness, "fetch > 50 ms");
    harness.get_by_label("1 of 300 batches");
    harness.get_by_label("batch 77");
    assert!(harness.query_by_label("batch 0").is_none());
    harness.get_by_label("Show all").click();
    harness.run();
    harness.get_by_label("batch 0");
    filter(&mut harness, "worker 1, batch 0-99");
    harness.get_by_label("25 of 300 batches");
    save(&mut harness, "table-filtered");
    // A hidden selected batch must neither scroll nor fail.
    harness.state_mut().session.selection = Some(Item::Batch(200));
    harness.run();
    harness.get_by_label("Show all").click();
    harness.run();
    filter(&mut harness, "wrkr 1");
    harness.get_by_label_contains("Invalid filter: wrkr 1");
}

/// A filtered table with a hidden future must not show future batches.
#[test]
fn a_filtered_table_hides_future_batches() {
    let play = Play {
        batches: 300,
        workers: 4,
        ..Play::default()
    };
    let mut state = state(enact(play), Cursor::Live);
    state.prefs.hides_future = true;
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state);
    harness.run();
    harness.get_by_label("Batch filter").focus();
    harness.run();
    harness
        .get_by_label("Batch filter")
        .type_text("batch 250-299");
    harness.run();
    harness.get_by_label("50 of 300 batches");
    let cursor = step_of(&harness.state().session.run, 100, Stage::Training);
    let _ = update(harness.state_mut(), Command::Cursor(cursor));
    harness.run();
    assert!(harness.query_by_label("batch 250").is_none());
}

#[test]
fn the_table_scrolls_to_a_batch_selected_elsewhere() {
    let play = Play {
        batches: 3_000,
        workers: 4,
        cost: |idx| 1.0 + f64::from(idx % 9),
        ..Play::default()
    };
    let run = enact(play);
    let (mut harness, _) = table((980.0, 300.0), Theme::Light, state(run, Cursor::Live));
    harness.run();
    assert!(harness.query_by_label("batch 2000").is_none());
    harness.state_mut().session.selection = Some(Item::Batch(2_000));
    harness.run();
    harness.get_by_label("batch 2000");
    save(&mut harness, "table-scrolled");
}

#[test]
fn the_table_fits_a_narrow_panel() {
    let play = Play {
        pin: true,
        ..Play::default()
    };
    let cursor = step_of(&enact(play), 5, Stage::Pinning);
    let (mut harness, _) = table((560.0, 200.0), Theme::Dark, state(enact(play), cursor));
    harness.run();
    harness.get_by_label("batch 0");
    save(&mut harness, "table-narrow");
}

#[test]
fn the_table_of_a_live_run_follows_the_newest_rows() {
    let play = Play {
        batches: 500,
        workers: 4,
        cost: |idx| 1.0 + f64::from(idx % 9),
        ..Play::default()
    };
    let mut state = state(enact(play), Cursor::Live);
    state.session.source = Source::Live { paused: false };
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state);
    harness.run();
    harness.get_by_label("batch 499");
}

#[test]
fn a_usual_window_shows_all_columns_with_fitting_units() {
    let play = Play {
        batches: 300,
        workers: 4,
        step: 0.4,
        cost: |idx| 0.08 + f64::from(idx % 9) * 0.004,
        ..Play::default()
    };
    // The size is that of the middle area in a window of 1,440 points with both panels open.
    let size = (848.0, 300.0);
    let (mut harness, _) = table(size, Theme::Light, state(enact(play), Cursor::Live));
    harness.run();
    harness.get_by_label("Fetch, µs");
    let last = harness.get_by_label(BatchTable::last_column()).rect();
    assert!(last.right() <= size.0, "{last:?}");
    save(&mut harness, "table-usual");
}

/// `cargo test -p loadscope-tests -- --ignored --nocapture a_million_rows`
#[test]
#[ignore = "a measurement"]
fn a_million_rows_delay_no_frame() {
    let mut run = Run::default();
    let mut apply = |at: i64, kind| {
        let (at, id) = (Nanos(at), RunId(0));
        run.apply(&Event { at, run: id, kind });
    };
    apply(0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..1_000_000 {
        let batch = BatchId { epoch: 0, idx };
        let at = i64::from(idx) * 10_000;
        let worker = Some((idx % 4) as u16);
        apply(at, EventKind::dispatched(batch, worker, [u64::from(idx)]));
        let fetched = 2_000 + i64::from(idx) * 7_919 % 4_000;
        for (after, stage) in [
            (1_000, Stage::Fetching),
            (fetched, Stage::Ready),
            (7_000, Stage::Training),
            (9_000, Stage::Done),
        ] {
            apply(at + after, EventKind::Entered { batch, stage });
        }
    }
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state(run, Cursor::Live));
    let longest = |harness: &mut Harness<'_, State>, frames: usize| {
        let mut longest = Duration::ZERO;
        for _ in 0..frames {
            let start = Instant::now();
            harness.step();
            longest = longest.max(start.elapsed());
            std::thread::sleep(Duration::from_millis(1));
        }
        longest
    };
    println!("opened: {:?} at most", longest(&mut harness, 300));
    harness.get_by_label_contains("Fetch, ").click();
    println!("sorted: {:?} at most", longest(&mut harness, 300));
    // Batch 0 has the shortest time, so it is far down now.
    assert!(harness.query_by_label("batch 0").is_none());
}
