//! Methods of wrapper datasets that delegate to the wrapped dataset.

/// Implements the methods that delegate to the field `inner`.
///
/// Use `samples` in an implementation of `Dataset`, and `stream` in one of `IterableDataset`.
macro_rules! delegate_to_inner {
    (samples) => {
        fn classes(&self) -> &[String] {
            self.inner.classes()
        }

        fn labels(&self) -> Option<Vec<u32>> {
            self.inner.labels()
        }

        fn groups(&self, column: &str) -> Option<Result<Vec<u32>, $crate::dataset::SampleError>> {
            self.inner.groups(column)
        }

        fn lengths(&self) -> Option<Vec<u64>> {
            self.inner.lengths()
        }

        fn notes(&self) -> &[String] {
            self.inner.notes()
        }
    };
    (stream) => {
        fn len(&self) -> Option<usize> {
            self.inner.len()
        }

        fn classes(&self) -> &[String] {
            self.inner.classes()
        }

        fn notes(&self) -> &[String] {
            self.inner.notes()
        }

        fn type_name(&self) -> &str {
            self.inner.type_name()
        }
    };
}

pub(crate) use delegate_to_inner;
