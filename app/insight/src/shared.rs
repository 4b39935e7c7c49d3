//! Something that grows, and that threads may look at meanwhile.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value with one owner and any number of readers. Readers hold it as it was when they asked; changing it while one
/// of them still does copies it first. So a calculation that looks at a run costs nothing once the run has come to its end.
#[derive(Default)]
pub struct Shared<T>(Arc<T>);

impl<T> Shared<T> {
    /// True while it has another owner: to change it now is to copy it.
    pub fn is_read(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The value itself; copied if someone else reads it.
    pub fn into_inner(self) -> T
    where
        T: Clone,
    {
        Arc::unwrap_or_clone(self.0)
    }

    /// The value as it is now, for a reader.
    pub fn now(&self) -> Arc<T> {
        Arc::clone(&self.0)
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> From<T> for Shared<T> {
    fn from(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> From<Arc<T>> for Shared<T> {
    fn from(value: Arc<T>) -> Self {
        Self(value)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T: std::fmt::Debug> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readers_keep_what_they_asked_for() {
        let mut numbers = Shared::from(vec![1]);
        assert!(!numbers.is_read());
        let before = numbers.now();
        assert!(numbers.is_read());
        numbers.push(2);
        assert_eq!(
            (before.as_slice(), numbers.as_slice()),
            (&[1][..], &[1, 2][..])
        );
        // There is no other owner any more: it is changed in place.
        let place = numbers.as_ptr();
        drop(before);
        numbers[0] = 3;
        assert_eq!(numbers.as_ptr(), place);
    }
}
