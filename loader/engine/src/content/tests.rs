use super::*;
use crate::value::{DType, Mapping};
use loadscope_trace::Pictures;
use proptest::prelude::*;
use tch::{Device, Kind, Tensor};

fn fields(value: Value) -> Vec<Field> {
    describe(BatchId::default(), &value, &ContentLimits::default()).fields
}

fn pictures(tensor: Tensor) -> Pictures {
    match fields(tensor.into()).remove(0).data {
        FieldData::Pictures(pictures) => pictures,
        other => panic!("no pictures but {other:?}"),
    }
}

#[test]
fn field_names_are_python_index_expressions() {
    let labels = || Value::from(Tensor::from_slice(&[3i64, 5, 4]));
    let value = Value::List(vec![
        labels(),
        Value::dict([
            ("label", labels()),
            ("boxes", Value::Tuple(vec![Value::Int(1), Value::None])),
        ]),
        Value::List(vec!["a".into(), "b".into()]),
        vec![1u8, 2].into(),
    ]);
    let fields = fields(value);
    let names: Vec<&str> = fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "[0]",
            "[1][\"label\"]",
            "[1][\"boxes\"][0]",
            "[1][\"boxes\"][1]",
            "[2]",
            "[3]"
        ]
    );
    let dtypes: Vec<&str> = fields.iter().map(|f| f.dtype.as_str()).collect();
    assert_eq!(
        dtypes,
        [
            "torch.int64",
            "torch.int64",
            "int",
            "NoneType",
            "str",
            "bytes"
        ]
    );
    assert_eq!(
        (fields[0].min, fields[0].max, fields[0].mean),
        (Some(3.0), Some(5.0), Some(4.0))
    );
    assert_eq!(fields[0].data, FieldData::Numbers(vec![3.0, 5.0, 4.0]));
    assert_eq!(
        fields[4].data,
        FieldData::Text(vec!["a".to_owned(), "b".to_owned()])
    );
}

#[test]
fn statistics_skip_nan_and_infinity() {
    let tensor = Tensor::from_slice(&[f32::NAN, 1.0, f32::INFINITY, 3.0]);
    let field = &fields(tensor.into())[0];
    assert_eq!(
        (field.min, field.max, field.mean, field.nan),
        (Some(1.0), Some(3.0), Some(2.0), 1)
    );
    let field = &fields(Tensor::from_slice::<f64>(&[]).into())[0];
    assert_eq!((field.min, field.mean, field.nan), (None, None, 0));
    for kind in [
        Kind::Half,
        Kind::BFloat16,
        Kind::Int16,
        Kind::Double,
        Kind::Bool,
    ] {
        let tensor = Tensor::from_slice(&[0i64, 1, 1, 0]).to_kind(kind);
        let field = &fields(tensor.into())[0];
        assert_eq!(
            (field.min, field.max, field.mean),
            (Some(0.0), Some(1.0), Some(0.5))
        );
    }
}

#[test]
fn deviations_and_histograms_match_torch() {
    let values = [0.5f64, -2.0, 7.25, 3.0, 3.0, f64::INFINITY, f64::NAN, -9.5];
    let field = fields(Tensor::from_slice(&values).into()).remove(0);
    let finite: Vec<f64> = values.into_iter().filter(|v| v.is_finite()).collect();
    let finite = Tensor::from_slice(&finite);
    let std = f64::try_from(finite.std(true)).expect("a scalar");
    assert!((field.std.expect("more than one value") - std).abs() < 1e-12);
    assert_eq!((field.inf, field.nan), (1, 1));
    let bins = Vec::<f64>::try_from(finite.histc(32)).expect("numbers");
    let bins: Vec<u64> = bins.into_iter().map(|b| b as u64).collect();
    assert_eq!(field.histogram, bins);
    // Every whole number has its own bin if the range is small.
    let labels = fields(Tensor::from_slice(&[3i64, 5, 3, 4]).into()).remove(0);
    assert_eq!(labels.histogram, [2, 1, 1]);
    let far = fields(Tensor::from_slice(&[i64::MIN, i64::MAX]).into()).remove(0);
    assert_eq!(far.histogram.iter().sum::<u64>(), 2);
    // Far from zero, a sum of squares would lose all digits of the deviation (catastrophic cancellation).
    let far = fields(Tensor::from_slice(&[1e9f64, 1e9 + 1.0]).into()).remove(0);
    assert!((far.std.expect("two values") - 0.5f64.sqrt()).abs() < 1e-9);
    for same in [vec![4.0f64; 3], vec![1.0], vec![f64::MAX, f64::MIN]] {
        let field = fields(Tensor::from_slice(&same).into()).remove(0);
        assert!(field.histogram.is_empty(), "{field:?}");
    }
}

#[test]
fn small_images_keep_their_pixels() {
    let tensor = Tensor::arange(2 * 3 * 4 * 5, (Kind::Uint8, Device::Cpu)).reshape([2, 3, 4, 5]);
    let planar = pictures(tensor.shallow_clone());
    assert_eq!(
        (planar.width, planar.height, planar.channels, planar.count()),
        (5, 4, 3, 2)
    );
    assert_eq!(&planar.pixels[..6], [0, 20, 40, 1, 21, 41]);
    let interleaved = pictures(tensor.permute([0, 2, 3, 1]));
    assert_eq!(interleaved, planar);
    let grey = pictures(Tensor::arange(40, (Kind::Uint8, Device::Cpu)).reshape([2, 4, 5]));
    assert_eq!((grey.channels, grey.pixels), (1, (0..40).collect()));
}

#[test]
fn other_numbers_are_scaled_to_grey_levels() {
    let tensor = Tensor::from_slice(&[-1.0f32, 1.0, 0.0, f32::NAN])
        .repeat([4])
        .reshape([1, 4, 4]);
    assert_eq!(&pictures(tensor).pixels[..4], [0, 255, 128, 0]);
    let flat = Tensor::zeros([1, 4, 4], (Kind::Float, Device::Cpu));
    assert_eq!(pictures(flat).pixels, [0; 16]);
    let mask = Tensor::ones([1, 4, 4], (Kind::Bool, Device::Cpu));
    assert_eq!(pictures(mask).pixels, [255; 16]);
}

#[test]
fn large_images_are_shrunk_and_averaged() {
    let stripes = Tensor::from_slice(&[0u8, 200])
        .repeat([96 * 48])
        .reshape([1, 96, 96]);
    let small = pictures(stripes);
    assert_eq!((small.width, small.height), (48, 48));
    assert!(small.pixels.iter().all(|&p| p == 100));
    let wide = pictures(Tensor::zeros(
        [100, 3, 100, 1000],
        (Kind::Uint8, Device::Cpu),
    ));
    assert_eq!((wide.width, wide.height, wide.count()), (48, 4, 64));
}

proptest! {
    #[test]
    fn bytes_have_the_same_summary_as_integers(
        bytes in prop::collection::vec(any::<u8>(), 2..300),
        count in 1..3usize,
        (height, width) in (4..120usize, 4..120usize),
        channels in prop::sample::select(vec![1usize, 3]),
        planar in any::<bool>(),
    ) {
        let tensor = Tensor::from_slice(&bytes);
        let (narrow, wide) = (fields(tensor.shallow_clone().into()), fields(tensor.to_kind(Kind::Int).into()));
        let known = |f: &Field| (f.min, f.max, f.mean, f.histogram.clone());
        prop_assert_eq!(known(&narrow[0]), known(&wide[0]));
        let [one, other] = [&narrow[0], &wide[0]].map(|f| f.std.expect("two values"));
        prop_assert!((one - other).abs() < 1e-9, "{} {}", one, other);

        let sizes = [count, channels, height, width];
        let values: Vec<u8> = bytes.iter().copied().cycle().take(sizes.iter().product()).collect();
        let tensor = Tensor::from_slice(&values).reshape(sizes.map(|size| size as i64));
        let seen = match planar {
            true => tensor.shallow_clone(),
            false => tensor.permute([0, 2, 3, 1]).contiguous(),
        };
        let small = pictures(seen);
        let (w, h) = (small.width as usize, small.height as usize);
        prop_assert_eq!(small.pixels.len(), count * channels * w * h);
        let taps = |i: usize, from: usize, to: usize| [4 * i + 1, 4 * i + 3].map(|q| q * from / (4 * to));
        for (place, &pixel) in small.pixels.iter().enumerate() {
            let (channel, rest) = (place % channels, place / channels);
            let (x, y, picture) = (rest % w, rest / w % h, rest / w / h);
            let mut sum = 0.0;
            for y in taps(y, height, h) {
                for x in taps(x, width, w) {
                    sum += f64::from(values[((picture * channels + channel) * height + y) * width + x]);
                }
            }
            prop_assert_eq!(pixel, (sum / 4.0 + 0.5) as u8);
        }
    }
}

#[test]
fn unreadable_tensors_are_omitted() {
    let sparse = Tensor::eye(4, tch::kind::FLOAT_CPU).to_sparse(None, None::<&[i64]>, None);
    for tensor in [Tensor::new(), sparse] {
        assert_eq!(fields(tensor.into())[0].data, FieldData::Omitted);
    }
}

#[test]
fn complex_numbers_are_shown_as_text() {
    let parts = Tensor::from_slice(&[0.5, -1.0, 2.0, 0.0]);
    let numbers = parts.view([2, 2]).view_as_complex();
    let of = |value: Value| fields(value).remove(0);
    let field = of(numbers.shallow_clone().into());
    assert_eq!(field.dtype, "torch.complex128");
    let texts = |texts: &[&str]| FieldData::Text(texts.iter().map(|&t| t.to_owned()).collect());
    assert_eq!(field.data, texts(&["0.5-1j", "2+0j"]));
    let conjugate = numbers.to_kind(Kind::ComplexFloat).conj().view([1, 2]);
    assert_eq!(of(conjugate.into()).data, texts(&["0.5+1j, 2-0j"]));
    assert_eq!(of(numbers.get(0).into()).data, texts(&["0.5-1j"]));
    assert_eq!(of(Value::Complex(1.5, 2.0)).data, texts(&["1.5+2j"]));
    let wide = Tensor::zeros([2, 30], (Kind::ComplexHalf, Device::Cpu));
    let FieldData::Text(rows) = of(wide.into()).data else {
        panic!("texts");
    };
    assert_eq!((rows.len(), rows[0].ends_with(", …")), (2, true));
    for size in [vec![0], vec![2, 0], vec![0, 3]] {
        let none = Tensor::zeros(&size[..], (Kind::ComplexFloat, Device::Cpu));
        let kept = of(none.into()).data;
        assert!(matches!(kept, FieldData::Omitted | FieldData::Text(_)));
    }
}

#[test]
fn large_containers_have_a_bounded_description() {
    let many = Value::List((0..10_000).map(Value::Int).collect());
    assert_eq!(fields(many).len(), ContentLimits::default().fields);
    let mut deep = Value::Int(1);
    for _ in 0..500 {
        deep = Value::List(vec![deep]);
    }
    assert!(fields(deep).is_empty());
    let long = fields("ä".repeat(1000).as_str().into()).remove(0).data;
    assert!(matches!(long, FieldData::Text(t) if t[0].chars().count() == TEXT_CHARS + 1));
}

proptest! {
    #[test]
    fn any_shape_is_described_within_the_limits(
        shape in prop::collection::vec(0i64..9, 0..5),
        kind in 0usize..7,
        side in 0u32..6,
        samples in 0usize..4,
        few in 0usize..40,
    ) {
        let kinds = [
            Kind::Uint8, Kind::Int64, Kind::Float, Kind::Double, Kind::Bool, Kind::Half, Kind::BFloat16,
        ];
        let tensor = Tensor::ones(&shape, (kinds[kind], Device::Cpu));
        let limits = ContentLimits { side, samples, numbers: few, elements: few, ..ContentLimits::default() };
        let content = describe(BatchId::default(), &tensor.into(), &limits);
        let field = &content.fields[0];
        prop_assert_eq!(&field.shape, &shape);
        match &field.data {
            FieldData::Pictures(p) => {
                prop_assert!(p.width <= side.max(1) && p.height <= side.max(1));
                prop_assert_eq!(p.count() * p.stride(), p.pixels.len());
                prop_assert!(p.count() <= samples);
            }
            FieldData::Numbers(numbers) => prop_assert!(numbers.len() <= few),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}

#[test]
fn numpy_values_and_other_objects_are_described() {
    let pixels = DType::UInt16
        .convert(&Tensor::from_slice(&[1i64, 65535, 3]))
        .unwrap();
    let value = Value::Map(Mapping::new(
        "OrderedDict",
        vec![
            (1.into(), NdArray::Numbers(pixels.shallow_clone()).into()),
            ("t".into(), pixels.into()),
            ("s".into(), NumpyScalar::Number(Tensor::from(1.5f32)).into()),
            (
                "n".into(),
                Value::List(vec![NumpyScalar::Str("a".to_owned()).into()]),
            ),
            ("o".into(), Value::Other("set".into())),
            ("b".into(), Value::BigInt(1 << 70)),
            ("r".into(), Value::range(3, 5)),
        ],
    ));
    let fields = fields(value);
    let names_and_dtypes: Vec<(&str, &str)> = fields
        .iter()
        .map(|f| (f.name.as_str(), f.dtype.as_str()))
        .collect();
    let expected = [
        ("[1]", "numpy.uint16"),
        ("[\"t\"]", "torch.uint16"),
        ("[\"s\"]", "numpy.float32"),
        ("[\"n\"]", "str"),
        ("[\"o\"]", "set"),
        ("[\"b\"]", "int"),
        ("[\"r\"][0]", "int"),
        ("[\"r\"][1]", "int"),
    ];
    assert_eq!(names_and_dtypes, expected);
    assert_eq!(
        (fields[0].max, fields[1].max),
        (Some(65535.0), Some(65535.0))
    );
    assert!(matches!(&fields[2].data, FieldData::Numbers(n) if n == &[1.5]));
}
