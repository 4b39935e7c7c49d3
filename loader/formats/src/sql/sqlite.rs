//! Readers of an SQLite file: rows by key, and rows in sequence.

mod connection;
mod keyed;
mod streamed;

pub(super) use keyed::KeyedRows;
pub(super) use streamed::QueryStream;
