//! Tests of a stream's samples, which have no index.

use loadscope_lessons::simulated;
use loadscope_model::state::Source;
use loadscope_model::view::TimeView;
use loadscope_trace::{Nanos, RunOptions};

use super::window::{Window, small};
use crate::texts::texts;

/// Regression test: every sample of a stream was called sample #1.
#[test]
fn stream_samples_are_named_by_position_in_the_batch() {
    let options = RunOptions {
        dataset: "stream:shards=2/8,cost_ms=20".to_owned(),
        batch_size: Some(2),
        num_workers: 2,
        step_ms: 20.0,
        ..RunOptions::default()
    };
    let mut window = Window::default();
    let run = simulated(&options).expect("sound options");
    window.state.session.run = run;
    window.state.session.source = Source::Finished;
    window.state.session.view = Some(TimeView::new(Nanos(0), Nanos::from_millis(60)));
    window.state.look.still = true;
    let seen = texts(&small(window));
    let is_shown = |part: &str| seen.iter().any(|text| text.contains(part));
    assert!(is_shown("sample 2 of 2"), "{seen:?}");
    assert!(!is_shown("#1"), "{seen:?}");
}
