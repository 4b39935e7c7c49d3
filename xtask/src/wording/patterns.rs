//! The patterns of unclear writing.

use std::sync::LazyLock;

use regex::Regex;

use super::texts::Kind;

/// Pattern of unclear writing.
pub struct Pattern {
    /// Name of the pattern, with the repair.
    pub name: &'static str,
    find: Find,
}

enum Find {
    /// Counts each match of a regular expression.
    Text(Regex),
    /// Counts each match of the first group of a regular expression.
    Group(Regex),
    /// Counts the whole text once.
    Whole(fn(&str) -> bool),
}

impl Pattern {
    /// Returns the positions of the matches in a text, bytes.
    pub fn find(&self, text: &str) -> Vec<usize> {
        match &self.find {
            Find::Text(regex) => regex.find_iter(text).map(|found| found.start()).collect(),
            Find::Group(regex) => {
                let groups = regex.captures_iter(text).filter_map(|all| all.get(1));
                groups.map(|group| group.start()).collect()
            }
            Find::Whole(is) => is(text).then_some(0).into_iter().collect(),
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
        Kind::Words => &TERMS,
    }
}

#[expect(
    clippy::expect_used,
    reason = "the expressions are constants, and a test compiles them"
)]
fn compiled(regex: &str) -> Regex {
    Regex::new(regex).expect("a regular expression")
}

fn text(name: &'static str, regex: &str) -> Pattern {
    let find = Find::Text(compiled(regex));
    Pattern { name, find }
}

/// Returns a pattern of an old term: the first group of `regex`. The alternatives before the group are other meanings of its words.
fn term(name: &'static str, regex: &str) -> Pattern {
    let regex = regex.replace(' ', r"\s+");
    let find = Find::Group(compiled(&format!(r"\b(?:{regex})\b")));
    Pattern { name, find }
}

const fn line(name: &'static str, is: fn(&str) -> bool) -> Pattern {
    let find = Find::Whole(is);
    Pattern { name, find }
}

/// Returns the patterns of sentences, which apply to every text.
#[rustfmt::skip]
fn sentences() -> Vec<Pattern> {
    vec![
        text("opens with What, Where, Who, Whether or Which (a noun)", r"(?:^|[.!?] )\W*(?:What|Where|Who|Whose|Whether|Which) [a-z]"),
        text("opens with Of (the subject first)", r"(?:^|\. )\W*Of [a-z]"),
        text("tell, hear (record, send, receive, show)", r"(?i)\b(?:tells?|telling|told|hears?|heard)\b"),
        text("stand, lie (is, contains)", r"(?i)\b(?:stands?|stood|lies|lay)\b"),
        text("comes to, goes on, under way (starts, continues, in flight)", r"(?i)\b(?:com(?:es|e|ing) to|came to|go(?:es)? on|under way)\b"),
        text("held against (compared with)", r"(?i)\bh(?:olds?|eld)\b[^.]{0,40}\bagainst\b"),
        text("so many, so long, so often", r"(?i)\bso (?:many|much|long|often)\b"),
        text("anew, beside, behind (again, next to, after)", r"(?i)\b(?:anew|beside|behind)\b"),
        text("a for per",
            r"(?i) (?:one|two|times|samples|batches|events|rows?|lines?|MB|ms) an? (?:second|minute|line|batch|sample|row|class|worker)\b"),
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

/// Old terms, which must not return to names, comments, texts and documents.
#[rustfmt::skip]
static TERMS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    vec![
        term("machine (pipeline for the drawing, host for a computer)", "state machine|machine learning|num machines|(machines?)"),
        term("headspace (headroom)", "(headspace)"),
        term("hand out (yield, return)", "handed out at|((?:hands?|handed|handing) out)"),
        term("the form (the options)", "of the form|the form (?:of|that)|(the form)"),
        term("foretell (predict)", "(foretold|foretells?)"),
        term("break off (stop, abort)", "((?:breaks?|breaking|broke|broken) off)"),
        term("lay ready (were already finished)", "(lay ready)"),
        term("holds the others up (is the straggler)", "(holds the others up)"),
        term("of like cost (of similar cost)", "(of like cost)"),
        term("gives no sign (appears stuck)", "(gives no sign)"),
        term("is no whole number (is not a whole number)", "(is no whole number)"),
        term("a tensor a field (a tensor per field)", "(a tensor a field)"),
        term("nothing was learned (the training loop was blocked)", "(nothing was learned)"),
        term("the batch had come (the batch had arrived)", "(the batch had come)"),
        term("in a blink (almost instantly)", "(in a blink)"),
        term("adds a range up (summarizes a range)", "(adds a range up)"),
        term("the one in the middle (the median)", "(the one in the middle)"),
        term("no action is called (no matching action)", "(no action is called)"),
        // Title of the collection with the digits.
        term("data set (dataset)", r"digits\W+data set|(data sets?)"),
        term("9 of 10 (90 % interval)", "(nine cases of ten|9 of 10)"),
        term("nobody, somebody, whoever (the user, another process, a caller)", "(nobody|somebody|whoever)"),
        term("is told, is said (is reported, recorded, sent, printed, shown)", "((?:is|are|was|were) (?:told|said))"),
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
