use super::*;
use crate::value::{DType, Key, NdArray, Sequence};
use proptest::prelude::*;
use tch::{Kind, Tensor};

fn ints(values: &[i64]) -> Value {
    Tensor::from_slice(values).into()
}

#[test]
fn strided_samples_are_stacked_like_torch_stack() {
    let base = Tensor::arange(6, (Kind::Int64, tch::Device::Cpu)).reshape([2, 3]);
    for site in [CollateSite::Main, CollateSite::Worker] {
        let batch = vec![base.transpose(0, 1).into(), base.reshape([3, 2]).into()];
        let stacked = default_collate(batch, site).unwrap();
        let expected = Tensor::stack(&[base.transpose(0, 1), base.reshape([3, 2])], 0);
        assert!(stacked.same(&expected.into()));
    }
}

#[test]
fn undefined_and_mixed_tensors_are_errors() {
    let undefined = default_collate(vec![Tensor::new().into()], CollateSite::Main);
    assert!(undefined.is_err());
    let worker = default_collate(vec![ints(&[1]), 2i64.into()], CollateSite::Worker);
    assert_eq!(
        worker.unwrap_err().to_string(),
        "AttributeError: 'int' object has no attribute 'numel'"
    );
}

fn number(kind: Kind, value: f64) -> Value {
    NumpyScalar::Number(Tensor::from(value).to_kind(kind)).into()
}

fn array(values: &[i64]) -> Value {
    NdArray::Numbers(Tensor::from_slice(values)).into()
}

fn wide(values: &[i64], dtype: DType) -> Value {
    NdArray::Numbers(dtype.convert(&Tensor::from_slice(values)).unwrap()).into()
}

#[test]
fn numpy_numbers_decide_the_dtype() {
    let dtype = |batch: Vec<Value>| {
        let batch = default_collate(batch, CollateSite::Main).unwrap();
        DType::of(batch.tensors()[0]).unwrap().numpy_name()
    };
    let (f4, f8, i4) = (Kind::Float, Kind::Double, Kind::Int);
    assert_eq!(dtype(vec![number(f4, 1.0), number(f8, 2.0)]), "float64");
    assert_eq!(dtype(vec![number(i4, 1.0), number(f4, 2.5)]), "float32");
    assert_eq!(
        dtype(vec![number(Kind::Uint8, 1.0), number(i4, 300.0)]),
        "int32"
    );
    assert_eq!(dtype(vec![number(f4, 1.5), Value::Float(2.5)]), "float32");
    assert_eq!(dtype(vec![Value::Int(1), number(f8, 2.0)]), "float64");
    assert_eq!(dtype(vec![Value::Float(1.5), number(f4, 2.0)]), "float64");
    assert_eq!(
        dtype(vec![Value::BigInt(1 << 70), Value::Float(1.5)]),
        "float32"
    );
    assert_eq!(dtype(vec![array(&[1, 2]), ints(&[3, 4])]), "int64");
    assert_eq!(dtype(vec![array(&[1, 2]), Value::range(3, 5)]), "int64");
    for unsigned in [DType::UInt16, DType::UInt32, DType::UInt64] {
        let batch = vec![wide(&[1, 65535], unsigned), wide(&[2, 3], unsigned)];
        assert_eq!(dtype(batch), unsigned.numpy_name());
    }
}

/// Tests errors that no case of `tests/reference` has.
#[test]
fn mixed_values_fail_as_in_python() {
    let key = |key: Key| Value::dict([(key, Value::Int(1))]);
    let tuple = || Value::Tuple(vec![1i64.into(), 2i64.into()]);
    let tuple_key = Key::Tuple(vec![1.into(), "a".into()]);
    for (batch, expected) in [
        (
            vec![array(&[1, 2]), 3i64.into()],
            "RuntimeError: stack expects each tensor to be equal size, but got [2] at entry 0 and [] at entry 1",
        ),
        (
            vec![ints(&[1, 2]), array(&[1, 2])],
            "TypeError: expected Tensor as element 1 in argument 0, but got numpy.ndarray",
        ),
        (
            vec![1i64.into(), tuple()],
            "TypeError: 'tuple' object cannot be interpreted as an integer",
        ),
        (vec![key(tuple_key), key(2.into())], "KeyError: (1, 'a')"),
    ] {
        let error = default_collate(batch, CollateSite::Main).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn lazy_conjugates_are_stacked_as_conjugated_numbers() {
    let number = |im: f64| {
        Tensor::from_slice(&[1.0, im])
            .view([1, 2])
            .view_as_complex()
    };
    let batch = || vec![number(3.0).into(), number(2.0).conj().into()];
    for site in [CollateSite::Main, CollateSite::Worker] {
        let stacked = default_collate(batch(), site).unwrap();
        let parts = stacked.tensors()[0].view_as_real();
        let parts = Vec::<f64>::try_from(parts.reshape([-1])).unwrap();
        assert_eq!(parts, [1.0, 3.0, 1.0, -2.0]);
    }
    let first = number(2.0).conj();
    let refused = default_collate(vec![first.into()], CollateSite::Worker).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "RuntimeError: DispatchKey Conjugate doesn't correspond to a device"
    );
    assert!(Value::from(number(2.0).conj()).same(&number(-2.0).into()));
    let negative = number(2.0).conj().imag();
    let stacked = default_collate(vec![negative.into()], CollateSite::Main).unwrap();
    assert_eq!(f64::try_from(stacked.tensors()[0]).unwrap(), -2.0);
}

#[test]
fn containers_keep_their_types_as_in_python() {
    let deque = |n: i64| {
        Value::Sequence(Sequence {
            name: "deque".into(),
            keeps_type: true,
            items: vec![n.into(), (n + 1).into()],
        })
    };
    let batch = default_collate(vec![deque(1), deque(5)], CollateSite::Main).unwrap();
    assert_eq!(batch.type_name(), "deque");
    assert_eq!(Vec::<i64>::try_from(batch.tensors()[1]).unwrap(), [2, 6]);
    // `True` is the same key as 1.
    let dict = |key: Key| Value::dict([(key, Value::Int(1))]);
    let batch = default_collate(
        vec![dict(1.into()), dict(Key::Bool(true))],
        CollateSite::Main,
    );
    assert!(batch.unwrap().same(&Value::dict([(1, ints(&[1, 1]))])));
    let rows = Value::List(vec![1i64.into(), 2i64.into()]);
    let batch = default_collate(vec![rows, array(&[3, 4])], CollateSite::Main).unwrap();
    assert!(batch.same(&Value::List(vec![ints(&[1, 3]), ints(&[2, 4])])));
    let date = || {
        Value::Scalar(NumpyScalar::Other {
            type_name: "numpy.datetime64".into(),
        })
    };
    assert!(
        default_convert(date())
            .unwrap_err()
            .to_string()
            .contains("type numpy.datetime64.")
    );
    let bytes = default_convert(NumpyScalar::Bytes(vec![97]).into()).unwrap_err();
    assert_eq!(
        bytes.to_string(),
        "TypeError: new(): invalid data type 'numpy.bytes_'"
    );
}

/// Generates samples of one random structure with different contents.
fn samples() -> impl Strategy<Value = Vec<Value>> {
    let leaf = prop_oneof![
        Just("int"),
        Just("float"),
        Just("bool"),
        Just("str"),
        Just("bytes"),
        Just("tensor"),
        Just("none")
    ];
    #[derive(Clone, Debug)]
    enum Shape {
        Leaf(&'static str),
        Node(&'static str, Vec<Shape>),
    }
    let tree = leaf
        .prop_map(Shape::Leaf)
        .prop_recursive(3, 12, 3, |inner| {
            let kind = prop_oneof![Just("list"), Just("tuple"), Just("map")];
            (kind, prop::collection::vec(inner, 0..3))
                .prop_map(|(kind, items)| Shape::Node(kind, items))
        });
    fn build(shape: &Shape, n: i64) -> Value {
        match shape {
            Shape::Leaf("int") => Value::Int(n),
            Shape::Leaf("float") => Value::Float(n as f64),
            Shape::Leaf("bool") => Value::Bool(n % 2 == 0),
            Shape::Leaf("str") => Value::Str(n.to_string()),
            Shape::Leaf("bytes") => Value::Bytes(vec![n as u8]),
            Shape::Leaf("tensor") => Tensor::from_slice(&[n as f32, 1.0]).into(),
            Shape::Leaf(_) => Value::None,
            Shape::Node(kind, items) => {
                let items = items.iter().map(|item| build(item, n));
                match *kind {
                    "list" => Value::List(items.collect()),
                    "tuple" => Value::Tuple(items.collect()),
                    _ => Value::dict(items.enumerate().map(|(i, v)| (format!("k{i}"), v))),
                }
            }
        }
    }
    (prop::collection::vec(tree, 1..3), 1usize..5).prop_map(|(shapes, count)| {
        (0..count)
            .map(|i| build(&shapes[i % shapes.len()], i as i64))
            .collect()
    })
}

proptest! {
    #[test]
    fn default_collate_never_panics(batch in samples(), worker: bool) {
        let site = if worker { CollateSite::Worker } else { CollateSite::Main };
        // Samples may differ in structure, so both outcomes are valid. Only a panic is not.
        let _ = default_collate(batch, site);
    }

    #[test]
    fn stacking_agrees_with_libtorch(
        count in 1usize..6,
        a in 0i64..5,
        b in 0i64..5,
        kinds in prop::collection::vec(0usize..6, 6),
        transpose: bool,
        worker: bool,
    ) {
        let choices = [Kind::Uint8, Kind::Int64, Kind::Float, Kind::Double, Kind::Bool, Kind::Half];
        let items: Vec<Tensor> = (0..count)
            .map(|i| {
                let size = if transpose { [b, a] } else { [a, b] };
                let t = Tensor::arange(a * b, (Kind::Int64, tch::Device::Cpu)).reshape(size) + i as i64;
                let t = t.to_kind(choices[kinds[i]]);
                if transpose { t.transpose(0, 1) } else { t }
            })
            .collect();
        let batch = items.iter().map(|t| Value::from(t.shallow_clone())).collect();
        let site = if worker { CollateSite::Worker } else { CollateSite::Main };
        let ours = default_collate(batch, site);
        let theirs = if worker {
            let out = Tensor::empty([0i64], (items[0].kind(), tch::Device::Cpu));
            Tensor::f_stack_out(&out, &items, 0)
        } else {
            Tensor::f_stack(&items, 0)
        };
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert!(ours.same(&theirs.into())),
            (Err(LoaderError::Python { message, .. }), Err(e)) => {
                prop_assert!(e.to_string().contains(&message), "{} / {}", e, message);
            }
            (ours, theirs) => prop_assert!(false, "{:?} / {:?}", ours, theirs),
        }
    }
}
