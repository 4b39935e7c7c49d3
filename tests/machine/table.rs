//! The table of batches.

use eframe::egui::Theme;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use loadscope::panels::batches::BatchTable;
use loadscope::state::{Source, State};
use loadscope::view::{Cursor, Item};
use loadscope_trace::Stage;

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
    assert_eq!(harness.state().selection, Some(Item::Batch(4)));
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
    harness.state_mut().selection = Some(Item::Batch(2_000));
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
    state.source = Source::Live { paused: false };
    let (mut harness, _) = table((980.0, 300.0), Theme::Dark, state);
    harness.run();
    harness.get_by_label("batch 499");
}
