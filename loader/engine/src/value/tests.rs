use super::*;
use tch::TchError;

fn nested() -> Value {
    Value::dict([
        ("image", Tensor::from_slice(&[1u8, 2, 3]).into()),
        (
            "rest",
            Value::List(vec![
                (Tensor::from_slice(&[1.5f32]), 7i64).into(),
                "text".into(),
                Value::None,
            ]),
        ),
    ])
}

#[test]
fn clones_are_equal_and_share_tensors() {
    let (a, b) = (nested(), nested());
    let clone = a.shallow_clone();
    assert!(a.same(&clone) && a.same(&b));
    let pointers =
        |v: &Value| -> Vec<_> { v.tensors().iter().map(|t| t.data_ptr() as usize).collect() };
    assert_eq!(pointers(&a), pointers(&clone));
    assert_ne!(pointers(&a), pointers(&b));
    assert_eq!(a.nbytes(), 3 + 4 + 8 + 4);
}

#[test]
fn same_distinguishes_types_and_shapes() {
    let different: Vec<Value> = vec![
        1i64.into(),
        1.0f64.into(),
        true.into(),
        0.0.into(),
        (-0.0).into(),
        "1".into(),
        Value::None,
        Value::List(vec![]),
        Value::Tuple(vec![]),
        Tensor::from_slice(&[1i64]).into(),
        Tensor::from_slice(&[1i32]).into(),
        Tensor::from_slice(&[1i64, 1]).into(),
        Tensor::from_slice(&[1i64, 1]).reshape([1, 2]).into(),
    ];
    for (i, a) in different.iter().enumerate() {
        for (j, b) in different.iter().enumerate() {
            assert_eq!(a.same(b), i == j, "{a:?} and {b:?}");
        }
    }
    assert!(Value::Float(f64::NAN).same(&Value::Float(f64::NAN)));
    let strided = Tensor::from_slice(&[1u8, 9, 2, 9])
        .reshape([2, 2])
        .select(1, 0);
    assert!(Value::from(strided).same(&Tensor::from_slice(&[1u8, 2]).into()));
}

#[test]
fn undefined_and_sparse_tensors_have_no_dense_bytes() {
    assert!(!is_plain(&Tensor::new()));
    assert!(dense_bytes(&Tensor::new()).is_none());
    let sparse = Tensor::eye(2, tch::kind::FLOAT_CPU).to_sparse(None, None::<&[i64]>, None);
    assert!(!is_plain(&sparse));
    assert_eq!(Value::from(Tensor::new()).nbytes(), 0);
}

#[test]
fn libtorch_backtraces_are_cut_from_errors() {
    let error = TchError::Torch("wrong\nException raised from …".to_owned());
    assert_eq!(
        torch_error("stack", &error).to_string(),
        "libtorch could not stack: wrong"
    );
}
