//! Tests of samples in the pipeline: the current image, the sample costs, and the trainer's last steps.

use eframe::egui::{Shape, Theme, Vec2};
use egui_kittest::{Harness, SnapshotResults};
use loadscope_model::state::State;
use loadscope_model::view::Cursor;
use loadscope_trace::{Nanos, Run};
use loadscope_ui::pipeline::PipelineView;

use crate::pipeline::{enact::Play, enact::enact, state, window};
use crate::texts::{Picture as _, cut, overlapping, texts};

/// Returns a run of two workers with batches of 16 images. One batch, number 9, has much slower samples.
fn run() -> Run {
    enact(Play {
        workers: 2,
        batches: 40,
        batch_size: 16,
        step: 12.0,
        cost: |idx| {
            if idx == 9 {
                40.0
            } else {
                2.0 + f64::from(idx % 3)
            }
        },
        ..Play::default()
    })
}

fn open(size: Vec2, theme: Theme, at: Nanos) -> Harness<'static, State> {
    let mut view = PipelineView::default();
    let state = state(run(), Cursor::At(at));
    let (mut harness, _) = window((size.x, size.y), theme, state, move |ui, state| {
        view.show(ui, state)
    });
    harness.run();
    harness
}

/// Returns a time during the fetch of a batch, after some of its samples.
fn amid(row: usize) -> Nanos {
    let run = run();
    let sample = run.samples(row).nth(5).expect("16 samples");
    sample.start + Nanos(sample.wall.0 / 2)
}

/// Returns the number of drawn images, each of which has its own texture.
fn pictures(harness: &Harness<'_, State>) -> usize {
    fn count(shape: &Shape) -> usize {
        match shape {
            Shape::Vec(all) => all.iter().map(count).sum(),
            Shape::Mesh(mesh) => usize::from(mesh.texture_id != eframe::egui::TextureId::default()),
            Shape::Rect(rect) => {
                usize::from(rect.fill_texture_id() != eframe::egui::TextureId::default())
            }
            _ => 0,
        }
    }
    harness
        .output()
        .shapes
        .iter()
        .map(|clipped| count(&clipped.shape))
        .sum()
}

const ROOMY: Vec2 = Vec2::new(1500.0, 360.0);

#[test]
fn workers_and_trainer_show_images_of_their_samples() {
    let harness = open(ROOMY, Theme::Dark, amid(9));
    let workers = texts(&harness)
        .iter()
        .filter(|t| t.contains(" of 16"))
        .count();
    assert!(workers >= 1, "{:?}", texts(&harness));
    assert!(pictures(&harness) >= 1, "no picture");
    // While the trainer works, the images of its batch are next to it.
    let run = run();
    let step = run
        .path(4)
        .into_iter()
        .find(|s| s.stage == loadscope_trace::Stage::Training);
    let at = step.expect("it is trained on").start + Nanos::from_millis(1);
    let harness = open(ROOMY, Theme::Dark, at);
    assert!(pictures(&harness) >= 8, "{}", pictures(&harness));
    assert!(
        texts(&harness)
            .iter()
            .any(|t| t == "Last 20 steps" || t == "Steps")
    );
}

#[test]
fn a_slow_sample_shows_its_ratio_to_the_median() {
    let harness = open(ROOMY, Theme::Light, amid(9));
    let said = texts(&harness).join("\n");
    assert!(
        said.contains("so far, ") && said.contains("× the median"),
        "{said}"
    );
}

#[test]
fn workers_with_samples_match_their_images() {
    let mut results = SnapshotResults::new();
    for (name, size, theme) in [
        ("dark", ROOMY, Theme::Dark),
        ("light", ROOMY, Theme::Light),
        ("usual", Vec2::new(1100.0, 320.0), Theme::Dark),
        ("huge", Vec2::new(2500.0, 700.0), Theme::Light),
        ("small", Vec2::new(700.0, 220.0), Theme::Dark),
    ] {
        let mut harness = open(size, theme, amid(9));
        assert!(cut(&harness).is_empty(), "{name}: {:?}", cut(&harness));
        let pairs = overlapping(&harness);
        assert!(pairs.is_empty(), "{name}: {pairs:?}");
        harness.picture(format!("samples_{name}"));
        results.extend_harness(&mut harness);
    }
    let run = run();
    let step = run
        .path(7)
        .into_iter()
        .find(|s| s.stage == loadscope_trace::Stage::Training);
    let at = step.expect("it is trained on").start + Nanos::from_millis(3);
    let mut harness = open(ROOMY, Theme::Dark, at);
    harness.picture("samples_training");
    results.extend_harness(&mut harness);
}
