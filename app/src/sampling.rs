//! The order of the samples: what can be said about it, apart from how it is shown. No window here; only `analysis` asks the
//! engine, through `session`.

pub mod analysis;
pub mod background;
pub mod balance;
pub mod chi2;
pub mod coverage;
pub mod findings;
pub mod order;
pub mod progress;
pub mod ranks;
pub mod raster;
pub mod shuffle;
pub mod streams;
