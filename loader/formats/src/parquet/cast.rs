//! Casts between the column types of files, like Arrow's safe casts.

use std::sync::Arc;

use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Float64Array, Int64Array, UInt64Array, new_null_array,
};
use arrow_schema::DataType;
use loadscope_words::say;

use crate::cell::Cell;
use crate::columns::plain;
use crate::error::{FormatError, Place};

/// Group of types with the same cast.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Null,
    Bool,
    Int,
    Float,
    Text,
}

fn kind(of: &DataType) -> Option<Kind> {
    Some(match of {
        DataType::Null => Kind::Null,
        DataType::Boolean => Kind::Bool,
        of if of.is_integer() => Kind::Int,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => Kind::Float,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Dictionary(_, of) if kind(of) == Some(Kind::Text) => Kind::Text,
        _ => return None,
    })
}

/// Returns true if a cast between the types exists.
pub(super) fn fits(from: &DataType, to: &DataType) -> bool {
    let numbers = [Kind::Bool, Kind::Int, Kind::Float];
    from == to
        || match (kind(from), kind(to)) {
            (Some(Kind::Null), _) | (Some(Kind::Text), Some(Kind::Text)) => true,
            (Some(from), Some(to)) => numbers.contains(&from) && numbers.contains(&to),
            _ => false,
        }
}

/// Casts an array to another type. Integers and floats have 64 bits, because samples do not keep the width.
pub(super) fn cast(
    array: &ArrayRef,
    to: &DataType,
    place: &Place,
) -> Result<ArrayRef, FormatError> {
    match (kind(array.data_type()), kind(to)) {
        (Some(Kind::Null), _) => return Ok(new_null_array(to, array.len())),
        (Some(Kind::Text), _) => return Ok(Arc::clone(array)),
        _ => {}
    }
    let cells = (0..array.len()).map(|row| plain(array, row));
    let cells: Vec<Cell> = cells.collect::<Result<_, _>>()?;
    let refused = |cell: &Cell| {
        let shown = match cell {
            Cell::Float(number) => format!("{number:?}"),
            Cell::BigInt(number) => number.to_string(),
            Cell::Int(number) => number.to_string(),
            _ => String::new(),
        };
        fault!(WrongType, place.clone(), say!("the value {shown} does not fit the type {to} of the first file");
            say!("Save the files with the same types"))
    };
    let fit = |cell: &Cell| match cell {
        Cell::Null => Ok(None),
        cell => converted(cell, to).map(Some).ok_or_else(|| refused(cell)),
    };
    let fitting: Vec<Option<Cell>> = cells.iter().map(fit).collect::<Result<_, _>>()?;
    macro_rules! array {
        ($of:ident, $($pattern:pat => $value:expr),*) => {
            Arc::new(fitting.iter().map(|cell| match cell {
                $(Some($pattern) => $value,)*
                _ => None,
            }).collect::<$of>())
        };
    }
    Ok(match kind(to) {
        Some(Kind::Bool) => array!(BooleanArray, Cell::Bool(truth) => Some(*truth)),
        Some(Kind::Float) => array!(Float64Array, Cell::Float(number) => Some(*number)),
        _ if *to == DataType::UInt64 => array!(
            UInt64Array,
            Cell::Int(number) => u64::try_from(*number).ok(),
            Cell::BigInt(number) => u64::try_from(*number).ok()
        ),
        _ => array!(Int64Array, Cell::Int(number) => Some(*number)),
    })
}

/// Casts a value like Arrow. Returns `None` if it would lose precision.
fn converted(cell: &Cell, to: &DataType) -> Option<Cell> {
    let int = match cell {
        Cell::Bool(truth) => i128::from(*truth),
        Cell::Int(number) => i128::from(*number),
        Cell::BigInt(number) => *number,
        Cell::Float(number) => return from_float(*number, to),
        _ => return None,
    };
    let exact = |bits: u32| (int.unsigned_abs() <= 1 << bits).then_some(Cell::Float(int as f64));
    match to {
        DataType::Boolean => Some(Cell::Bool(int != 0)),
        DataType::Float16 => exact(11),
        DataType::Float32 => exact(24),
        DataType::Float64 => exact(53),
        of => whole(int, of),
    }
}

fn from_float(number: f64, to: &DataType) -> Option<Cell> {
    match to {
        DataType::Boolean => Some(Cell::Bool(number != 0.0)),
        DataType::Float32 => Some(Cell::Float(f64::from(number as f32))),
        DataType::Float64 => Some(Cell::Float(number)),
        // Rounding to 16 bits is not supported.
        DataType::Float16 => None,
        of if number.fract() == 0.0 && number.abs() < 1e19 => whole(number as i128, of),
        _ => None,
    }
}

fn whole(number: i128, to: &DataType) -> Option<Cell> {
    let fits = match to {
        DataType::Int8 => i8::try_from(number).is_ok(),
        DataType::Int16 => i16::try_from(number).is_ok(),
        DataType::Int32 => i32::try_from(number).is_ok(),
        DataType::Int64 => i64::try_from(number).is_ok(),
        DataType::UInt8 => u8::try_from(number).is_ok(),
        DataType::UInt16 => u16::try_from(number).is_ok(),
        DataType::UInt32 => u32::try_from(number).is_ok(),
        DataType::UInt64 => u64::try_from(number).is_ok(),
        _ => false,
    };
    let cell = match i64::try_from(number) {
        Ok(number) => Cell::Int(number),
        Err(_) => Cell::BigInt(number),
    };
    fits.then_some(cell)
}
