//! Removal of ended iterators, which bounds the memory for programs that run for weeks.

use super::{Join, Place, Stream, StreamId};

/// Number of ended iterators to keep per process.
const CREWS_KEPT: usize = 8;

impl Join {
    /// Removes the oldest ended iterators. The latest ones are kept, because records about them can still arrive.
    pub(super) fn prune(&mut self, id: StreamId, stream: &mut Stream) {
        let over = stream.pools.iter().filter(|(_, pool)| pool.is_over());
        let mut over: Vec<u32> = over.map(|(iterator, _)| *iterator).collect();
        if over.len() < 2 * CREWS_KEPT {
            return;
        }
        over.sort_unstable();
        over.truncate(over.len() - CREWS_KEPT);
        let of = |place: &Place, iterator| (place.stream, place.iterator) == (id, iterator);
        for iterator in over {
            let mut speaking = self.streams.values();
            let is_awaited = speaking.any(|s| {
                s.place.is_some_and(|place| of(&place, iterator))
                    && !(s.closed && s.queued.is_empty())
            });
            let mut failures = self.failures.iter();
            if is_awaited || failures.any(|f| (f.main, f.iterator) == (id, iterator)) {
                continue;
            }
            stream.pools.remove(&iterator);
            self.announced.retain(|_, place| !of(place, iterator));
        }
    }
}
