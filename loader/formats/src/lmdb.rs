//! An LMDB environment: bytes by key.
