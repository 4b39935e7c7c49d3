//! PostgreSQL servers.

mod column;
mod keyed;
mod link;
mod selection;
mod streamed;
mod value;

pub(super) use keyed::KeyedRows;
pub(super) use streamed::QueryStream;
