//! The documents of the site, in their order.

/// Line of the table of contents.
pub enum Chapter {
    /// Heading above the following documents.
    Part(&'static str),
    /// Document of the repository.
    Page {
        /// Title in the table of contents.
        title: &'static str,
        /// Path in the repository.
        file: &'static str,
    },
}

const fn page(title: &'static str, file: &'static str) -> Chapter {
    Chapter::Page { title, file }
}

/// All chapters and headings.
pub const CHAPTERS: &[Chapter] = &[
    page("Loadscope", "README.md"),
    Chapter::Part("Use"),
    page("The window: a tour", "docs/GUIDE.md"),
    page("Recording", "docs/RECORDING.md"),
    page("Programs that hang", "docs/HANGS.md"),
    page("Tuning", "docs/TUNING.md"),
    page("Reports and exports", "docs/REPORTS.md"),
    page("Training on other hosts", "docs/REMOTE.md"),
    page("The Python package", "app/wheel/README.md"),
    page("In CI", "app/wheel/CI.md"),
    page("The embedded loader", "docs/ENGINE.md"),
    page("Datasets", "docs/DATASETS.md"),
    page("Building from source", "docs/BUILDING.md"),
    page("Lessons", "app/lessons/README.md"),
    Chapter::Part("Formats"),
    page("Recordings", "loader/trace/FORMAT.md"),
    page("Tables", "loader/exchange/TABLES.md"),
    page("Protocol of the probe", "loader/live/WIRE.md"),
    Chapter::Part("Measurements"),
    page("Accuracy of forecasts", "tests/pytorch/TRUTH.md"),
    page("Random workloads", "tests/pytorch/DRAWN.md"),
    page("Recorded programs", "tests/pytorch/KINDS.md"),
    page("Accuracy of verdicts", "tests/pytorch/CAUSES.md"),
    page("Versions of PyTorch", "tests/pytorch/RESULTS.md"),
    page("Cost of recording", "tests/pytorch/OVERHEAD.md"),
    page("Injected faults", "tests/faults/RESULTS.md"),
    page("Speed compared with PyTorch", "tests/peers/RESULTS.md"),
    page("Speed of formats", "tests/peers/FORMATS.md"),
    Chapter::Part("Development"),
    page("Architecture", "ARCHITECTURE.md"),
    page("Contributing", "CONTRIBUTING.md"),
    page("Changes", "CHANGELOG.md"),
];

/// Returns the path of a document in the site. A `README.md` is the first page of its folder.
pub fn placed(file: &str) -> String {
    match file.strip_suffix("README.md") {
        Some(folder) => format!("{folder}index.md"),
        None => file.to_owned(),
    }
}

/// Returns true if a document of the repository is a chapter.
pub fn has(path: &str) -> bool {
    CHAPTERS.iter().any(|chapter| match chapter {
        Chapter::Part(_) => false,
        Chapter::Page { file, .. } => *file == path,
    })
}
