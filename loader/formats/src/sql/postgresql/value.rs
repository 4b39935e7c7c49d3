//! Values of PostgreSQL's types, with psycopg's Python types where they exist.

use loadscope_words::say;
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, Type};

use crate::cell::Cell;
use crate::json::parse;
use crate::sql::columns::Raw;

/// Type of a column in the server's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    /// Number of arbitrary precision, requested as `float8`, because tensors have no higher precision.
    Numeric,
    Text,
    Bytes,
    Json,
    Bools,
    Ints2,
    Ints4,
    Ints8,
    Floats4,
    Floats8,
    Texts,
    /// Other type, requested as text.
    Other,
}

impl Kind {
    pub(super) fn of(of: &Type) -> Self {
        match *of {
            Type::BOOL => Self::Bool,
            Type::INT2 => Self::Int2,
            Type::INT4 => Self::Int4,
            Type::INT8 => Self::Int8,
            Type::FLOAT4 => Self::Float4,
            Type::FLOAT8 => Self::Float8,
            Type::NUMERIC => Self::Numeric,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR | Type::NAME => Self::Text,
            Type::BYTEA => Self::Bytes,
            Type::JSON | Type::JSONB => Self::Json,
            Type::BOOL_ARRAY => Self::Bools,
            Type::INT2_ARRAY => Self::Ints2,
            Type::INT4_ARRAY => Self::Ints4,
            Type::INT8_ARRAY => Self::Ints8,
            Type::FLOAT4_ARRAY => Self::Floats4,
            Type::FLOAT8_ARRAY => Self::Floats8,
            Type::TEXT_ARRAY | Type::VARCHAR_ARRAY => Self::Texts,
            _ => Self::Other,
        }
    }

    /// Returns the SQL expression of the column.
    pub(super) fn select_expression(self, column: &str) -> String {
        match self {
            Self::Numeric => format!("{column}::float8 AS {column}"),
            Self::Json | Self::Other => format!("{column}::text AS {column}"),
            _ => column.to_owned(),
        }
    }

    /// Returns the value in a row.
    pub(super) fn raw(self, row: &Row, column: usize) -> Result<Raw<'_>, String> {
        fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<Option<T>, String> {
            row.try_get(column).map_err(|e| e.to_string())
        }
        fn list<'r, T: FromSql<'r>>(
            row: &'r Row,
            column: usize,
            cell: impl Fn(T) -> Cell,
        ) -> Result<Option<Raw<'r>>, String> {
            let values = get::<Vec<Option<T>>>(row, column)?;
            let cells = |values: Vec<Option<T>>| {
                let cells = values.into_iter().map(|v| v.map_or(Cell::Null, &cell));
                Raw::Cell(Cell::List(cells.collect()))
            };
            Ok(values.map(cells))
        }
        let raw = match self {
            Self::Bool => get(row, column)?.map(|v: bool| Raw::Cell(Cell::Bool(v))),
            Self::Int2 => get(row, column)?.map(|v: i16| Raw::Int(v.into())),
            Self::Int4 => get(row, column)?.map(|v: i32| Raw::Int(v.into())),
            Self::Int8 => get(row, column)?.map(Raw::Int),
            Self::Float4 => get(row, column)?.map(|v| Raw::Float(shortest(v))),
            Self::Float8 | Self::Numeric => get(row, column)?.map(Raw::Float),
            Self::Text | Self::Other => get(row, column)?.map(Raw::Text),
            Self::Bytes => get(row, column)?.map(Raw::Bytes),
            Self::Json => match get::<&str>(row, column)? {
                Some(text) => {
                    let made = parse(text.as_bytes()).map_err(|e| {
                        let e = e.reason();
                        say!("the document cannot be read: {e}")
                    })?;
                    Some(Raw::Cell(made))
                }
                None => None,
            },
            Self::Bools => list(row, column, Cell::Bool)?,
            Self::Ints2 => list(row, column, |v: i16| Cell::Int(v.into()))?,
            Self::Ints4 => list(row, column, |v: i32| Cell::Int(v.into()))?,
            Self::Ints8 => list(row, column, Cell::Int)?,
            Self::Floats4 => list(row, column, |v| Cell::Float(shortest(v)))?,
            Self::Floats8 => list(row, column, Cell::Float)?,
            Self::Texts => list(row, column, |v: &str| v.into())?,
        };
        Ok(raw.unwrap_or(Raw::Cell(Cell::Null)))
    }
}

/// Converts a single-precision number through its shortest text, like psycopg.
fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}
