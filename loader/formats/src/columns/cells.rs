//! Conversion of column values to cells.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Int16Type,
    Int32Type, Int64Type,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, types};
use arrow_schema::{DataType, TimeUnit};
use loadscope_words::say;

use super::feature::Feature;
use super::files::binary;
use super::{dates, files};
use crate::array::{Array as Numbers, Dtype};
use crate::cell::Cell;
use crate::error::{Fault, FormatError, Place};

/// Returns value `row` of an array, like pyarrow's `to_pylist`. Unlike there, lists of numbers are arrays of their dtype.
#[allow(clippy::too_many_lines, reason = "one line a type")]
pub(super) fn cell(
    array: &dyn Array,
    row: usize,
    feature: &Feature,
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    if row >= array.len() || array.is_null(row) {
        return Ok(Cell::Null);
    }
    macro_rules! number {
        ($of:ident) => {
            primitive::<types::$of>(array, row)
        };
    }
    let found = match array.data_type() {
        DataType::Null => Some(Cell::Null),
        DataType::Boolean => array.as_boolean_opt().map(|a| Cell::Bool(a.value(row))),
        DataType::Int8 => number!(Int8Type).map(|n| Cell::Int(n.into())),
        DataType::Int16 => number!(Int16Type).map(|n| Cell::Int(n.into())),
        DataType::Int32 => number!(Int32Type).map(|n| Cell::Int(n.into())),
        DataType::Int64 => number!(Int64Type).map(Cell::Int),
        DataType::UInt8 => number!(UInt8Type).map(|n| Cell::Int(n.into())),
        DataType::UInt16 => number!(UInt16Type).map(|n| Cell::Int(n.into())),
        DataType::UInt32 => number!(UInt32Type).map(|n| Cell::Int(n.into())),
        DataType::UInt64 => number!(UInt64Type).map(|n| match i64::try_from(n) {
            Ok(n) => Cell::Int(n),
            Err(_) => Cell::BigInt(n.into()),
        }),
        DataType::Float16 => number!(Float16Type).map(|n| Cell::Float(n.to_f64())),
        DataType::Float32 => number!(Float32Type).map(|n| Cell::Float(n.into())),
        DataType::Float64 => number!(Float64Type).map(Cell::Float),
        DataType::Utf8 => array.as_string_opt::<i32>().map(|a| a.value(row).into()),
        DataType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| a.value(row).into()),
        DataType::Utf8View => array.as_string_view_opt().map(|a| a.value(row).into()),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => binary(array, row).map(|b| match feature {
            Feature::Picture => files::picture(b.to_vec(), place),
            _ => Cell::Bytes(b.to_vec().into()),
        }),
        DataType::Timestamp(unit, zone) => {
            let count = match unit {
                TimeUnit::Second => number!(TimestampSecondType),
                TimeUnit::Millisecond => number!(TimestampMillisecondType),
                TimeUnit::Microsecond => number!(TimestampMicrosecondType),
                TimeUnit::Nanosecond => number!(TimestampNanosecondType),
            };
            count
                .and_then(|count| dates::timestamp(count, *unit, zone.is_some()))
                .map(Cell::from)
        }
        DataType::Date32 => number!(Date32Type).and_then(dates::date).map(Cell::from),
        DataType::Date64 => number!(Date64Type).and_then(dates::date_ms).map(Cell::from),
        DataType::Time32(unit) | DataType::Time64(unit) => {
            let count = match unit {
                TimeUnit::Second => number!(Time32SecondType).map(i64::from),
                TimeUnit::Millisecond => number!(Time32MillisecondType).map(i64::from),
                TimeUnit::Microsecond => number!(Time64MicrosecondType),
                TimeUnit::Nanosecond => number!(Time64NanosecondType),
            };
            count
                .and_then(|count| dates::time(count, *unit))
                .map(Cell::from)
        }
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => number!(DurationSecondType),
            TimeUnit::Millisecond => number!(DurationMillisecondType),
            TimeUnit::Microsecond => number!(DurationMicrosecondType),
            TimeUnit::Nanosecond => number!(DurationNanosecondType),
        }
        .map(Cell::Int),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array, row),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array, row),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array, row),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array, row),
        DataType::List(_) => match array.as_list_opt::<i32>() {
            Some(lists) => return list(&lists.value(row), feature, place),
            None => None,
        },
        DataType::LargeList(_) => match array.as_list_opt::<i64>() {
            Some(lists) => return list(&lists.value(row), feature, place),
            None => None,
        },
        DataType::FixedSizeList(..) => match array.as_fixed_size_list_opt() {
            Some(lists) => return list(&lists.value(row), feature, place),
            None => None,
        },
        DataType::Struct(_) => return fields(array, row, feature, place),
        DataType::Map(..) => return pairs(array, row, place),
        DataType::Dictionary(keys, _) => match entry(array, keys, row) {
            Some((key, values)) => return cell(values, key, feature, place),
            None => None,
        },
        DataType::RunEndEncoded(ends, _) => match (ends.data_type(), array) {
            (DataType::Int16, array) => return run::<Int16Type>(array, row, feature, place),
            (DataType::Int32, array) => return run::<Int32Type>(array, row, feature, place),
            (_, array) => return run::<Int64Type>(array, row, feature, place),
        },
        DataType::Interval(_)
        | DataType::Union(..)
        | DataType::ListView(_)
        | DataType::LargeListView(_) => None,
    };
    found.ok_or_else(|| {
        fault!(Damaged, place(), say!("its value cannot be written as {}", array.data_type());
            say!("Remove the row, or save the column as another type"))
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
    array.as_primitive_opt::<T>()?.values().get(row).copied()
}

/// Returns the position of a value in a dictionary, and the dictionary's values.
fn entry<'a>(array: &'a dyn Array, keys: &DataType, row: usize) -> Option<(usize, &'a ArrayRef)> {
    macro_rules! key {
        ($of:ident) => {{
            let dictionary = array.as_dictionary_opt::<types::$of>()?;
            let key = *dictionary.keys().values().get(row)?;
            Some((usize::try_from(key).ok()?, dictionary.values()))
        }};
    }
    match keys {
        DataType::Int8 => key!(Int8Type),
        DataType::Int16 => key!(Int16Type),
        DataType::Int32 => key!(Int32Type),
        DataType::Int64 => key!(Int64Type),
        DataType::UInt8 => key!(UInt8Type),
        DataType::UInt16 => key!(UInt16Type),
        DataType::UInt32 => key!(UInt32Type),
        DataType::UInt64 => key!(UInt64Type),
        _ => None,
    }
}

fn decimal<T: DecimalType>(array: &dyn Array, row: usize) -> Option<Cell> {
    let text = array.as_primitive_opt::<T>()?.value_as_string(row);
    text.parse().ok().map(Cell::Float)
}

/// Converts a list. Numbers of one dtype without nulls become an array.
fn list(
    items: &ArrayRef,
    feature: &Feature,
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    if let Feature::Array(sizes) = feature {
        return several_axes(items, sizes, place);
    }
    if let Some(numbers) = numbers(items, None) {
        return Ok(Cell::Array(numbers));
    }
    let element = feature.element();
    let cells = (0..items.len()).map(|row| cell(items, row, element, place));
    cells.collect::<Result<_, _>>().map(Cell::List)
}

/// Returns the numbers of an array. Returns `None` if it has nulls or other values.
fn numbers(items: &dyn Array, shape: Option<Vec<usize>>) -> Option<Numbers> {
    if items.null_count() > 0 {
        return None;
    }
    let shape = shape.unwrap_or_else(|| vec![items.len()]);
    macro_rules! bytes {
        ($of:ident, $dtype:ident) => {{
            let numbers = items.as_primitive_opt::<types::$of>()?;
            (Dtype::$dtype, numbers.values().inner().as_slice())
        }};
    }
    let (dtype, bytes) = match items.data_type() {
        DataType::Boolean => {
            let truth = items.as_boolean_opt()?.values().iter();
            let bytes: Vec<u8> = truth.map(u8::from).collect();
            return Numbers::new(Dtype::Bool, shape, bytes.into()).ok();
        }
        DataType::Int8 => bytes!(Int8Type, Int8),
        DataType::Int16 => bytes!(Int16Type, Int16),
        DataType::Int32 => bytes!(Int32Type, Int32),
        DataType::Int64 => bytes!(Int64Type, Int64),
        DataType::UInt8 => bytes!(UInt8Type, UInt8),
        DataType::UInt16 => bytes!(UInt16Type, UInt16),
        DataType::UInt32 => bytes!(UInt32Type, UInt32),
        DataType::UInt64 => bytes!(UInt64Type, UInt64),
        DataType::Float16 => bytes!(Float16Type, Float16),
        DataType::Float32 => bytes!(Float32Type, Float32),
        DataType::Float64 => bytes!(Float64Type, Float64),
        _ => return None,
    };
    Numbers::new(dtype, shape, bytes.to_vec().into()).ok()
}

/// Converts nested lists to one array.
fn several_axes(
    items: &ArrayRef,
    sizes: &[Option<usize>],
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    let refused = |what: String| {
        let remedy = say!("Correct the row, or the sizes in the features");
        FormatError::new(Fault::Damaged, place(), what, remedy)
    };
    let mut shape = vec![items.len()];
    let mut items = Arc::clone(items);
    // Lists of equal length are contiguous.
    while let Some(inner) = flattened(&items) {
        let lists = items.len().max(1);
        if !inner.1 || !inner.0.len().is_multiple_of(lists) {
            return Err(refused(say!("its lists differ in length").to_owned()));
        }
        shape.push(inner.0.len() / lists);
        items = inner.0;
    }
    let fits = shape.len() == sizes.len()
        && (shape.iter().zip(sizes))
            .all(|(size, wanted)| wanted.is_none_or(|wanted| wanted == *size));
    if !fits {
        let shown = crate::slices::format_shape(&shape);
        return Err(refused(say!(
            "its lists have the sizes {shown}, unlike the features"
        )));
    }
    let numbers = numbers(&items, Some(shape));
    numbers.map(Cell::Array).ok_or_else(|| {
        refused(say!("its lists contain nulls or values that are not numbers").to_owned())
    })
}

/// Returns the elements of lists. The second value is true if the lists have equal lengths and no nulls.
fn flattened(items: &dyn Array) -> Option<(ArrayRef, bool)> {
    fn equal(mut lengths: impl Iterator<Item = usize>) -> bool {
        let first = lengths.next();
        lengths.all(|length| Some(length) == first)
    }
    let whole = items.null_count() == 0;
    match items.data_type() {
        DataType::List(_) => {
            let lists = items.as_list_opt::<i32>()?;
            let equal = equal(lists.offsets().lengths());
            let begin = usize::try_from(lists.offsets().first()).ok()?;
            let end = usize::try_from(lists.offsets().last()).ok()?;
            Some((lists.values().slice(begin, end - begin), equal && whole))
        }
        DataType::LargeList(_) => {
            let lists = items.as_list_opt::<i64>()?;
            let equal = equal(lists.offsets().lengths());
            let begin = usize::try_from(lists.offsets().first()).ok()?;
            let end = usize::try_from(lists.offsets().last()).ok()?;
            Some((lists.values().slice(begin, end - begin), equal && whole))
        }
        DataType::FixedSizeList(..) => {
            Some((Arc::clone(items.as_fixed_size_list_opt()?.values()), whole))
        }
        _ => None,
    }
}

fn run<T: types::RunEndIndexType>(
    array: &dyn Array,
    row: usize,
    feature: &Feature,
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    let runs = array.as_any().downcast_ref::<arrow_array::RunArray<T>>();
    match runs {
        Some(runs) => cell(runs.values(), runs.get_physical_index(row), feature, place),
        None => Ok(Cell::Null),
    }
}

/// Converts a struct to a `dict`, or to an image or sound by its meaning.
fn fields(
    array: &dyn Array,
    row: usize,
    feature: &Feature,
    place: &dyn Fn() -> Place,
) -> Result<Cell, FormatError> {
    let Some(of) = array.as_struct_opt() else {
        return Ok(Cell::Null);
    };
    if matches!(feature, Feature::Picture | Feature::Sound) {
        return files::file(of, row, *feature == Feature::Sound, place);
    }
    let mut entries = Vec::with_capacity(of.num_columns());
    for (field, column) in of.fields().iter().zip(of.columns()) {
        let value = cell(column, row, feature.field(field.name()), place)?;
        entries.push((Arc::from(field.name().as_str()), value));
    }
    Ok(Cell::Map(entries))
}

/// Converts a map to a list of pairs.
fn pairs(array: &dyn Array, row: usize, place: &dyn Fn() -> Place) -> Result<Cell, FormatError> {
    let Some(map) = array.as_map_opt() else {
        return Ok(Cell::Null);
    };
    let entries = map.value(row);
    let (Some(keys), Some(values)) = (entries.columns().first(), entries.columns().get(1)) else {
        return Ok(Cell::Null);
    };
    let pair = |row| {
        let key = cell(keys, row, &Feature::Plain, place)?;
        Ok(Cell::Tuple(vec![
            key,
            cell(values, row, &Feature::Plain, place)?,
        ]))
    };
    (0..entries.len())
        .map(pair)
        .collect::<Result<_, _>>()
        .map(Cell::List)
}
