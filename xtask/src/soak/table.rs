//! The page `tests/soak/RESULTS.md`, with one section per process.

use std::fmt::Write as _;
use std::num::NonZero;

use super::child::{Run, Watched, Work};
use super::row::{Row, count};
use crate::steps;

/// Text above the sections.
const HEAD: &str = "# Soak\n\n\
Written by `cargo xtask soak --write`. It runs a billion events through the parts of the program that run for weeks. Each section is one\n\
process, sampled four times per second: resident memory, descriptors, threads, and the files of its recording. After the second tenth of\n\
the events nothing may grow. Limits above the maximum of the second tenth: 10 % and 16 MB of memory, 16 descriptors, 8 threads. The\n\
recording is compared with counts taken while it was written.\n";

/// Section of the page.
pub struct Section {
    title: String,
    body: String,
}

impl Section {
    /// Formats the result of a process.
    pub fn of(work: &Work, run: &Run<'_>, watched: &Watched) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let failed = watched.rows.iter().filter(|row| row.holds == Some(false));
        let verdict = match failed.count() {
            0 => "everything holds".to_owned(),
            failed => format!("{failed} FAILED"),
        };
        let mut body = format!(
            "{}\n\n{} events in {}, on a host with {cores} cores; seed {}: **{verdict}**.\n\n| what | measured | |\n|---|---|---|\n",
            work.about,
            count(run.events),
            steps::format_duration(watched.took),
            run.seed,
        );
        for row in &watched.rows {
            let _ = writeln!(body, "{}", line(row));
        }
        Self {
            title: work.title.to_owned(),
            body,
        }
    }

    /// Returns the section in the format of the page.
    pub fn text(&self) -> String {
        format!("## {}\n\n{}", self.title, self.body)
    }
}

fn line(row: &Row) -> String {
    let verdict = match row.holds {
        Some(true) => "holds",
        Some(false) => "FAILED",
        None => "",
    };
    let [what, measured] = [&row.what, &row.measured].map(|text| cell(text));
    format!("| {what} | {measured} | {verdict} |")
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns the page with the section in place of the previous one with its title. `order` is the order of the titles.
pub fn page(before: &str, section: Section, order: &[&str]) -> String {
    let mut sections: Vec<Section> = before.split("\n## ").skip(1).map(read).collect();
    sections.retain(|other| other.title != section.title);
    sections.push(section);
    let place = |section: &Section| order.iter().position(|title| *title == section.title);
    sections.sort_by_key(|section| place(section).unwrap_or(usize::MAX));
    let mut page = HEAD.to_owned();
    for section in sections {
        let _ = write!(page, "\n{}\n", section.text().trim_end());
    }
    page
}

fn read(text: &str) -> Section {
    let (title, body) = text.split_once('\n').unwrap_or((text, ""));
    Section {
        title: title.to_owned(),
        body: body.trim().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(title: &str, body: &str) -> Section {
        Section {
            title: title.to_owned(),
            body: body.to_owned(),
        }
    }

    #[test]
    fn a_section_replaces_its_earlier_version() {
        let order = ["One", "Two"];
        let two = page("", section("Two", "old"), &order);
        let both = page(&two, section("One", "| a | b | holds |"), &order);
        let again = page(&both, section("Two", "new"), &order);
        assert!(again.starts_with("# Soak\n"));
        assert!(
            again.ends_with("\n## One\n\n| a | b | holds |\n\n## Two\n\nnew\n"),
            "{again}"
        );
        assert_eq!(page(&again, section("Two", "new"), &order), again);
    }

    #[test]
    fn a_failed_row_is_marked() {
        let row = Row::new("a|b", "1".to_owned(), Some(false));
        assert_eq!(line(&row), "| a\\|b | 1 | FAILED |");
    }
}
