//! One POSIX tar archive, its files grouped into samples by key.
