//! Cache of decoded table chunks (rows of a Parquet row group, Arrow record batches), shared by all workers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::RecordBatch;

use crate::error::{FormatError, Place};

/// Size limit of the cache, bytes.
pub(crate) const CACHE_BYTES: usize = 512 << 20;

/// A decoded chunk and its size in the cache.
#[derive(Debug)]
pub struct Decoded {
    pub(crate) batch: RecordBatch,
    pub(crate) bytes: usize,
}

/// Decoder of a chunk.
pub trait Block: Send + Sync {
    /// True if the chunks are so large that rows are read together.
    const IS_LARGE: bool;

    /// Returns the file of the chunk.
    fn place(&self) -> &Place;

    /// Returns the number of rows.
    fn rows(&self) -> usize;

    /// Decodes the chunk.
    ///
    /// # Errors
    /// If the chunk is damaged.
    fn decode(&self) -> Result<Decoded, FormatError>;

    /// Decodes one column without caching it.
    ///
    /// # Errors
    /// If the chunk is damaged.
    fn column(&self, index: usize) -> Result<RecordBatch, FormatError>;
}

/// Chunks of a table, in order.
#[derive(Debug)]
pub(crate) struct Blocks<B> {
    slots: Vec<Slot<B>>,
    len: usize,
    cache_bytes: usize,
    cache: Mutex<CacheState>,
}

#[derive(Debug)]
struct Slot<B> {
    first_row: usize,
    block: B,
    decoded: Mutex<Option<Arc<Decoded>>>,
    used: AtomicBool,
}

/// Positions of the cached chunks, the oldest first.
#[derive(Debug, Default)]
struct CacheState {
    order: VecDeque<usize>,
    bytes: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<B: Block> Blocks<B> {
    pub(crate) fn new(blocks: impl IntoIterator<Item = B>) -> Self {
        Self::with_cache_bytes(blocks, CACHE_BYTES)
    }

    fn with_cache_bytes(blocks: impl IntoIterator<Item = B>, cache_bytes: usize) -> Self {
        let mut len: usize = 0;
        let mut slots = Vec::new();
        for block in blocks {
            let first_row = len;
            len = len.saturating_add(block.rows());
            slots.push(Slot {
                first_row,
                block,
                decoded: Mutex::default(),
                used: AtomicBool::default(),
            });
        }
        Self {
            slots,
            len,
            cache_bytes,
            cache: Mutex::default(),
        }
    }

    /// Returns the number of rows of all chunks.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the chunk of row `row` and the row's position in the chunk.
    pub(crate) fn find(&self, row: usize) -> Option<(usize, usize)> {
        if row >= self.len {
            return None;
        }
        let behind = self.slots.partition_point(|slot| slot.first_row <= row);
        let at = behind.checked_sub(1)?;
        Some((at, row - self.slots.get(at)?.first_row))
    }

    /// Iterates over the decoders of the chunks, in order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &B> {
        self.slots.iter().map(|slot| &slot.block)
    }

    /// Returns the decoder of chunk `at`.
    pub(crate) fn block(&self, at: usize) -> Option<&B> {
        self.slots.get(at).map(|slot| &slot.block)
    }

    /// Returns chunk `at` if it is in the cache.
    pub(crate) fn cached(&self, at: usize) -> Option<Arc<Decoded>> {
        let slot = self.slots.get(at)?;
        let decoded = lock(&slot.decoded).clone()?;
        slot.used.store(true, Ordering::Relaxed);
        Some(decoded)
    }

    /// Returns chunk `at` and decodes it if necessary. Concurrent callers wait for the same decoding.
    ///
    /// # Errors
    /// If the chunk is damaged.
    pub(crate) fn get(&self, at: usize) -> Result<Option<Arc<Decoded>>, FormatError> {
        let Some(slot) = self.slots.get(at) else {
            return Ok(None);
        };
        let decoded = {
            let mut place = lock(&slot.decoded);
            if let Some(decoded) = &*place {
                slot.used.store(true, Ordering::Relaxed);
                return Ok(Some(Arc::clone(decoded)));
            }
            let decoded = Arc::new(slot.block.decode()?);
            *place = Some(Arc::clone(&decoded));
            decoded
        };
        self.evict(at, decoded.bytes);
        Ok(Some(decoded))
    }

    /// Records that chunk `at` is cached, and evicts chunks that were not used recently.
    fn evict(&self, at: usize, bytes: usize) {
        let mut cache = lock(&self.cache);
        cache.order.push_back(at);
        cache.bytes += bytes;
        // Second-chance (CLOCK) eviction: a chunk used since its last visit is kept for one more round.
        let mut left = cache.order.len() * 2;
        while cache.bytes > self.cache_bytes && cache.order.len() > 1 && left > 0 {
            left -= 1;
            let Some(oldest) = cache.order.pop_front() else {
                break;
            };
            let Some(slot) = self.slots.get(oldest) else {
                continue;
            };
            if oldest == at || slot.used.swap(false, Ordering::Relaxed) {
                cache.order.push_back(oldest);
                continue;
            }
            if let Some(dropped) = lock(&slot.decoded).take() {
                cache.bytes = cache.bytes.saturating_sub(dropped.bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_schema::Schema;
    use std::sync::atomic::AtomicUsize;

    struct Counted(AtomicUsize);

    impl Block for Counted {
        const IS_LARGE: bool = true;

        fn place(&self) -> &Place {
            unreachable!("no message names it")
        }

        fn rows(&self) -> usize {
            10
        }

        fn decode(&self) -> Result<Decoded, FormatError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(Decoded {
                batch: RecordBatch::new_empty(Arc::new(Schema::empty())),
                bytes: 100,
            })
        }

        fn column(&self, _: usize) -> Result<RecordBatch, FormatError> {
            Ok(RecordBatch::new_empty(Arc::new(Schema::empty())))
        }
    }

    #[test]
    fn decoded_blocks_are_cached_up_to_the_limit() {
        let blocks = Blocks::with_cache_bytes((0..5).map(|_| Counted(AtomicUsize::new(0))), 250);
        assert_eq!(
            (blocks.len(), blocks.find(23), blocks.find(50)),
            (50, Some((2, 3)), None)
        );
        let times = |at: usize| blocks.slots[at].block.0.load(Ordering::Relaxed);
        for _ in 0..3 {
            blocks.get(0).unwrap();
            blocks.get(1).unwrap();
        }
        assert_eq!((times(0), times(1)), (1, 1));
        for at in 2..5 {
            blocks.get(at).unwrap();
        }
        let kept = (0..5).filter(|&at| blocks.cached(at).is_some()).count();
        assert_eq!(kept, 2);
        assert!(blocks.cached(4).is_some(), "the last one is there");
        assert!(blocks.get(7).unwrap().is_none());
    }

    #[test]
    fn threads_share_one_decoding_of_a_block() {
        let blocks = Blocks::with_cache_bytes([Counted(AtomicUsize::new(0))], 10);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| blocks.get(0).unwrap());
            }
        });
        assert_eq!(blocks.slots[0].block.0.load(Ordering::Relaxed), 1);
    }
}
