//! Tables as text, a row a line.
