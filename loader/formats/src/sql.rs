//! Rows of a query to an SQLite file or a PostgreSQL server, by key or through a cursor.
