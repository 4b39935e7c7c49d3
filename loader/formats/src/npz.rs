//! Several arrays of NumPy in a zip archive; slices of the first axis of each.
