//! The table of batches.

use std::time::{Duration, Instant};

use eframe::egui::Theme;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope_model::state::{Source, State};
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{BatchId, Event, EventKind, Nanos, Run, RunId, Stage};
use loadscope_ui::panels::batches::BatchTable;

use super::enact::{Play, enact};
use super::{Asked, save, state, step_of, window};

fn table<'a>(size: (f32, f32), theme: Theme, state: State) -> (Harness<'a, State>, Asked) {
    let mut table = BatchTable::default();
    window(size, theme, state, move |ui, state| table.show(ui, state))
}

#[test]
fn the_table_sorts_and_selects() {
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
fn the_table_brings_what_is_selected_elsewhere_into_sight() {
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
fn the_table_fits_a_narrow_place() {
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
fn while_live_the_newest_rows_are_followed() {
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
fn units_fit_and_nothing_is_clipped_in_a_usual_window() {
    let play = Play {
        batches: 300,
        workers: 4,
        step: 0.4,
        cost: |idx| 0.08 + f64::from(idx % 9) * 0.004,
        ..Play::default()
    };
    // As wide as the middle of a window of 1,440 points with both panels open.
    let size = (848.0, 300.0);
    let (mut harness, _) = table(size, Theme::Light, state(enact(play), Cursor::Live));
    harness.run();
    harness.get_by_label("Fetch, µs");
    let last = harness.get_by_label("Stage now").rect();
    assert!(last.right() <= size.0, "{last:?}");
    save(&mut harness, "table-usual");
}

/// `cargo test -p loadscope-tests -- --ignored --nocapture a_million_rows`
#[test]
#[ignore = "a measurement"]
fn a_million_rows_hold_up_no_frame() {
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
    // It takes the shortest time there is, so now it is far down.
    assert!(harness.query_by_label("batch 0").is_none());
}
