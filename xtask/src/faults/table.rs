//! The page `tests/faults/RESULTS.md`.

use std::fmt::Write as _;
use std::time::Duration;

use super::case::{CaseResult, Verdict};
use super::sandbox::SharedState;

/// Formats the page.
pub fn page(shared: &SharedState, tried: &[CaseResult], release: bool, took: Duration) -> String {
    let count = |is: fn(&Verdict) -> bool| tried.iter().filter(|one| is(&one.verdict)).count();
    let passed = count(|verdict| matches!(verdict, Verdict::Passed));
    let failed = count(|verdict| matches!(verdict, Verdict::Failed(_)));
    let left = tried.len() - passed - failed;
    let mut page = format!(
        "# Injected faults\n\nWritten by `cargo xtask faults`. The real program{} runs under faults injected with seccomp user notifications, limits \
         and kills. {} cases in {:.0} s, {} kills at random times: **{passed} held, {failed} failed, {left} not tried**.\n",
        if release { ", optimised," } else { "" },
        tried.len(),
        took.as_secs_f64(),
        shared.kills,
    );
    let mut family = "";
    for one in tried {
        if one.family != family {
            family = one.family;
            let _ = write!(
                page,
                "\n## {}\n\n| case | injected | must hold | outcome |\n|---|---|---|---|\n",
                title(family)
            );
        }
        let name = one
            .name
            .split_once(": ")
            .map_or(one.name.as_str(), |(_, name)| name);
        let outcome = match &one.verdict {
            Verdict::Passed if one.note.is_empty() => "held".to_owned(),
            Verdict::Passed => format!("held: {}", one.note),
            Verdict::Failed(why) => format!("**failed**: {}", first_sentence(why)),
            Verdict::Skipped(why) => format!("not tried: {why}"),
        };
        let cells = [name, &one.injected, &one.holds, &outcome].map(cell);
        let _ = writeln!(page, "| {} |", cells.join(" | "));
    }
    page
}

/// Capitalizes the name of a family.
fn title(family: &str) -> String {
    let mut letters = family.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Escapes a text for a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

/// Returns the first sentence. The rest is for the terminal, and names temporary folders.
fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_cells_are_escaped() {
        assert_eq!(cell("a|b\nc"), "a\\|b c");
        assert_eq!(first_sentence("one. two. three"), "one");
        assert_eq!(title("kills"), "Kills");
    }
}
