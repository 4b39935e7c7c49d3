//! The fuzz targets.

mod data;
mod events;
mod fleet;
mod import;
mod journal;
mod parts;
mod recording;
mod repair;
mod wire;

pub use fleet::events as fleet_events;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name, also of the target's folder in the corpus.
    pub name: &'static str,
    /// Description of the input.
    pub about: &'static str,
    /// Runs the target. With `true`, it runs all queries. Panics on an error.
    pub run: fn(&[u8], bool),
}

const fn target(name: &'static str, about: &'static str, run: fn(&[u8], bool)) -> Target {
    Target { name, about, run }
}

/// All targets.
#[rustfmt::skip]
pub const TARGETS: &[Target] = &[
    target("recording", "a recording, plain or zstd: by lines and by blocks, folded, asked", recording::run),
    target("events", "events in any order: written, read back, folded, asked", events::run),
    target("fleet", "events of several loaders in any order: summed up, held against each other, asked", fleet::run),
    target("journal", "a recording under way, cut at any byte: opened, repaired, nothing lost that was flushed", journal::run),
    target("parts", "a recording in parts: strange ones, and those of events in any order of which old parts are dropped", parts::run),
    target("repair", "a recording that is damaged: repaired, opened, repaired again", repair::run),
    target("compressed", "a recording in zstd or a trace in gzip, packed and then damaged", import::compressed),
    target("wire", "streams of the probe: joined, folded, asked; also from a folder", wire::run),
    target("door", "connections to the listener, with and without the token", wire::listen),
    target("profiler", "any one file, above all a trace of torch.profiler, plain or gzip", import::run),
    target("lotus", "a folder of LotusTrace logs", import::lotus),
    target("words", "a text that names a dataset, a database or shards", data::words),
    target("arrays", "a file of NumPy or safetensors, by rows and by windows", data::arrays),
    target("tables", "a table as text, JSON lines, or words with a vocabulary", data::tables),
    target("coco", "COCO's annotations: classes, boxes, polygons, runs, keypoints, captions", data::annotations),
    target("voc", "an annotation of PASCAL VOC", data::annotation),
    target("shards", "a tar archive of samples", data::shards),
    target("lmdb", "the pages of an LMDB database", data::pages),
    target("spdl", "an SQLite file, or rows for SPDL's tables", import::spdl),
];
