use super::*;
use crate::rows::Rows as _;
use proptest::prelude::*;

fn place() -> Place {
    Place::named("a.npy")
}

proptest! {
    /// Row-major and column-major arrays have the same numbers in both byte orders.
    #[test]
    fn memory_and_byte_orders_give_the_same_numbers(
        shape in prop::collection::vec(1usize..5, 1..5), start in 0usize..5, count in 0usize..5, big: bool,
    ) {
        let size: usize = shape.iter().product();
        let numbers: Vec<i32> = (0..size as i32).map(|n| n * 70_001).collect();
        // The same array in column-major order.
        let mut fortran = vec![0; size];
        for (at, &number) in numbers.iter().enumerate() {
            let (mut rest, mut to, mut step) = (at, 0, 1);
            let mut indices: Vec<usize> = shape.iter().rev().map(|&n| { let i = rest % n; rest /= n; i }).collect();
            indices.reverse();
            for (index, &n) in indices.iter().zip(&shape) { to += index * step; step *= n; }
            fortran[to] = number;
        }
        let bytes = |numbers: &[i32]| -> Vec<u8> {
            numbers.iter().flat_map(|n| if big { n.to_be_bytes() } else { n.to_le_bytes() }).collect()
        };
        let endian = if big { Endian::BIG } else { Endian::LITTLE };
        let layout = |order| Layout { dtype: Dtype::Int32, shape: shape.clone(), order, endian };
        let c = Slices::new(layout(Order::C), bytes(&numbers).into(), &place()).unwrap();
        let f = Slices::new(layout(Order::Fortran), bytes(&fortran).into(), &place()).unwrap();
        let whole = Array::with_shape(shape.clone(), &numbers).unwrap();
        for index in 0..shape[0] {
            let expected = whole.get(index).unwrap();
            let expected = if expected.shape().is_empty() {
                Cell::Scalar(Scalar::new(Dtype::Int32, expected.bytes()).unwrap())
            } else {
                Cell::Array(expected)
            };
            prop_assert_eq!(c.get(index), Some(expected.clone()));
            prop_assert_eq!(f.get(index), Some(expected));
        }
        prop_assert_eq!(c.get(shape[0]), None);
        prop_assert_eq!(c.window(start, count), f.window(start, count));
        prop_assert_eq!(c.window(start, count).is_some(), start + count <= shape[0]);
    }
}

#[test]
fn booleans_are_read_as_0_or_1() {
    let layout = Layout {
        dtype: Dtype::Bool,
        shape: vec![1, 3],
        order: Order::C,
        endian: Endian::Native,
    };
    let slices = Slices::new(layout, vec![0, 1, 7].into(), &place()).unwrap();
    assert_eq!(slices.get(0), Some(Array::of(&[false, true, true]).into()));
}

#[test]
fn integer_arrays_with_a_label_name_are_labels() {
    let numbers = |dtype, bytes: Vec<u8>| {
        let layout = Layout {
            dtype,
            shape: vec![2],
            order: Order::C,
            endian: Endian::LITTLE,
        };
        Slices::new(layout, bytes.into(), &place()).unwrap()
    };
    let labels = |name: &str, slices: Slices| {
        Fields::new(vec![Field::ready(name, slices)], place(), Vec::new())
            .unwrap()
            .labels()
    };
    assert_eq!(
        labels("y_train", numbers(Dtype::UInt8, vec![3, 255])),
        Some(vec![3, 255])
    );
    assert_eq!(labels("ys", numbers(Dtype::UInt8, vec![3, 255])), None);
    assert_eq!(labels("label", numbers(Dtype::Int8, vec![3, 255])), None);
    assert_eq!(
        labels("label", numbers(Dtype::Int16, vec![3, 0, 0, 1])),
        Some(vec![3, 256])
    );
}

#[test]
fn arrays_of_different_lengths_are_refused() {
    let numbers = |n: usize| {
        let layout = Layout {
            dtype: Dtype::UInt8,
            shape: vec![n],
            order: Order::C,
            endian: Endian::Native,
        };
        Slices::new(layout, vec![0; n].into(), &place()).unwrap()
    };
    let error = Fields::new(
        vec![Field::ready("a", numbers(2)), Field::ready("b", numbers(3))],
        place(),
        Vec::new(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "a.npy: 'a' has 2 entries and 'b' has 3, but all arrays of a dataset must have the same length. Choose arrays with the same number of entries."
    );
    let asked = ["c".to_owned()];
    let error = chosen(["a", "b"], &asked, &place()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.npy, 'c': there is no such array. Available: 'a', 'b'."
    );
}
