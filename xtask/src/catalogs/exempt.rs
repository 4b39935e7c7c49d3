//! Sentences that no catalog contains, with the reasons.

/// Reason why no catalog contains a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// PyTorch, Python or NumPy prints exactly this text in the same place.
    PyTorch,
    /// Recordings contain the text, and readers in any language open them.
    Recorded,
    /// Only programs or developers read the text. Examples: SQL, a shell command, a part of another library's message, the first bytes of a
    /// format, an internal name of the window, `Debug` output.
    Code,
}

/// Exempt sentences of a file. An empty beginning matches all sentences.
pub struct Exempt {
    /// Path relative to the workspace.
    pub file: &'static str,
    /// Beginnings of the exempt sentences.
    pub begins: &'static [&'static str],
    /// Reason of the exemption.
    pub why: Why,
}

const fn exempt(file: &'static str, begins: &'static [&'static str], why: Why) -> Exempt {
    Exempt { file, begins, why }
}

/// Crates in which catalogs contain all other sentences.
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
        Why::PyTorch,
    ),
    exempt(
        "loader/plan/src/error.rs",
        &[
            "in worker",
            "in the main process",
            "index {index} is",
            "{cause} (in the pin thread",
        ],
        Why::Recorded,
    ),
    exempt("loader/plan/src/facts.rs", &[""], Why::Recorded),
    exempt(
        "loader/plan/src/dataset/spec/data/about.rs",
        &["annotated"],
        Why::Recorded,
    ),
    exempt(
        "loader/plan/src/simulate.rs",
        &["sample {sample} fails"],
        Why::Recorded,
    ),
    exempt("loader/plan/src/forecast/checked.rs", &[""], Why::PyTorch),
    exempt("loader/plan/src/loader/arguments.rs", &[""], Why::PyTorch),
    exempt(
        "loader/plan/src/plan.rs",
        &["prefetch_factor must be"],
        Why::PyTorch,
    ),
    exempt(
        "loader/plan/src/rng/generator.rs",
        &["random_ expects"],
        Why::PyTorch,
    ),
    exempt("loader/plan/src/rng/multinomial.rs", &[""], Why::PyTorch),
    exempt("loader/plan/src/rng/numpy.rs", &[""], Why::PyTorch),
    exempt("loader/plan/src/rng/python.rs", &[""], Why::PyTorch),
    exempt("loader/plan/src/sampler/arguments.rs", &[""], Why::PyTorch),
    exempt(
        "loader/plan/src/sampler/distributed/share.rs",
        &[""],
        Why::PyTorch,
    ),
    exempt(
        "loader/plan/src/sampler/infinite.rs",
        &["object of type"],
        Why::PyTorch,
    ),
    exempt("loader/plan/src/sampler/random.rs", &[""], Why::PyTorch),
    exempt("loader/plan/src/sampler/weighted.rs", &[""], Why::PyTorch),
    exempt("loader/live/src/folder.rs", &[""], Why::Recorded),
    exempt("loader/live/src/gauges.rs", &["one a second"], Why::Code),
    exempt("loader/live/src/join.rs", &[""], Why::Recorded),
    exempt("loader/live/src/join/about.rs", &[""], Why::Recorded),
    exempt("loader/live/src/join/failing.rs", &[""], Why::Recorded),
    exempt("loader/live/src/join/main_process.rs", &[""], Why::Recorded),
    exempt(
        "loader/live/src/remote.rs",
        &["trap ", "exec /bin/sh"],
        Why::Code,
    ),
    exempt(
        "loader/exchange/src/lotus/emit.rs",
        &["DataLoader of"],
        Why::Recorded,
    ),
    exempt(
        "loader/exchange/src/profiler/emit.rs",
        &["thread {}", "DataLoader of"],
        Why::Recorded,
    ),
    exempt(
        "loader/exchange/src/recognize.rs",
        &["SQLite format"],
        Why::Code,
    ),
    exempt(
        "loader/exchange/src/spdl.rs",
        &["CASE ", "PRAGMA ", "SELECT "],
        Why::Code,
    ),
    exempt(
        "loader/exchange/src/spdl/emit.rs",
        &["SPDL pipeline"],
        Why::Recorded,
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
        Why::Code,
    ),
    exempt(
        "loader/formats/src/coco.rs",
        &["{} annotations in"],
        Why::Recorded,
    ),
    exempt("loader/formats/src/coco/warnings.rs", &[""], Why::Recorded),
    exempt(
        "loader/formats/src/exif.rs",
        &["{turned} of"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/jsonl.rs",
        &["{place}: it is one JSON"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/parquet.rs",
        &["{place}: the columns"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/parquet/folder.rs",
        &["{} files that"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/decompress.rs",
        &["SQLite format"],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/webdataset.rs",
        &["{first}: the files"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/picture/pixels.rs",
        &["32-bit float", "JPEG XL"],
        Why::Code,
    ),
    exempt(
        "loader/engine/src/panics.rs",
        &["exited unexpectedly", "{how}. Details are lost"],
        Why::PyTorch,
    ),
    exempt("loader/engine/src/collate.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/collate/complex.rs", &[""], Why::PyTorch),
    exempt(
        "loader/engine/src/collate/containers.rs",
        &[""],
        Why::PyTorch,
    ),
    exempt("loader/engine/src/collate/convert.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/collate/lists.rs", &[""], Why::PyTorch),
    exempt(
        "loader/engine/src/collate/combine.rs",
        &["expected Tensor", "received an empty"],
        Why::PyTorch,
    ),
    exempt("loader/engine/src/collate/nested.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/collate/numbers.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/collate/stack.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/dataset/concat.rs", &[""], Why::PyTorch),
    exempt(
        "loader/engine/src/dataset/folder.rs",
        &["skipped {}", "skipped {files}"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/list.rs",
        &["list index"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/mod.rs",
        &["index {index} is"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/shuffle.rs",
        &["buffer_size should"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/dataset/simulated_cost.rs",
        &["sample {index}"],
        Why::Recorded,
    ),
    exempt("loader/engine/src/dataset/split.rs", &[""], Why::PyTorch),
    exempt("loader/engine/src/dataset/stack.rs", &[""], Why::PyTorch),
    exempt(
        "loader/engine/src/dataset/slow_motion.rs",
        &["slow motion"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/dataset/subset.rs",
        &["list index"],
        Why::PyTorch,
    ),
    exempt("loader/engine/src/dataset/tensor.rs", &[""], Why::PyTorch),
    exempt(
        "loader/engine/src/loader.rs",
        &["object of type"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/epoch_start.rs",
        &[""],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/builder.rs",
        &["pin_memory_device is"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/iter.rs",
        &["Length of IterableDataset", "For multiprocessing"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/loader/iter/events.rs",
        &[". PyTorch ends"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/pin.rs",
        &["'pin_memory' argument"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/pin.rs",
        &["mlock: page-locked"],
        Why::Recorded,
    ),
    exempt("loader/engine/src/pin.rs", &["{} locked bytes"], Why::Code),
    exempt(
        "loader/engine/src/pool.rs",
        &["DataLoader worker", "DataLoader timed out"],
        Why::PyTorch,
    ),
    exempt(
        "loader/engine/src/run.rs",
        &["The dataset has no", "In slow motion"],
        Why::Recorded,
    ),
    exempt(
        "loader/engine/src/run/collate.rs",
        &["stack expects", "storage that is", "each element in"],
        Why::PyTorch,
    ),
    exempt("loader/engine/src/run/lenient.rs", &[""], Why::Recorded),
    exempt(
        "loader/engine/src/worker.rs",
        &["cannot access local"],
        Why::PyTorch,
    ),
    exempt(
        "loader/formats/src/arrow.rs",
        &["{}: it has no end mark"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/audio/folder.rs",
        &["{}: "],
        Why::Recorded,
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
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/columns.rs",
        &["Parquet error", "Parser error"],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/csv.rs",
        &["{place}: ", "row has", "rows have"],
        Why::Recorded,
    ),
    exempt("loader/formats/src/npz.rs", &["{place}: "], Why::Recorded),
    exempt(
        "loader/formats/src/parquet.rs",
        &["{place}: decoded"],
        Why::Recorded,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/column.rs",
        &["BEGIN ", "FETCH "],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/keyed.rs",
        &["BEGIN ", "FETCH "],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/connection.rs",
        &["SET "],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/sql/postgresql/streamed.rs",
        &["BEGIN ", "FETCH "],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/sql/sqlite/connection.rs",
        &["PRAGMA "],
        Why::Code,
    ),
    exempt(
        "loader/formats/src/webdataset.rs",
        &["There is one shard"],
        Why::Recorded,
    ),
];

/// Returns the index of the exemption for a sentence of a file, and its reason.
pub fn exemption(file: &str, text: &str) -> Option<(usize, Why)> {
    let all = EXEMPT.iter().enumerate();
    let mut of_file = all.filter(|(_, one)| one.file == file);
    of_file
        .find(|(_, one)| one.begins.iter().any(|begin| text.starts_with(begin)))
        .map(|(at, one)| (at, one.why))
}
