//! Access to the catalog of datasets.

use std::fmt;

use loadscope_plan::dataset::{Catalog, SyntheticCatalog};

/// Catalog of datasets. In builds with the embedded engine, it opens them.
#[derive(Clone, Copy)]
pub struct Datasets(pub &'static (dyn Catalog + Sync));

impl Default for Datasets {
    fn default() -> Self {
        Self(&SyntheticCatalog)
    }
}

impl fmt::Debug for Datasets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Datasets")
    }
}
