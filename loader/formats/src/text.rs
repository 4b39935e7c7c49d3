//! Lines of words, as ids of a vocabulary.
