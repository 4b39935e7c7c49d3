//! The patterns of unclear writing.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::Kind;

/// Pattern of unclear writing.
pub struct Pattern {
    /// Name of the pattern, with the repair.
    pub name: &'static str,
    find: Find,
}

enum Find {
    /// Counts each match of a regular expression.
    Text(Regex),
    /// Counts the whole line once.
    Line(fn(&str) -> bool),
}

impl Pattern {
    /// Returns the number of matches in a line.
    pub fn count(&self, line: &str) -> usize {
        match &self.find {
            Find::Text(regex) => regex.find_iter(line).count(),
            Find::Line(is) => usize::from(is(line)),
        }
    }
}

/// Returns the patterns for a kind of text.
pub fn of(kind: Kind) -> &'static [Pattern] {
    match kind {
        Kind::DocComments | Kind::Comments | Kind::Markdown => &PROSE,
        Kind::UserDocuments => &DOCUMENTS,
        Kind::CatalogKeys => &KEYS,
        Kind::CommitSubjects => &SUBJECTS,
    }
}

#[expect(
    clippy::expect_used,
    reason = "the expressions are constants, and a test compiles them"
)]
fn text(name: &'static str, regex: &str) -> Pattern {
    let find = Find::Text(Regex::new(regex).expect("a regular expression"));
    Pattern { name, find }
}

const fn line(name: &'static str, is: fn(&str) -> bool) -> Pattern {
    let find = Find::Line(is);
    Pattern { name, find }
}

/// Returns the patterns of sentences, which apply to every text.
fn sentences() -> Vec<Pattern> {
    vec![
        text(
            "opens with What, Where, Who, Whether or Which (a noun)",
            r"(?:^|[.!?] )\W*(?:What|Where|Who|Whose|Whether|Which) [a-z]",
        ),
        text("opens with Of (the subject first)", r"(?:^|\. )\W*Of [a-z]"),
        text(
            "tell, hear (record, send, receive, show)",
            r"(?i)\b(?:tells?|telling|told|hears?|heard)\b",
        ),
        text(
            "stand, lie (is, contains)",
            r"(?i)\b(?:stands?|stood|lies|lay)\b",
        ),
        text(
            "comes to, goes on, under way (starts, continues, in flight)",
            r"(?i)\b(?:com(?:es|e|ing) to|came to|go(?:es)? on|under way)\b",
        ),
        text(
            "held against (compared with)",
            r"(?i)\bh(?:olds?|eld)\b[^.]{0,40}\bagainst\b",
        ),
        text(
            "so many, so long, so often",
            r"(?i)\bso (?:many|much|long|often)\b",
        ),
        text(
            "anew, beside, behind (again, next to, after)",
            r"(?i)\b(?:anew|beside|behind)\b",
        ),
        text(
            "a for per",
            r"(?i) (?:one|two|times|samples|batches|events|rows?|lines?|MB|ms) an? (?:second|minute|line|batch|sample|row|class|worker)\b",
        ),
    ]
}

static PROSE: LazyLock<Vec<Pattern>> = LazyLock::new(sentences);

static DOCUMENTS: LazyLock<Vec<Pattern>> = LazyLock::new(|| vec![text("semicolon", ";")]);

static KEYS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let mut all = sentences();
    all.push(text("is no (is not a)", r"\b(?:is|are) no [a-z]"));
    all.push(line("semicolon in more than 12 words", |key| {
        key.contains(';') && key.split_whitespace().count() > 12
    }));
    all.push(line("several sentences, no final period", lacks_period));
    all
});

static SUBJECTS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    vec![
        line("longer than 60 characters", |subject| {
            subject.chars().count() > 60
        }),
        text("semicolon", ";"),
        line("not imperative", |subject| !is_imperative(subject)),
    ]
});

/// Returns true for `First. Second`.
fn lacks_period(key: &str) -> bool {
    static SEVERAL: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"[a-z)\d][.!?] [A-Z`]").ok());
    let is_several = SEVERAL.as_ref().is_some_and(|s| s.is_match(key));
    is_several && !key.trim_end().ends_with(['.', '!', '?', '…', ':'])
}

/// Returns true if the first word after `area: ` may be an imperative. An article, a pronoun, a third-person verb and a past form are not.
fn is_imperative(subject: &str) -> bool {
    const NOT: [&str; 14] = [
        "the", "a", "an", "of", "what", "where", "who", "when", "if", "it", "its", "each", "no",
        "more",
    ];
    let words = subject.split_once(": ").map_or(subject, |(_, words)| words);
    let first = words.split([' ', ',']).next().unwrap_or_default();
    let first = first.to_lowercase();
    let is_past = first.ends_with("ed")
        && !["embed", "feed", "need", "seed", "shed", "speed"].contains(&&*first);
    let is_third = first.ends_with('s') && !first.ends_with("ss") && first != "focus";
    let is_name = !first.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    !(NOT.contains(&&*first) || is_past || is_third || is_name || first.is_empty())
}
