//! Tests of every kind of content in the inspector.

use eframe::egui::Theme;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotResults};
use loadscope_model::command::{Action, Command};
use loadscope_model::effect::Effect;
use loadscope_model::state::State;
use loadscope_model::view::{Cursor, Item};
use loadscope_trace::{
    BatchContent, BatchId, Event, EventKind, Fetched, Field, FieldData, Nanos, Pictures, Run,
    RunId, RunInfo, SampleTiming, Stage, StageTiming,
};
use loadscope_ui::panels::inspector::Inspector;

use super::{Asked, save, state, window};

fn field(name: &str, dtype: &str, shape: &[i64], data: FieldData) -> Field {
    let values: Vec<f64> = match &data {
        FieldData::Numbers(values) => values.clone(),
        _ => Vec::new(),
    };
    let finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    let count = finite.len() as f64;
    let any = |v: f64| (!finite.is_empty()).then_some(v);
    let mean = finite.iter().sum::<f64>() / count;
    let (low, high) = finite
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(*v), h.max(*v))
        });
    let variance = finite.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let mut histogram = vec![0; if high > low { 32 } else { 0 }];
    for v in finite.iter().filter(|_| high > low) {
        histogram[(((v - low) / (high - low) * 32.0) as usize).min(31)] += 1;
    }
    Field {
        name: name.to_owned(),
        dtype: dtype.to_owned(),
        shape: shape.to_vec(),
        min: any(low),
        max: any(high),
        mean: any(mean),
        std: (finite.len() > 1).then_some(variance.sqrt()),
        nan: values.iter().filter(|v| v.is_nan()).count() as u64,
        inf: values.iter().filter(|v| v.is_infinite()).count() as u64,
        histogram,
        pinned: false,
        data,
    }
}

/// Returns photographs of 24 × 16 pixels, reduced from 48 × 32: a sun above the sea.
fn photographs(count: usize) -> Pictures {
    let (width, height) = (24, 16);
    let mut pixels = Vec::new();
    for k in 0..count {
        for at in 0..width * height {
            let (x, y) = ((at % width) as f64, (at / width) as f64);
            let sun = (x - 6.0 - 4.0 * k as f64).hypot(y - 5.0) < 3.0;
            let sea = y > 10.0 + (x * 0.9 + k as f64).sin();
            pixels.extend(match (sun, sea) {
                (true, _) => [250, 200, 70],
                (_, true) => [20, 70 + 8 * y as u8, 120],
                _ => [150 - 6 * y as u8, 180, 220],
            });
        }
    }
    Pictures {
        width,
        height,
        channels: 3,
        pixels,
    }
}

fn content(batch: BatchId) -> BatchContent {
    let wave =
        |k: usize| ((k % 16) as f64 * 0.4).sin() * (1.0 + (k / 16) as f64 * 0.3) + 0.01 * k as f64;
    let mut embedding: Vec<f64> = (0..6 * 64).map(wave).collect();
    embedding[70] = f64::NAN;
    embedding[200] = f64::INFINITY;
    let boxes: Vec<f64> = (0..24).map(|k| f64::from(k * 37 % 224) + 0.5).collect();
    let texts = [
        "a sun above the sea",
        "the same sun, a little later in the afternoon",
        "dusk",
    ];
    let numbers = FieldData::Numbers;
    BatchContent {
        batch,
        fields: vec![
            field(
                "[\"image\"]",
                "torch.uint8",
                &[6, 3, 32, 48],
                FieldData::Pictures(photographs(6)),
            ),
            field(
                "[\"label\"]",
                "torch.int64",
                &[6],
                numbers(vec![2.0, 0.0, 1.0, 2.0, 2.0, 0.0]),
            ),
            field(
                "[\"embedding\"]",
                "torch.float32",
                &[6, 64],
                numbers(embedding),
            ),
            field(
                "[\"target\"][\"boxes\"]",
                "torch.float32",
                &[6, 4],
                numbers(boxes),
            ),
            field(
                "[\"target\"][\"area\"]",
                "torch.float64",
                &[40, 64],
                numbers((0..1024).map(wave).collect()),
            ),
            field(
                "[\"caption\"]",
                "str",
                &[6],
                FieldData::Text(
                    texts
                        .iter()
                        .cycle()
                        .take(6)
                        .map(|t| (*t).to_owned())
                        .collect(),
                ),
            ),
            field("[\"raw\"]", "bytes", &[512], FieldData::Omitted),
        ],
    }
}

/// Returns a run of one batch of `count` samples. The third sample is slow.
fn run(count: usize, with_content: bool) -> Run {
    let batch = BatchId { epoch: 0, idx: 0 };
    let mut run = Run::new(RunInfo {
        classes: ["sun", "sea", "dusk"].map(str::to_owned).to_vec(),
        ..RunInfo::default()
    });
    let wall = |k: usize| {
        if k == 2 {
            48_000_000
        } else {
            5_000_000 + 100_000 * (k as i64 % 7)
        }
    };
    let samples: Vec<SampleTiming> = (0..count)
        .map(|k| SampleTiming {
            start: Nanos(k as i64 * 5_000_000),
            wall: Nanos(wall(k)),
            cpu: None,
        })
        .collect();
    let share = |name: &str, of: i64| StageTiming {
        name: name.to_owned(),
        walls: (0..count).map(|k| Nanos(wall(k) / of)).collect(),
    };
    let fetched = Fetched {
        batch,
        samples,
        stages: vec![share("read", 8), share("decode", 2), share("resize", 4)],
    };
    let entered = |stage| EventKind::Entered { batch, stage };
    let indices: Vec<u64> = (0..count as u64).map(|k| k * 7_919 % 10_007).collect();
    let mut kinds = vec![
        EventKind::EpochStarted { epoch: 0 },
        EventKind::dispatched(batch, Some(0), indices),
        entered(Stage::Fetching),
        EventKind::Fetched(Box::new(fetched)),
        entered(Stage::Collating),
    ];
    kinds.extend(with_content.then(|| EventKind::Content(content(batch).into())));
    kinds.push(entered(Stage::Returning));
    kinds.push(entered(Stage::Ready));
    for (k, kind) in kinds.into_iter().enumerate() {
        let at = Nanos::from_millis(20 * k as i64);
        run.apply(&Event {
            at,
            run: RunId(0),
            kind,
        });
    }
    run
}

fn inspector<'a>(height: f32, theme: Theme, mut state: State) -> (Harness<'a, State>, Asked) {
    let mut inspector = Inspector::default();
    state.session.selection = Some(Item::Batch(0));
    window((276.0, height), theme, state, move |ui, state| {
        inspector.show(ui, state)
    })
}

#[test]
fn each_kind_of_content_has_its_own_view() {
    let mut results = SnapshotResults::new();
    for (name, theme) in [("content", Theme::Dark), ("content-light", Theme::Light)] {
        let (mut harness, _) = inspector(2_900.0, theme, state(run(6, true), Cursor::Live));
        harness.run();
        harness.get_by_label("heat map of [\"embedding\"]");
        harness.get_by_label("histogram of [\"embedding\"]");
        harness.get_by_label_contains("Only the first 1,024 of 2,560 values were recorded");
        harness.get_by_label_contains("48.0\u{2009}ms, 9");
        save(&mut harness, name);
        results.extend_harness(&mut harness);
    }
}

#[test]
fn a_dict_in_the_contents_can_be_folded() {
    let (mut harness, _) = inspector(2_900.0, Theme::Dark, state(run(6, true), Cursor::Live));
    harness.run();
    harness.get_by_label("heat map of [\"target\"][\"boxes\"]");
    harness
        .get_by_label("[\"target\"]  dict of 2 leaves")
        .click();
    harness.run();
    assert!(
        harness
            .query_by_label("heat map of [\"target\"][\"boxes\"]")
            .is_none()
    );
    harness.get_by_label("heat map of [\"embedding\"]");
}

#[test]
fn an_image_can_be_enlarged_and_saved() {
    let (mut harness, asked) = inspector(1_400.0, Theme::Dark, state(run(6, true), Cursor::Live));
    harness.run();
    harness
        .get_by_label("image of sample 7919, sun, with 1 box (sun), 1 caption")
        .click();
    harness.run();
    assert_eq!(harness.state().session.enlarged, Some((0, 1)));
    harness.get_by_label_contains("enlarged image of sample 7919, sun");
    harness.get_by_label("Size, pixels 48 × 32");
    harness.get_by_label("Recorded at 24 × 16 pixels");
    save(&mut harness, "inspector-picture");
    harness.get_by_label("Next image").click();
    harness.run();
    assert_eq!(harness.state().session.enlarged, Some((0, 2)));
    harness.get_by_label("Save batch image…").click();
    harness.run();
    assert!(asked.borrow().contains(&Command::Act(Action::SavePicture)));
    harness.get_by_label("Back to all images").click();
    harness.run();
    assert_eq!(harness.state().session.enlarged, None);
    // Another selection closes the enlarged image.
    harness
        .get_by_label("image of sample 7919, sun, with 1 box (sun), 1 caption")
        .click();
    harness.run();
    harness.get_by_label("worker 0").click();
    harness.run();
    assert_eq!(harness.state().session.enlarged, None);
}

#[test]
fn copy_buttons_copy_values_and_indices() {
    let (mut harness, asked) = inspector(2_900.0, Theme::Dark, state(run(6, true), Cursor::Live));
    harness.run();
    harness.get_by_label("Copy the indices").click();
    harness.run();
    harness.get_by_label("Copy the values").click();
    harness.run();
    harness
        .get_all_by_label("Copy these values")
        .next()
        .expect("labels can be copied")
        .click();
    harness.run();
    let asked = asked.borrow();
    assert!(asked.contains(&Command::Act(Action::CopyIndices)));
    assert!(asked.contains(&Command::Act(Action::CopyValues)));
    let labels = "[\"label\"]\n2\n0\n1\n2\n2\n0\n".to_owned();
    assert!(asked.contains(&Command::Perform(Effect::Copy(labels))));
}

#[test]
fn a_batch_of_4096_samples_is_shown_in_full() {
    let (mut harness, _) = inspector(
        1_300.0,
        Theme::Light,
        state(run(4_096, false), Cursor::Live),
    );
    harness.run();
    harness.get_by_label_contains("4,096 indices");
    harness.get_by_label_contains("Sample 5831 took 48.0");
    save(&mut harness, "inspector-long");
}

#[test]
fn extreme_contents_are_shown_without_panic() {
    let mut run = run(2, false);
    let batch = BatchId { epoch: 0, idx: 0 };
    let numbers = |count: usize| FieldData::Numbers((0..count).map(|k| k as f64).collect());
    let pictures = |width, height, channels| {
        FieldData::Pictures(Pictures {
            width,
            height,
            channels,
            pixels: vec![1; 64],
        })
    };
    let mut fields = vec![
        field("", "", &[i64::MIN, -1], numbers(20_000)),
        field("[", "torch.float32", &[1, i64::MAX], numbers(9)),
        field("[0]]..[", "torch.int64", &[], numbers(0)),
        field("p", "torch.uint8", &[1], pictures(0, 0, 3)),
        field(
            "q",
            "torch.uint8",
            &[1, 2, 3],
            pictures(u32::MAX, u32::MAX, 255),
        ),
        field("r", "torch.uint8", &[4, 4, 4], pictures(4, 4, 1)),
        field(
            "t",
            "str",
            &[3],
            FieldData::Text(vec!["\t\n\u{0}".to_owned(); 5]),
        ),
    ];
    fields[1].histogram = vec![u64::MAX; 1_000];
    fields[2].min = Some(f64::MAX);
    fields[2].max = Some(f64::MIN);
    fields[2].histogram = vec![1, 0, u64::MAX];
    fields.extend((0..600).map(|k| field(&format!("[{k}]"), "int", &[], numbers(1))));
    run.apply(&Event {
        at: run.end(),
        run: RunId(0),
        kind: EventKind::Content(BatchContent { batch, fields }.into()),
    });
    let (mut harness, _) = inspector(20_000.0, Theme::Dark, state(run, Cursor::Live));
    harness.run();
    harness.get_by_label("and 11,808 more values");
    harness.get_by_label("and 95 more fields");
    harness.get_by_label("Too many histogram bins to show");
    for k in 0..8 {
        harness.state_mut().session.enlarged = Some((k, k));
        harness.run();
    }
}
