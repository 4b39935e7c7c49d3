//! Analysis of the sample order, without its window. Only `analysis` predicts orders, through `predict`.

pub mod analysis;
pub mod balance;
pub mod chi2;
pub mod coloring;
pub mod coverage;
mod finding;
pub mod findings;
pub mod of_run;
pub mod order;
mod order_analysis;
pub mod overlay;
pub mod predict;
pub mod ranks;
pub mod raster;
pub mod shuffle;

/// Source of the analyzed order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OrderSource {
    /// The recorded order of the run.
    #[default]
    Run,
    /// The predicted next epoch with the options of the run.
    Next,
    /// A predicted epoch with the options of the next run.
    Options,
}

/// The order that the Sampling workspace shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// Source of the order.
    pub of: OrderSource,
    /// Position of the epoch in the run. `None` means the latest.
    pub epoch: Option<usize>,
    /// Number of the epoch that is predicted for the options of the next run.
    pub options_epoch: u32,
    /// Coloring of the points.
    pub coloring: coloring::Coloring,
}
