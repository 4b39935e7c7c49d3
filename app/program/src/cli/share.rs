//! `loadscope share`: writes a recording as one HTML page.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{anyhow, bail, ensure};
use clap::Args;
use loadscope_files::{AtomicFile, check_not_input, is_being_written};
use loadscope_insight::report::{Report, text};
use loadscope_session::{self as session, Packed, datasets, describe_open_error, packed};
use loadscope_trace::bytes;
use loadscope_words::say;

use super::output::ForceArg;
use super::pick::pick;
use super::terminal::{print_line, print_message};
use super::truncation::truncation_message;
use crate::page::{About, Content, HAS_PAGE, NoPage, page};

/// Maximum size of the recordings in a page, bytes. Browsers fail with larger ones.
const MOST: usize = 250_000_000;

/// The recordings, and the page to write.
#[derive(Debug, Args)]
pub struct ShareArgs {
    /// Recording, folder of recordings, or trace of another tool
    file: PathBuf,
    /// Recording to compare with
    other: Option<PathBuf>,
    /// Output file [default: the name of the recording, with .html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out the contents of batches: images, waveforms, numbers and texts
    #[arg(long)]
    no_contents: bool,
    #[command(flatten)]
    force: ForceArg,
}

/// Writes the page.
pub fn share(args: &ShareArgs) -> anyhow::Result<ExitCode> {
    ensure!(HAS_PAGE, NoPage);
    let name = name_of(&args.file);
    let output = match &args.output {
        Some(output) => output.clone(),
        None => PathBuf::from(format!("{}.html", stem(&name))),
    };
    let files = || std::iter::once(&args.file).chain(&args.other);
    for file in files() {
        check_not_input(&output, file)?;
    }
    let mut all = Vec::new();
    for file in files() {
        all.push(recording(file, !args.no_contents)?.bytes);
    }
    let size: usize = all.iter().map(Vec::len).sum();
    if size > MOST {
        let names: Vec<String> = files().map(|file| file.display().to_string()).collect();
        bail!(say!(
            "{} has {} compressed, too much for one page. Use `loadscope view`{}.",
            names.join(" + "),
            bytes(size as f64),
            match args.no_contents {
                true => "",
                false => say!(" or leave out the contents of batches with --no-contents"),
            }
        ));
    }
    let other = args.other.as_deref().map(name_of);
    let about = About {
        name: Some(&name),
        other: other.as_deref(),
        ..About::default()
    };
    let content = Content {
        report: &report(&args.file),
        recording: all.first().map_or(&[], Vec::as_slice),
        other: all.get(1).map_or(&[], Vec::as_slice),
    };
    let page = page(&about, content)?;
    AtomicFile::write_all_to(&output, args.force.existing(), page.as_bytes())?;
    print_line(&saved_message(&output, &bytes(page.len() as f64)))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the message about the written file: its size, and the way to open it.
fn saved_message(output: &Path, size: &str) -> String {
    let is_page = output
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    match is_page {
        true => say!("{}: {size}, opens in any browser", output.display()),
        false => say!(
            "{}: {size}. To open it in a browser, rename it to end in .html.",
            output.display()
        ),
    }
}

/// Reads the recording for a page. [`report`] prints the notes about a folder's recordings.
pub(super) fn recording(file: &Path, contents: bool) -> anyhow::Result<Packed> {
    let opened =
        || session::open(file, |_| true).map_err(|e| anyhow!(describe_open_error(file, &e)));
    if file.is_dir() {
        // A folder without a readable recording is refused. Packing omits damaged ones.
        opened()?;
    }
    let packed = packed(file, contents).map_err(|e| anyhow!(describe_open_error(file, &e)))?;
    if packed.cut {
        let opened = opened()?;
        let runs: Vec<_> = opened.fleet.runs().collect();
        print_message(truncation_message(file, &runs));
    }
    Ok(packed)
}

/// Returns the report of a recording as text. It is empty for a file without a report.
pub(super) fn report(file: &Path) -> String {
    let Ok(picked) = pick(file, None) else {
        return String::new();
    };
    let mut report = Report::with_prospects(picked.run(), picked.cut(), datasets());
    report.loader = picked.about();
    report.is_growing = is_being_written(file);
    text(&report)
}

/// Returns the name of a file without its folder, because others receive the page.
pub(super) fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(OsStr::new("recording"));
    name.to_string_lossy().into_owned()
}

/// Removes the extensions of recordings from a name.
fn stem(name: &str) -> &str {
    let plain = name.strip_suffix(".zst").unwrap_or(name);
    let plain = plain.strip_suffix(".gz").unwrap_or(plain);
    let plain = plain.strip_suffix(".jsonl").unwrap_or(plain);
    plain.strip_suffix(".json").unwrap_or(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_name_of_the_recording() {
        assert_eq!(stem("run.jsonl.zst"), "run");
        assert_eq!(stem("run.2.jsonl"), "run.2");
        assert_eq!(stem("trace.json.gz"), "trace");
        assert_eq!(name_of(Path::new("/home/me/run.jsonl")), "run.jsonl");
    }

    /// A browser shows the source of a file with another extension.
    #[test]
    fn only_an_html_file_opens_in_any_browser() {
        for name in ["run.html", "run.HTM"] {
            let text = saved_message(Path::new(name), "2 MB");
            assert_eq!(text, format!("{name}: 2 MB, opens in any browser"));
        }
        for name in ["out.txt", "html"] {
            let text = saved_message(Path::new(name), "2 MB");
            assert!(text.contains("rename it to end in .html"), "{text}");
            assert!(!text.contains("opens in any browser"), "{text}");
        }
    }
}
