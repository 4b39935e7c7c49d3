//! Parquet tables, written in row groups.

use std::io::Write;
use std::sync::Arc;

use loadscope_trace::{Run, RunId};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;

use super::cell::Failure;
use super::cell::{Cell, Column, Kind};
use super::table::Table;

/// Number of rows per row group. A row group is in memory until it is written.
const GROUP: usize = 1 << 17;

impl From<ParquetError> for Failure {
    fn from(error: ParquetError) -> Self {
        match error {
            ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
                Ok(cause) => Self::Io(*cause),
                Err(other) => Self::Other(other.to_string()),
            },
            other => Self::Other(other.to_string()),
        }
    }
}

/// Writes a table.
pub(super) fn write(
    runs: &[(RunId, &Run)],
    names: &[String],
    table: Table,
    file: impl Write + Send,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<(), Failure> {
    let columns = table.columns(runs);
    let fields = columns.iter().map(|c| Ok(Arc::new(field(c)?)));
    let fields = fields.collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Type::group_type_builder(table.name())
        .with_fields(fields)
        .build()?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by(concat!("loadscope ", env!("CARGO_PKG_VERSION")).to_owned())
        .build();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties))?;
    let mut group: Vec<Values> = columns.iter().map(|c| Values::new(c.kind)).collect();
    let mut rows = 0;
    table.rows(runs, names, progress, &mut |row| {
        for (values, cell) in group.iter_mut().zip(row) {
            values.push(cell);
        }
        rows += 1;
        if rows == GROUP {
            rows = 0;
            write_group(&mut writer, &mut group)?;
        }
        Ok(())
    })?;
    if rows > 0 {
        write_group(&mut writer, &mut group)?;
    }
    writer.close()?;
    Ok(())
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Int => (Physical::INT64, None),
        Kind::Unsigned => {
            let integer = LogicalType::integer(64, false);
            (Physical::INT64, Some(integer))
        }
        Kind::Float => (Physical::DOUBLE, None),
        Kind::Bool => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
    };
    Type::primitive_type_builder(&column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()
}

fn write_group(
    writer: &mut SerializedFileWriter<impl Write + Send>,
    group: &mut [Values],
) -> Result<(), Failure> {
    let mut rows = writer.next_row_group()?;
    for values in group {
        let Some(mut column) = rows.next_column()? else {
            break;
        };
        values.write(&mut column)?;
        column.close()?;
        values.clear();
    }
    rows.close()?;
    Ok(())
}

/// Column values of a row group, and the rows that have one.
struct Values {
    there: Vec<i16>,
    data: Data,
}

enum Data {
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Bools(Vec<bool>),
    Texts(Vec<ByteArray>),
}

impl Values {
    fn new(kind: Kind) -> Self {
        Self {
            there: Vec::new(),
            data: match kind {
                Kind::Int | Kind::Unsigned => Data::Ints(Vec::new()),
                Kind::Float => Data::Floats(Vec::new()),
                Kind::Bool => Data::Bools(Vec::new()),
                Kind::Text => Data::Texts(Vec::new()),
            },
        }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        let is_there = match (&mut self.data, cell) {
            (Data::Ints(all), Cell::Int(n)) => {
                all.push(*n);
                true
            }
            (Data::Ints(all), Cell::Unsigned(n)) => {
                all.push(n.cast_signed());
                true
            }
            (Data::Floats(all), Cell::Float(x)) => {
                all.push(*x);
                true
            }
            (Data::Bools(all), Cell::Bool(b)) => {
                all.push(*b);
                true
            }
            (Data::Texts(all), Cell::Text(t)) => {
                // Consecutive equal texts are frequent, and share their bytes.
                let same = all.last().filter(|last| last.data() == t.as_bytes());
                let text = same.cloned().unwrap_or_else(|| ByteArray::from(*t));
                all.push(text);
                true
            }
            _ => false,
        };
        self.there.push(i16::from(is_there));
    }

    fn write(&self, column: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let there = Some(self.there.as_slice());
        match &self.data {
            Data::Ints(all) => column.typed::<Int64Type>().write_batch(all, there, None)?,
            Data::Floats(all) => column.typed::<DoubleType>().write_batch(all, there, None)?,
            Data::Bools(all) => column.typed::<BoolType>().write_batch(all, there, None)?,
            Data::Texts(all) => column
                .typed::<ByteArrayType>()
                .write_batch(all, there, None)?,
        };
        Ok(())
    }

    fn clear(&mut self) {
        self.there.clear();
        match &mut self.data {
            Data::Ints(all) => all.clear(),
            Data::Floats(all) => all.clear(),
            Data::Bools(all) => all.clear(),
            Data::Texts(all) => all.clear(),
        }
    }
}
