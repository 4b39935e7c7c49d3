//! Random times, numbers and texts.

use loadscope_trace::{BatchId, Nanos};
use proptest::prelude::*;
use proptest::sample::select;

/// Returns a time, which is usually ordinary and sometimes extreme.
pub fn time() -> impl Strategy<Value = Nanos> {
    let odd = select(vec![i64::MIN, -1, 0, 1, i64::MAX - 1, i64::MAX]);
    prop_oneof![6 => 0..1_000_000i64, 1 => any::<i64>(), 1 => odd].prop_map(Nanos)
}

/// Returns a number near 0 or near the end of its range.
pub fn number() -> impl Strategy<Value = u32> {
    prop_oneof![12 => 0..6u32, 1 => any::<u32>(), 1 => Just(u32::MAX), 1 => 1_048_000..1_049_000u32]
}

pub fn worker() -> impl Strategy<Value = u16> {
    prop_oneof![6 => 0..3u16, 1 => any::<u16>(), 1 => Just(u16::MAX)]
}

pub fn batch() -> impl Strategy<Value = BatchId> {
    let epoch = prop_oneof![8 => 0..2u32, 1 => number()];
    (epoch, number()).prop_map(|(epoch, idx)| BatchId { epoch, idx })
}

pub fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,4}",
        ".{0,9}",
        Just("\u{0}\u{2028}\"\\\n".to_owned())
    ]
}
