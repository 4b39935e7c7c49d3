//! Room for lists that are known to grow.

/// The most room that is made in advance for one list, bytes.
const MOST_ROOM: f64 = (1u64 << 33) as f64;

/// Makes room for the rest of a list of which `share` is there, and for a little more, before it is full.
pub(crate) fn make_room<T>(list: &mut Vec<T>, share: f64) {
    let there = list.len();
    if list.capacity() - there > there / 32 || there < 1024 || share <= 0.0 {
        return;
    }
    let whole = (there as f64 / share * 1.04).min(MOST_ROOM / size_of::<T>().max(1) as f64);
    let more = (whole as usize).saturating_sub(there);
    // Without it the list grows as lists do.
    let _ = list.try_reserve_exact(more.max(there / 16));
}
