//! Texts that no catalog contains, with the reasons.

/// Reason why no catalog contains a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ExemptReason {
    /// PyTorch, Python or NumPy prints exactly this text in the same place.
    PyTorch,
    /// Recordings contain the text, and readers in any language open them.
    Recorded,
    /// Only programs or developers read the text. Examples: SQL, a shell command, a part of another library's message, the magic number of
    /// a format, an internal name of the window, `Debug` output.
    Code,
}

/// Exempt texts of a file. An empty beginning matches all texts.
pub struct Exempt {
    /// Path relative to the workspace.
    pub file: &'static str,
    /// Beginnings of the exempt texts.
    pub begins: &'static [&'static str],
    /// Reason of the exemption.
    pub reason: ExemptReason,
}

const fn exempt(
    file: &'static str,
    begins: &'static [&'static str],
    reason: ExemptReason,
) -> Exempt {
    Exempt {
        file,
        begins,
        reason,
    }
}

/// Crates in which catalogs contain all other texts.
pub const CHECKED: [&str; 5] = [
    "loader/plan",
    "loader/exchange",
    "loader/live",
    "loader/engine",
    "loader/formats",
];

/// All exemptions.
pub const EXEMPT: &[Exempt] = &[
    exempt(
        "loader/plan/src/error.rs",
        &[
            "RuntimeError: DataLoader worker",
            "Caught {kind} {place}",
            "in DataLoader worker process",
            "in pin memory thread",
            "DataLoader worker (pid(s)",
        ],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/error.rs",
        &[
            "in worker",
            "in the main process",
            "index {index} is",
            "{cause} (in the pin thread",
        ],
        ExemptReason::Recorded,
    ),
    exempt("loader/plan/src/facts.rs", &[""], ExemptReason::Recorded),
    exempt(
        "loader/plan/src/dataset/spec/data/about.rs",
        &["annotated"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/plan/src/simulate.rs",
        &["sample {sample} fails"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/plan/src/forecast/checked.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/loader/arguments.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/plan.rs",
        &["prefetch_factor must be"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/rng/generator.rs",
        &["random_ expects"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/rng/multinomial.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt("loader/plan/src/rng/numpy.rs", &[""], ExemptReason::PyTorch),
    exempt(
        "loader/plan/src/rng/python.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/arguments.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/distributed/share.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/infinite.rs",
        &["object of type"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/random.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/weighted.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt("loader/live/src/folder.rs", &[""], ExemptReason::Recorded),
    exempt(
        "loader/live/src/gauges.rs",
        &["one a second"],
        ExemptReason::Code,
    ),
    exempt("loader/live/src/join.rs", &[""], ExemptReason::Recorded),
    exempt(
        "loader/live/src/join/about.rs",
        &[""],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/live/src/join/failing.rs",
        &[""],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/live/src/join/main_process.rs",
        &[""],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/live/src/remote.rs",
        &["trap ", "exec /bin/sh"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/exchange/src/lotus/emit.rs",
        &["DataLoader of"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/exchange/src/profiler/emit.rs",
        &["thread {}", "DataLoader of"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/exchange/src/recognize.rs",
        &["SQLite format"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/exchange/src/spdl.rs",
        &["CASE ", "PRAGMA ", "SELECT "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/exchange/src/spdl/emit.rs",
        &["SPDL pipeline"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/audio/unsupported.rs",
        &[
            "Ogg Opus",
            "WebM or",
            "NIST ",
            "Microsoft ADPCM",
            "IMA ADPCM",
        ],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/coco.rs",
        &["{} annotations in"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/coco/warnings.rs",
        &[""],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/exif.rs",
        &["{turned} of"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/jsonl.rs",
        &["{place}: it is one JSON"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/parquet.rs",
        &["{place}: the columns"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/parquet/folder.rs",
        &["{} files that"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/decompress.rs",
        &["SQLite format"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/webdataset.rs",
        &["{first}: the files"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/picture/pixels.rs",
        &["32-bit float", "JPEG XL"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/engine/src/panics.rs",
        &["exited unexpectedly", "{how}. Details are lost"],
        ExemptReason::PyTorch,
    ),
    exempt("loader/engine/src/collate.rs", &[""], ExemptReason::PyTorch),
    exempt(
        "loader/engine/src/collate/complex.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/containers.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/convert.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/lists.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/combine.rs",
        &["expected Tensor", "received an empty"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/nested.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/numbers.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/collate/stack.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/concat.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/folder.rs",
        &["skipped {}", "skipped {files}"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/list.rs",
        &["list index"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/mod.rs",
        &["index {index} is"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/shuffle.rs",
        &["buffer_size should"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/simulated_cost.rs",
        &["sample {index}"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/split.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/stack.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/slow_motion.rs",
        &["slow motion"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/subset.rs",
        &["list index"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/tensor.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader.rs",
        &["object of type"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/epoch_start.rs",
        &[""],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/builder.rs",
        &["pin_memory_device is"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/iter.rs",
        &["Length of IterableDataset", "For multiprocessing"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/iter/events.rs",
        &[". PyTorch ends"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/pin.rs",
        &["'pin_memory' argument"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/pin.rs",
        &["mlock: page-locked"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/pin.rs",
        &["{} locked bytes"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/engine/src/pool.rs",
        &["DataLoader worker", "DataLoader timed out"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/run.rs",
        &["The dataset has no", "In slow motion"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/run/collate.rs",
        &["stack expects", "storage that is", "each element in"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/engine/src/run/lenient.rs",
        &[""],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/engine/src/worker.rs",
        &["cannot access local"],
        ExemptReason::PyTorch,
    ),
    exempt(
        "loader/formats/src/arrow.rs",
        &["{}: it has no end mark"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/audio/folder.rs",
        &["{}: "],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/columns.rs",
        &[
            "{place}: column",
            "points in time",
            "dates, which",
            "times, which",
            "durations, which",
            "decimals, which",
        ],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/columns.rs",
        &["Parquet error", "Parser error"],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/csv.rs",
        &["{place}: ", "row has", "rows have"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/npz.rs",
        &["{place}: "],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/parquet.rs",
        &["{place}: decoded"],
        ExemptReason::Recorded,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/column.rs",
        &["BEGIN ", "FETCH "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/keyed.rs",
        &["BEGIN ", "FETCH "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/connection.rs",
        &["SET "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/streamed.rs",
        &["BEGIN ", "FETCH "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/sql/sqlite/connection.rs",
        &["PRAGMA "],
        ExemptReason::Code,
    ),
    exempt(
        "loader/formats/src/webdataset.rs",
        &["There is one shard"],
        ExemptReason::Recorded,
    ),
];

/// Returns the index of the exemption for a text of a file, and its reason.
pub fn exemption(file: &str, text: &str) -> Option<(usize, ExemptReason)> {
    let all = EXEMPT.iter().enumerate();
    let mut of_file = all.filter(|(_, one)| one.file == file);
    of_file
        .find(|(_, one)| one.begins.iter().any(|begin| text.starts_with(begin)))
        .map(|(at, one)| (at, one.reason))
}
