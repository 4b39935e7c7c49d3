//! Data formats compared with their Python readers: one core, no workers on either side.

use crate::bench::workload::{Goal, Unit, Workers, Workload};

/// Returns a workload that is compared with its counterpart.
const fn counterpart_workload(
    id: &'static str,
    description: &'static str,
    goals: &'static [Goal],
) -> Workload {
    Workload {
        id,
        description,
        unit: Unit::ItemsPerSecond,
        pytorch: &[],
        dataloader_rs: None,
        counterpart: Some(id),
        workers: Workers::NoLoader,
        goals,
        recording: &[],
    }
}

/// Workloads for formats, in the order of `docs/DATASETS.md`.
pub const FORMATS: &[Workload] = &[
    counterpart_workload(
        "formats-voc",
        "200 annotated pictures of about 560×410, boxes and labels; torchvision's VOCDetection, pil_to_tensor",
        &[Goal::TimesCounterpart(1.5)],
    ),
    counterpart_workload(
        "formats-coco",
        "400 annotated pictures of about 560×410, boxes and labels; torchvision's CocoDetection, pil_to_tensor",
        &[Goal::TimesCounterpart(1.5)],
    ),
    counterpart_workload(
        "formats-coco-masks",
        "the same with masks of polygons and runs; coco.annToMask",
        &[Goal::TimesCounterpart(1.5)],
    ),
    counterpart_workload(
        "formats-webdataset",
        "400 pictures and classes in 4 shards; WebDataset(…).decode(\"torchrgb8\").to_tuple(\"jpg\", \"cls\")",
        &[Goal::TimesCounterpart(2.0)],
    ),
    counterpart_workload(
        "formats-webdataset-small",
        "20,000 arrays of 128 numbers and classes in 4 shards; WebDataset(…).decode().to_tuple(\"npy\", \"cls\")",
        &[Goal::TimesCounterpart(2.0)],
    ),
    counterpart_workload(
        "formats-csv",
        "40,000 rows of 6 columns, shuffled; pandas, .iloc[i].to_dict()",
        &[Goal::TimesCounterpart(3.0)],
    ),
    counterpart_workload(
        "formats-parquet",
        "the same rows; pyarrow.parquet.read_table, column[i].as_py()",
        &[Goal::TimesCounterpart(3.0)],
    ),
    counterpart_workload(
        "formats-arrow",
        "the same rows; datasets.load_from_disk, by batches (__getitems__)",
        &[Goal::TimesCounterpart(3.0)],
    ),
    counterpart_workload(
        "formats-npy",
        "25,000 windows of 64×8 int32 of a memory-mapped array, shuffled; numpy.load(…, mmap_mode=\"c\"), from_numpy",
        &[Goal::TimesCounterpart(10.0)],
    ),
    counterpart_workload(
        "formats-sqlite",
        "the same rows by key, shuffled; sqlite3, SELECT … WHERE id = ?",
        &[Goal::TimesCounterpart(3.0)],
    ),
];
