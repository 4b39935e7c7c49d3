//! The order of the samples: what can be said about it, apart from how it is shown. No window here; only `analysis` asks
//! what PyTorch will do, through `predict`.

pub mod analysis;
mod answers;
pub mod balance;
pub mod chi2;
pub mod colouring;
pub mod coverage;
mod finding;
pub mod findings;
pub mod of_run;
pub mod order;
mod order_facts;
pub mod overlay;
pub mod predict;
pub mod ranks;
pub mod raster;
pub mod shuffle;
pub mod streams;

/// Whose order is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderOf {
    /// The run's, as it came.
    #[default]
    Run,
    /// The epoch that would come next, with the options of the run.
    Next,
    /// An epoch with the options of the next run.
    Options,
}

/// Which order the Sampling workspace shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Whose.
    pub of: OrderOf,
    /// Position of the epoch of the run; `None`: the latest.
    pub epoch: Option<usize>,
    /// Number of the epoch that the options of the next run are shown for.
    pub options_epoch: u32,
    /// What its points are coloured by.
    pub colouring: colouring::Colouring,
}
