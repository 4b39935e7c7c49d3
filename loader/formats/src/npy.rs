//! One array of NumPy, mapped to memory; slices of the first axis.
