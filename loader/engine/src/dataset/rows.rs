//! Copies of rows from anywhere in memory into a contiguous batch.

/// Fills `out`, which consists of slots of `width` bytes, with one row per index.
///
/// `fill` copies `row(index)` into the slot of `index`. The slot of an index without a row keeps its contents. Nothing
/// happens if `width` is 0.
pub(super) fn fill_rows<'a>(
    indices: &[usize],
    out: &mut [u8],
    width: usize,
    row: impl Fn(usize) -> Option<&'a [u8]>,
    fill: impl Fn(&[u8], &mut [u8]),
) {
    if width == 0 {
        return;
    }
    let mut next = indices.first().and_then(|index| row(*index));
    for (at, place) in out.chunks_exact_mut(width).enumerate() {
        let now = next;
        next = indices.get(at + 1).and_then(|index| row(*index));
        if let Some(next) = next {
            prefetch(next);
        }
        if let Some(now) = now {
            fill(now, place);
        }
    }
}

/// Prefetches the start of the next row, because the processor cannot predict the address of a shuffled row.
///
/// The first cache line also loads the page's address translation (TLB entry), and the hardware prefetcher follows with the next lines. A
/// prefetch of every line displaces lines for which the current row still waits.
///
/// Copying a batch of 32 rows of 2 KiB from a mapped file took 12.5 µs with every line prefetched (Intel Xeon). The copy took
/// 9.0 µs without a prefetch, and 7.8 µs with the first line.
#[inline]
#[allow(unsafe_code, reason = "an instruction of the processor")]
fn prefetch(row: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(first) = row.first() {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect that the program can observe, and the byte is part of a slice.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(first).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_batch_row_gets_its_source_row(
            source in prop::collection::vec(any::<u8>(), 0..60), width in 0usize..7, indices in prop::collection::vec(0usize..15, 0..12),
        ) {
            let row = |index: usize| source.get(index * width..(index + 1) * width);
            let mut out = vec![7; indices.len() * width];
            fill_rows(&indices, &mut out, width, row, |row, place| place.copy_from_slice(row));
            let expected: Vec<u8> = indices
                .iter()
                .flat_map(|&index| row(index).map_or_else(|| vec![7; width], <[u8]>::to_vec))
                .collect();
            prop_assert_eq!(out, expected);
        }
    }
}
