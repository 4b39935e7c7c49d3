//! How many processors there are.

/// Processor cores that the program may use, at least 1.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
