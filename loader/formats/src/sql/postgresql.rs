//! Readers of a PostgreSQL server: rows by key, and rows through a cursor.

mod column;
mod connection;
mod keyed;
mod selection;
mod streamed;
mod value;

pub(super) use keyed::KeyedRows;
pub(super) use streamed::QueryStream;
