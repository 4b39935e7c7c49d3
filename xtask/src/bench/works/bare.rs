//! What no loader of the same data can be without: the part of a work that the host sets a bound to.

use crate::bench::work::{Unit, Work, Workers};

/// Without a loader there is nothing to reach and nothing to record.
const BARE: Work = Work {
    id: "",
    says: "",
    unit: Unit::ItemsPerSecond,
    pytorch: &[],
    dataloader_rs: None,
    counterpart: None,
    workers: Workers::Threads,
    goals: &[],
    recording: &[],
};

pub const W1_COPY: Work = Work {
    id: "w1-copy",
    says: "the same pictures copied into batches by threads, with no loader: what the memory of this host allows",
    ..BARE
};

pub const W3_DECODE: Work = Work {
    id: "w3-decode",
    says: "the same JPEGs decoded and nothing else, with no loader; by PyTorch's Pillow, too, whose decoder is libjpeg-turbo",
    pytorch: &["w3-decode"],
    ..BARE
};

pub const W6_COPY: Work = Work {
    id: "w6-copy",
    says: "the same windows copied into batches by threads, with no loader",
    ..BARE
};
