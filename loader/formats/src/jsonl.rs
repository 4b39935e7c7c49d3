//! A JSON value a line.
