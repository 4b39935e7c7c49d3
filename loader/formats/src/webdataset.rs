//! Shards of POSIX tar archives, split over workers and ranks, shuffled.
