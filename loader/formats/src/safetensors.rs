//! Tensors by name, mapped to memory; slices of the first axis of each.
