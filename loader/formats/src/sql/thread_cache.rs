//! Thread-local objects, such as connections, which threads never share.

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Arc, Weak};

thread_local! {
    static CACHE: RefCell<Vec<CacheEntry>> = const { RefCell::new(Vec::new()) };
}

struct CacheEntry {
    owner: Weak<()>,
    value: Box<dyn Any>,
}

/// Cache of thread-local objects. After the last clone is dropped, each thread drops its objects at its next access or its end.
#[derive(Clone, Debug, Default)]
pub(super) struct ThreadCache(Arc<()>);

impl ThreadCache {
    /// Calls `work` with this thread's object. The first call creates it with `make`. Both functions receive `context`. An error drops the
    /// object, and the next call creates a new one.
    pub(super) fn with<C: ?Sized, T: 'static, R, E>(
        &self,
        context: &mut C,
        make: impl FnOnce(&mut C) -> Result<T, E>,
        work: impl FnOnce(&mut T, &mut C) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut value = match self.take() {
            Some(value) => value,
            None => Box::new(make(context)?),
        };
        let answer = work(&mut value, context)?;
        CACHE.with_borrow_mut(|entries| {
            entries.push(CacheEntry {
                owner: Arc::downgrade(&self.0),
                value,
            });
        });
        Ok(answer)
    }

    /// Drops this thread's object of the owner.
    pub(super) fn remove<T: 'static>(&self) {
        drop(self.take::<T>());
    }

    /// Takes this thread's object of the owner. Drops objects of dropped owners.
    fn take<T: 'static>(&self) -> Option<Box<T>> {
        let (gone, mine) = CACHE.with_borrow_mut(|entries| {
            let mine = entries
                .iter()
                .position(|k| std::ptr::eq(k.owner.as_ptr(), &raw const *self.0));
            let mine = mine.map(|at| entries.swap_remove(at));
            let gone: Vec<CacheEntry> = entries
                .extract_if(.., |k| k.owner.strong_count() == 0)
                .collect();
            (gone, mine)
        });
        drop(gone);
        mine.and_then(|entry| entry.value.downcast().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn each_thread_gets_its_own_value() {
        let made = Arc::new(AtomicUsize::new(0));
        let owner = ThreadCache::default();
        let count = |owner: &ThreadCache, made: &AtomicUsize| {
            owner.with(
                &mut (),
                |_| Ok::<_, String>(made.fetch_add(1, Ordering::Relaxed)),
                |mine, _| Ok(*mine),
            )
        };
        assert_eq!(count(&owner, &made), Ok(0));
        assert_eq!(count(&owner, &made), Ok(0));
        let other = std::thread::scope(|scope| scope.spawn(|| count(&owner, &made)).join());
        assert_eq!(other.unwrap(), Ok(1));
        let failed: Result<(), String> =
            owner.with(&mut (), |_| Ok(9usize), |_, _| Err("broken".to_owned()));
        assert!(failed.is_err());
        assert_eq!(
            count(&owner, &made),
            Ok(2),
            "after an error it is made anew"
        );
    }

    #[test]
    fn values_of_a_dropped_owner_are_freed_at_the_next_use() {
        struct Thing(Arc<AtomicUsize>);
        impl Drop for Thing {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let dropped = Arc::new(AtomicUsize::new(0));
        let owner = ThreadCache::default();
        let make = |_: &mut ()| Ok::<_, ()>(Thing(Arc::clone(&dropped)));
        owner.with(&mut (), make, |_, _| Ok(())).unwrap();
        drop(owner);
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        let other = ThreadCache::default();
        other.with(&mut (), make, |_, _| Ok(())).unwrap();
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
        other.remove::<Thing>();
        assert_eq!(dropped.load(Ordering::Relaxed), 2);
    }
}
