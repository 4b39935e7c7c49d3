//! Workloads without a loader: the part of another workload that every loader of the same data must do. The host limits its speed.

use crate::bench::workload::{Unit, Workers, Workload};

/// Workload without goals and recording, because it has no loader.
const BARE: Workload = Workload {
    id: "",
    description: "",
    unit: Unit::ItemsPerSecond,
    pytorch: &[],
    dataloader_rs: None,
    counterpart: None,
    workers: Workers::Threads,
    goals: &[],
    recording: &[],
};

pub const W1_COPY: Workload = Workload {
    id: "w1-copy",
    description: "the same pictures copied into batches by threads, with no loader: what the memory of this host allows",
    ..BARE
};

pub const W3_DECODE: Workload = Workload {
    id: "w3-decode",
    description: "the same JPEGs decoded and nothing else, with no loader; by PyTorch's Pillow, too, whose decoder is libjpeg-turbo",
    pytorch: &["w3-decode"],
    ..BARE
};

pub const W6_COPY: Workload = Workload {
    id: "w6-copy",
    description: "the same windows copied into batches by threads, with no loader",
    ..BARE
};
