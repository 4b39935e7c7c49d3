//! Tests of the context menus and their commands.

use loadscope_trace::{RunOptions, Track};

use super::*;
use crate::Model;
use crate::state::{SessionState, Source};
use crate::view::LowerPanel;

/// Returns a model with a run of two workers. Batch 3 takes 200 ms, the others 10 ms.
fn model() -> Model {
    let options = RunOptions {
        dataset: "synthetic:len=12,cost_ms=10,slow=3:200".to_owned(),
        batch_size: Some(1),
        num_workers: 2,
        step_ms: 2.0,
        ..RunOptions::default()
    };
    let run = loadscope_lessons::simulated(&options).expect("sound options");
    Model::new(State {
        session: SessionState {
            run,
            source: Source::Finished,
            ..SessionState::default()
        },
        ..State::default()
    })
}

fn take(model: &mut Model, thing: MenuTarget, text: &str) -> Vec<Effect> {
    let all: Vec<MenuEntry> = menu_entries(model, thing).concat();
    let found = all.iter().find(|offer| offer.text.starts_with(text));
    let found = found.unwrap_or_else(|| panic!("no {text:?} in {all:#?}"));
    let commands = found.commands.clone().into_iter();
    commands
        .filter_map(|command| model.apply(command))
        .collect()
}

#[test]
fn a_late_batch_offers_a_jump_to_its_wait() {
    let mut model = model();
    model.set_up().prefs.inspector_open = false;
    take(&mut model, MenuTarget::Batch(3), "Why was it late?");
    assert_eq!(model.session.selection, Some(Item::Batch(3)));
    let awaited = model.pipeline().awaited().map(|batch| batch.row);
    assert_eq!(awaited, Some(3), "the moment is within the wait");
    assert!(model.prefs.inspector_open);
    // A batch that arrived in time is not offered as late.
    let batch = model.session.run.batches().len() - 1;
    let early = (0..batch).find(|row| {
        wait_for(&model.session.run, *row).is_some_and(|wait| wait.end - wait.start < LONG)
    });
    let all = menu_entries(
        &model,
        MenuTarget::Batch(early.expect("one that was there")),
    )
    .concat();
    assert!(
        all.iter().all(|offer| !offer.text.starts_with("Why")),
        "{all:#?}"
    );
}

#[test]
fn show_only_a_worker_filters_the_batch_table() {
    let mut model = model();
    model.apply(Action::ShowDiagnose);
    take(
        &mut model,
        MenuTarget::Lane(Lane::Worker(1)),
        "Show only worker 1",
    );
    assert_eq!(model.session.filter, "worker 1");
    assert_eq!(model.look.lower, LowerPanel::Batches);
    assert_eq!(model.prefs.workspace, crate::view::Workspace::Debug);
}

#[test]
fn a_span_menu_goes_to_its_start_and_its_end() {
    let mut model = model();
    let lane = Lane::Worker(1);
    let track = model
        .session
        .run
        .track(Track { lane, row: 0 })
        .expect("it worked");
    let span = track.all()[2];
    take(&mut model, MenuTarget::Span(lane, span), "Go to the end");
    assert_eq!(model.session.cursor, Cursor::At(span.end));
    take(&mut model, MenuTarget::Span(lane, span), "Go to the start");
    assert_eq!(model.session.cursor, Cursor::At(span.start));
    take(&mut model, MenuTarget::Span(lane, span), "Zoom to it");
    let view = model.session.view.expect("a part of the run");
    assert!(view.start < span.start && span.end < view.end);
}

#[test]
fn a_copied_batch_text_has_stages_and_times() {
    let mut model = model();
    let effects = take(&mut model, MenuTarget::Batch(3), "Copy as text");
    let [Effect::Copy(text)] = &effects[..] else {
        panic!("{effects:?}");
    };
    let text = text.replace('\u{2009}', " ");
    assert!(text.starts_with("batch 3\nworker 1\n"), "{text}");
    assert!(
        text.contains("\t200 ms\n") || text.contains("\t200.0 ms\n"),
        "{text}"
    );
    assert!(text.contains("The trainer waited"), "{text}");
}

/// Every target has possible entries and no empty group, at every step, with and without a hidden future.
#[test]
fn every_menu_has_entries_at_every_step() {
    let mut model = model();
    for hides in [false, true] {
        model.set_up().prefs.hides_future = hides;
        for step in 0..=model.session.run.whole().transitions().len() {
            model.apply(Command::Cursor(Cursor::Step(step)));
            let lanes = model
                .session
                .run
                .lanes()
                .map(|(lane, _)| MenuTarget::Lane(lane));
            let batches = (0..15).map(MenuTarget::Batch);
            for thing in lanes.chain(batches).chain([MenuTarget::Sampler]) {
                let groups = menu_entries(&model, thing);
                assert!(groups.iter().all(|group| !group.is_empty()));
                let there = |row| row < model.session.run.batches().len();
                assert!(
                    !groups.is_empty() || matches!(thing, MenuTarget::Batch(row) if !there(row))
                );
            }
        }
    }
}
