//! Bytes and texts of a row, for each Arrow representation.

use arrow_array::Array;
use arrow_array::cast::AsArray as _;
use arrow_schema::DataType;

pub(super) fn binary(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        DataType::Binary => array.as_binary_opt::<i32>().map(|a| a.value(row)),
        DataType::LargeBinary => array.as_binary_opt::<i64>().map(|a| a.value(row)),
        DataType::BinaryView => array.as_binary_view_opt().map(|a| a.value(row)),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt().map(|a| a.value(row)),
        _ => None,
    }
}

pub(super) fn text(array: &dyn Array, row: usize) -> Option<&str> {
    match array.data_type() {
        DataType::Utf8 => array.as_string_opt::<i32>().map(|a| a.value(row)),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| a.value(row)),
        DataType::Utf8View => array.as_string_view_opt().map(|a| a.value(row)),
        _ => None,
    }
}
