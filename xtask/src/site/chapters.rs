//! What the documentation consists of, in its order.

/// A line of the table of contents.
pub enum Chapter {
    /// A heading.
    Part(&'static str),
    /// A document of the repository.
    Page {
        /// As it stands in the table of contents.
        title: &'static str,
        /// Its path.
        file: &'static str,
    },
}

const fn page(title: &'static str, file: &'static str) -> Chapter {
    Chapter::Page { title, file }
}

/// All of it.
pub const CHAPTERS: &[Chapter] = &[
    page("Loadscope", "README.md"),
    Chapter::Part("Use"),
    page("The Python package", "app/wheel/README.md"),
    page("Training on other hosts", "REMOTE.md"),
    page("In CI", "app/wheel/CI.md"),
    page("Datasets", "DATASETS.md"),
    page("Lessons", "app/lessons/README.md"),
    Chapter::Part("Formats"),
    page("Recordings", "loader/trace/FORMAT.md"),
    page("Tables", "loader/exchange/TABLES.md"),
    page("What the probe says", "loader/live/WIRE.md"),
    Chapter::Part("How far it can be trusted"),
    page("Forecasts", "tests/pytorch/TRUTH.md"),
    page("Recorded programs", "tests/pytorch/KINDS.md"),
    page("Causes", "tests/pytorch/CAUSES.md"),
    page("Versions of PyTorch", "tests/pytorch/RESULTS.md"),
    page("What recording costs", "tests/pytorch/OVERHEAD.md"),
    page("Faults", "tests/faults/RESULTS.md"),
    page("Speed beside PyTorch", "tests/peers/RESULTS.md"),
    page("Speed of formats", "tests/peers/FORMATS.md"),
    page("Diagnosis of injected causes", "loader/engine/DIAGNOSIS.md"),
    page("Forecasts of the engine", "loader/engine/FORECASTS.md"),
    Chapter::Part("The code"),
    page("Architecture", "ARCHITECTURE.md"),
    page("Contributing", "CONTRIBUTING.md"),
    page("Changes", "CHANGELOG.md"),
];

/// Where a document stands in the book: a `README.md` is the first page of its folder.
pub fn placed(file: &str) -> String {
    match file.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => file.to_owned(),
    }
}

/// Whether a document of the repository is part of it.
pub fn has(path: &str) -> bool {
    CHAPTERS.iter().any(|chapter| match chapter {
        Chapter::Part(_) => false,
        Chapter::Page { file, .. } => *file == path,
    })
}
