//! SQLite files.

mod connection;
mod keyed;
mod streamed;

pub(super) use keyed::KeyedRows;
pub(super) use streamed::QueryStream;
