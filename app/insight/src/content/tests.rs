use loadscope_trace::{
    BatchId, Collate, ENVELOPE, Field, FieldData, Pictures, RunOptions, SPECTROGRAM,
};
use proptest::prelude::*;

use super::*;

fn numbers(name: &str, dtype: &str, shape: &[i64], values: &[f64]) -> Field {
    Field::new(name, dtype, shape, FieldData::Numbers(values.to_vec()))
}

fn texts(name: &str, texts: &[&str]) -> Field {
    let shape = [texts.len() as i64];
    let texts = texts.iter().map(|t| (*t).to_owned()).collect();
    Field::new(name, "str", shape, FieldData::Text(texts))
}

fn pictures(name: &str, shape: &[i64], count: usize) -> Field {
    let data = FieldData::Pictures(Pictures {
        width: 8,
        height: 6,
        channels: 1,
        pixels: vec![1; 48 * count],
    });
    Field::new(name, "torch.uint8", shape, data)
}

fn read(fields: Vec<Field>, info: &RunInfo) -> Views {
    let content = BatchContent {
        batch: BatchId::default(),
        fields,
    };
    views(&content, info)
}

fn with_classes() -> RunInfo {
    RunInfo {
        classes: ["background", "cat", "dog"].map(str::to_owned).to_vec(),
        ..RunInfo::default()
    }
}

#[test]
fn detection_targets_are_assigned_to_their_pictures() {
    let fields = vec![
        pictures("[0][0]", &[3, 60, 80], 1),
        pictures("[0][1]", &[3, 30, 40], 1),
        numbers(
            "[1][0][\"boxes\"]",
            "torch.float32",
            &[2, 4],
            &[1., 2., 3., 4., 5., 6., 70., 8.],
        ),
        numbers("[1][0][\"labels\"]", "torch.int64", &[2], &[1., 7.]),
        pictures("[1][0][\"masks\"]", &[2, 60, 80], 2),
        numbers("[1][1][\"boxes\"]", "torch.float32", &[0, 4], &[]),
        numbers("[1][1][\"labels\"]", "torch.int64", &[0], &[]),
        numbers(
            "[1][1][\"keypoints\"]",
            "torch.float32",
            &[1, 2, 3],
            &[1., 2., 2., 3., 4., 0.],
        ),
        texts("[1][1][\"captions\"]", &["a cat", "no dog"]),
    ];
    let annotated = read(fields, &with_classes()).annotated.expect("pictures");
    let [first, second] = annotated.samples.as_slice() else {
        panic!("{annotated:?}")
    };
    assert_eq!((first.picture, first.size), ((0, 0), (80.0, 60.0)));
    let titles: Vec<_> = first.boxes.iter().map(|b| b.title()).collect();
    assert_eq!(titles, [Some("cat".to_owned()), Some("7".to_owned())]);
    assert_eq!(first.boxes[1].corners, [5.0, 6.0, 70.0, 8.0]);
    assert_eq!(first.masks, [(4, 0), (4, 1)]);
    assert_eq!((second.picture, second.boxes.len()), ((1, 0), 0));
    assert_eq!(second.captions, ["a cat", "no dog"]);
    let point = Keypoint {
        x: 3.0,
        y: 4.0,
        visibility: 0.0,
    };
    assert_eq!((second.keypoints.len(), second.keypoints[0][1]), (1, point));
    assert!(annotated.covers(0) && annotated.covers(4) && !annotated.covers(2));
}

#[test]
fn boxes_of_a_stacked_batch_are_read_row_by_row() {
    let rows = [
        1., 1., 2., 2., 0., 0., 0., 0., 3., 3., 9., 9., 4., 4., 5., 5.,
    ];
    let fields = vec![
        pictures("[\"image\"]", &[2, 3, 60, 80], 2),
        numbers("[\"boxes\"]", "torch.float32", &[2, 2, 4], &rows),
        numbers("[\"labels\"]", "torch.int64", &[2, 2], &[2., 0., 1., 1.]),
        pictures("[\"mask\"]", &[2, 60, 80], 2),
    ];
    let annotated = read(fields, &with_classes()).annotated.expect("pictures");
    let boxes: Vec<usize> = annotated.samples.iter().map(|s| s.boxes.len()).collect();
    // A padding row is not a box.
    assert_eq!(boxes, [1, 2]);
    let name = |k: usize, n: usize| annotated.samples[k].boxes[n].name.clone();
    assert_eq!(name(0, 0).as_deref(), Some("dog"));
    assert_eq!(name(1, 1).as_deref(), Some("cat"));
    assert_eq!(annotated.samples[1].classes, Some((3, 1)));
}

#[test]
fn relative_detr_boxes_become_pixel_corners() {
    let fields = vec![
        pictures("[\"pixel_values\"]", &[1, 3, 100, 200], 1),
        numbers(
            "[\"labels\"][0][\"boxes\"]",
            "torch.float32",
            &[1, 4],
            &[0.5, 0.5, 0.5, 1.0],
        ),
        numbers(
            "[\"labels\"][0][\"class_labels\"]",
            "torch.int64",
            &[1],
            &[2.0],
        ),
    ];
    let annotated = read(fields, &with_classes()).annotated.expect("pictures");
    let boxed = &annotated.samples[0].boxes[0];
    assert_eq!(boxed.corners, [50.0, 0.0, 150.0, 100.0]);
    assert_eq!(boxed.name.as_deref(), Some("dog"));
}

#[test]
fn plain_pictures_of_one_size_have_no_annotations() {
    let fields = vec![
        pictures("[0]", &[4, 3, 60, 80], 4),
        numbers("[1]", "torch.int64", &[4], &[1., 2., 0., 1.]),
    ];
    assert_eq!(read(fields, &with_classes()).annotated, None);
    let single = vec![
        pictures("[0][0]", &[3, 6, 8], 1),
        pictures("[0][1]", &[3, 9, 9], 1),
    ];
    let annotated = read(single, &RunInfo::default())
        .annotated
        .expect("pictures");
    assert_eq!(annotated.samples.len(), 2);
}

#[test]
fn several_columns_become_a_table() {
    let fields = vec![
        numbers("[\"age\"]", "torch.int64", &[3], &[31., 7., 50.]),
        numbers("[\"height\"]", "torch.float64", &[3], &[1.8, f64::NAN, 1.6]),
        texts("[\"name\"]", &["Ada", "Bo", "Cy"]),
        Field::new("[\"city\"][0]", "NoneType", [], FieldData::Omitted),
        Field::new(
            "[\"city\"][1]",
            "str",
            [],
            FieldData::Text(vec!["Bonn".to_owned()]),
        ),
        Field::new("[\"city\"][2]", "NoneType", [], FieldData::Omitted),
        numbers(
            "[\"xyz\"]",
            "torch.float32",
            &[3, 2],
            &[1., 2., 3., 4., 5., 6.],
        ),
    ];
    let table = read(fields, &RunInfo::default()).table.expect("a table");
    let kinds: Vec<_> = table
        .columns
        .iter()
        .map(|c| format!("{} {}", c.name, c.kind))
        .collect();
    let expected = [
        "age int64",
        "height float64",
        "name str",
        "city str",
        "xyz float32 [2]",
    ];
    assert_eq!(
        (table.rows, kinds),
        (3, expected.map(str::to_owned).to_vec())
    );
    let nulls: Vec<usize> = table.columns.iter().map(Column::nulls).collect();
    assert_eq!(nulls, [0, 1, 0, 2, 0]);
    assert_eq!(table.columns[3].values[1], Value::Text("Bonn".to_owned()));
    assert_eq!(table.columns[4].values[2], Value::Numbers(vec![5.0, 6.0]));
    let one = vec![numbers("[\"age\"]", "torch.int64", &[3], &[1., 2., 3.])];
    assert_eq!(read(one, &RunInfo::default()).table, None);
}

#[test]
fn padding_comes_from_the_mask_or_the_collate_function() {
    let ids = [5., 6., 0., 7., 0., 0.];
    let masked = vec![
        numbers("[\"input_ids\"]", "torch.int64", &[2, 3], &ids),
        numbers(
            "[\"attention_mask\"]",
            "torch.int64",
            &[2, 3],
            &[1., 1., 1., 1., 0., 0.],
        ),
    ];
    let all = read(masked, &RunInfo::default()).sequences;
    let lengths =
        |all: &[Sequences]| -> Vec<usize> { all[0].rows.iter().map(SequenceRow::len).collect() };
    assert_eq!(
        (all.len(), all[0].padding, lengths(&all)),
        (1, Padding::Mask, vec![3, 1])
    );
    let field = || vec![numbers("", "torch.int64", &[2, 3], &ids)];
    let info = RunInfo {
        options: RunOptions {
            collate: Collate::Pad(0.0),
            ..RunOptions::default()
        },
        ..RunInfo::default()
    };
    let padded = read(field(), &info).sequences;
    assert_eq!(lengths(&padded), [2, 1]);
    assert!((padded[0].padding_share() - 0.5).abs() < 1e-9);
    assert!(read(field(), &RunInfo::default()).sequences.is_empty());
}

#[test]
fn curves_and_spectrograms_are_assigned_to_their_waveforms() {
    let derived =
        |name: &str, dtype: &str, shape: &[i64], data| Field::new(name, dtype, shape, data);
    let fields = vec![
        numbers("[\"waveform\"]", "torch.float32", &[2, 1, 16_000], &[0.0]),
        derived(
            "[\"waveform\"].envelope",
            ENVELOPE,
            &[2, 1, 2, 2],
            FieldData::Numbers(vec![-1., 1., -0.5, 0.5, 0., 0., -2., 0.1]),
        ),
        Field {
            dtype: SPECTROGRAM.to_owned(),
            ..pictures("[\"waveform\"].spectrogram", &[2, 6, 8], 2)
        },
        numbers("[\"rate\"]", "torch.int64", &[2], &[8000., 8000.]),
    ];
    let views = read(fields, &RunInfo::default());
    let [waves] = views.waveforms.as_slice() else {
        panic!("{views:?}")
    };
    assert_eq!(
        (waves.field, waves.frames, waves.spectrograms),
        (0, 16_000, Some(2))
    );
    assert_eq!(waves.curves[1][0][1], [-2.0, 0.1]);
    assert_eq!(
        (waves.peak(), waves.rates.as_slice()),
        (2.0, [8000.0, 8000.0].as_slice())
    );
    assert_eq!(views.annotated, None);
}

fn any_field() -> impl Strategy<Value = Field> {
    let name = prop::sample::select(vec![
        "",
        "[0]",
        "[0][0]",
        "[0][1]",
        "[1][0][\"boxes\"]",
        "[1][1][\"boxes\"]",
        "[1][0][\"labels\"]",
        "[\"boxes\"]",
        "[\"masks\"]",
        "[\"mask\"]",
        "[1][0][\"keypoints\"]",
        "[\"captions\"]",
        "[\"input_ids\"]",
        "[\"attention_mask\"]",
        "[\"waveform\"]",
        "[\"waveform\"].envelope",
        "[\"waveform\"].spectrogram",
    ]);
    let dtype = prop::sample::select(vec![
        "torch.int64",
        "torch.float32",
        "str",
        ENVELOPE,
        SPECTROGRAM,
    ]);
    let size = prop::sample::select(vec![-1i64, 0, 1, 2, 3, 4, 7, i64::MAX]);
    let shape = prop::collection::vec(size, 0..5);
    let value = prop::sample::select(vec![f64::NAN, f64::INFINITY, -1.0, 0.0, 0.5, 1.0, 3.0]);
    let data = prop_oneof![
        Just(FieldData::Omitted),
        prop::collection::vec(value, 0..20).prop_map(FieldData::Numbers),
        prop::collection::vec("[a-z]{0,3}", 0..4).prop_map(FieldData::Text),
        (0u32..5, 0u32..5, 0u8..5, 0usize..60).prop_map(|(width, height, channels, len)| {
            FieldData::Pictures(Pictures {
                width,
                height,
                channels,
                pixels: vec![9; len],
            })
        }),
    ];
    (name, dtype, shape, data)
        .prop_map(|(name, dtype, shape, data)| Field::new(name, dtype, shape, data))
}

proptest! {
    /// Recordings are untrusted input.
    #[test]
    fn any_batch_can_be_read(fields in prop::collection::vec(any_field(), 0..12), pad in any::<bool>()) {
        let collate = if pad { Collate::Pad(0.0) } else { Collate::List };
        let info = RunInfo {
            options: RunOptions { collate, ..RunOptions::default() },
            ..with_classes()
        };
        let count = fields.len();
        let views = read(fields, &info);
        for sample in views.annotated.iter().flat_map(|a| &a.samples) {
            prop_assert!(sample.picture.0 < count && sample.size.0 >= 1.0);
        }
        for sequences in &views.sequences {
            prop_assert!((0.0..=1.0).contains(&sequences.padding_share()));
        }
    }
}
