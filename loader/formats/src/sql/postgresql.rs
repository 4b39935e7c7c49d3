//! PostgreSQL servers.

mod column;
mod connection;
mod keyed;
mod selection;
mod streamed;
mod value;

pub(super) use keyed::KeyedRows;
pub(super) use streamed::QueryStream;
