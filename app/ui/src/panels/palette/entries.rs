//! Entries of the palette: actions, and searches of the run.

use loadscope_insight::search::Query;
use loadscope_model::command::Action;
use loadscope_model::state::State;
use loadscope_model::update::obstacle;

/// Entry of the palette.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// An action, with the reason if it is unavailable now.
    Act(Action, Option<&'static str>),
    /// A comparison of the shown run with the run of this number and name.
    Compare(u32, String),
    /// A search of the run.
    Find(Query),
}

/// Minimum length of a typed text that counts as whole words, bytes.
const MIN_WHOLE_WORDS: usize = 4;

/// Score that an unavailable action loses.
const UNAVAILABLE_PENALTY: i32 = 20;

/// Score that a match in a tooltip loses, compared with a match in a name.
const TOOLTIP_PENALTY: i32 = 100;

/// Returns the entries that match the typed text, best first.
pub fn entries(state: &State, text: &str) -> Vec<Entry> {
    let mut found: Vec<(i32, Action, Option<&'static str>)> = Action::all()
        // The palette is already open.
        .filter(|a| *a != Action::Palette)
        .filter_map(|action| {
            let info = action.info();
            let by_tooltip =
                || by_tooltip(info.tooltip, text).map(|points| points - TOOLTIP_PENALTY);
            let score = by_name(info.name, text).or_else(by_tooltip)?;
            Some((score, action, obstacle(state, action)))
        })
        .collect();
    // If any entry contains the typed words, entries that only match letter by letter are removed.
    let has_them = |action: &Action| {
        let info = action.info();
        let has = |said: &str| has_words(&lower(said), text);
        has(info.name) || has(info.tooltip)
    };
    if text.trim().len() >= MIN_WHOLE_WORDS && found.iter().any(|(_, a, _)| has_them(a)) {
        found.retain(|(_, action, _)| has_them(action));
    }
    // Unavailable actions come after equally good matches. Ties keep the order of the action table.
    let handicap = |obstacle: &Option<&str>| {
        if obstacle.is_some() {
            UNAVAILABLE_PENALTY
        } else {
            0
        }
    };
    found.sort_by_key(|(score, _, obstacle)| handicap(obstacle) - score);
    let mut found: Vec<Entry> = found
        .into_iter()
        .map(|(_, a, why)| Entry::Act(a, why))
        .collect();
    let is_compare = |entry: &Entry| matches!(entry, Entry::Act(Action::Compare, _));
    if let Some(at) = found.iter().position(is_compare)
        && !text.trim().is_empty()
        && state.has_run()
    {
        // Other runs of this window come before a file.
        let others = state.runs.all().iter();
        let others = others.map(|run| Entry::Compare(run.number(), run.line.name.clone()));
        let others: Vec<Entry> = others.collect();
        found.splice(at..at, others);
    }
    let found = found.into_iter();
    let query = Query::parse(text).filter(|_| state.has_run());
    match query {
        // Words may be the name of an action, so their search comes last. Numbers and search patterns come first.
        Some(query @ Query::Text(_)) => found.chain([Entry::Find(query)]).collect(),
        Some(query) => std::iter::once(Entry::Find(query)).chain(found).collect(),
        None => found.collect(),
    }
}

/// Scores of a letter next to the previous one, and of one that begins a word.
const ADJACENT_SCORE: i32 = 5;
const WORD_START_SCORE: i32 = 8;
/// Score of a name whose words begin with the typed words. It ranks above names that match by initials.
const WHOLE_WORDS_SCORE: i32 = 200;

/// Scores the match of a name. Each typed letter must follow the previous one or begin a word. Returns `None` if the name does not match.
fn by_name(name: &str, typed: &str) -> Option<i32> {
    let letters = lower(name);
    let begins = |k: usize| begins_word(&letters, k);
    // Best score for each position of the last typed letter.
    let mut ways: Option<Vec<(usize, i32)>> = None;
    for wanted in lower(typed).into_iter().filter(|c| !c.is_whitespace()) {
        let best = |k: usize| -> Option<i32> {
            let Some(ways) = &ways else {
                return begins(k).then_some(WORD_START_SCORE);
            };
            let step = |(last, points): &(usize, i32)| match k {
                k if k == last + 1 => Some(points + ADJACENT_SCORE),
                k if k > *last && begins(k) => Some(points + WORD_START_SCORE),
                _ => None,
            };
            ways.iter().filter_map(step).max()
        };
        let fits = (0..letters.len()).filter(|k| letters[*k] == wanted);
        ways = Some(fits.filter_map(|k| Some((k, best(k)?))).collect());
    }
    let points = match ways {
        Some(ways) => ways.into_iter().map(|(_, points)| points).max()?,
        None => return Some(0),
    };
    let words = if has_words(&letters, typed) {
        WHOLE_WORDS_SCORE
    } else {
        0
    };
    // If two matches are equally good, the shorter name wins.
    Some(points * 4 + words - letters.len() as i32 / 4)
}

/// Scores the match of a tooltip. Each typed word must begin one of its words.
fn by_tooltip(tooltip: &str, typed: &str) -> Option<i32> {
    let letters = lower(tooltip);
    has_words(&letters, typed).then(|| -(letters.len() as i32) / 4)
}

/// Returns true if each typed word begins a word of `letters`.
fn has_words(letters: &[char], typed: &str) -> bool {
    let has = |word: &str| {
        let word = lower(word);
        (0..letters.len()).any(|k| begins_word(letters, k) && letters[k..].starts_with(&word))
    };
    typed.split_whitespace().all(has)
}

fn lower(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Returns true if a word can begin at `k`. Chinese has no spaces, so each of its characters may begin a word.
fn begins_word(letters: &[char], k: usize) -> bool {
    k == 0 || !letters[k - 1].is_alphanumeric() || !letters[k].is_ascii()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(text: &str) -> Option<Action> {
        let state = State::default();
        entries(&state, text).into_iter().find_map(|e| match e {
            Entry::Act(action, _) => Some(action),
            Entry::Find(_) | Entry::Compare(..) => None,
        })
    }

    #[test]
    fn a_few_letters_find_the_action() {
        assert_eq!(first("run demo"), Some(Action::RunDemo));
        assert_eq!(first("sim"), Some(Action::Simulate));
        assert_eq!(first("DARK"), Some(Action::ToggleTheme));
        assert_eq!(first("insp"), Some(Action::ToggleInspector));
        assert_eq!(first("quit"), Some(Action::Quit));
    }

    /// Regression test: "theme" also found Glossary, Simulate, Next marker and Smaller, through letters scattered over their tooltips.
    #[test]
    fn a_whole_word_finds_only_actions_with_that_word() {
        let state = State::default();
        let mut words: Vec<String> = Action::all()
            .filter(|action| *action != Action::Palette)
            .flat_map(|action| action.info().name.split_whitespace())
            .map(|word| word.to_lowercase().replace('…', ""))
            .filter(|word| word.len() >= 4)
            .collect();
        words.sort();
        words.dedup();
        assert!(words.len() > 40);
        for word in words {
            let found = entries(&state, &word);
            assert!(!found.is_empty(), "{word}");
            for entry in found {
                let Entry::Act(action, _) = entry else {
                    continue;
                };
                let info = action.info();
                let text = format!("{} {}", info.name, info.tooltip).to_lowercase();
                assert!(text.contains(&word), "{word} finds {action:?}");
            }
        }
    }

    #[test]
    fn word_prefixes_match_and_chinese_needs_no_spaces() {
        assert!(by_name("Next arrival out of order", "noo").is_some());
        assert!(by_name("Run the digits demo", "run demo").is_some());
        assert!(by_name("Next marker", "theme").is_none());
        assert!(by_name("切换主题", "主题").is_some());
        assert!(by_tooltip("在深色和浅色主题之间切换", "主题").is_some());
        assert!(by_tooltip("Places a marker", "place mark").is_some());
        assert!(by_tooltip("Places a marker", "lace").is_none());
    }

    #[test]
    fn an_empty_search_lists_every_action() {
        let state = State::default();
        assert_eq!(entries(&state, "").len(), Action::all().count() - 1);
        // Unavailable actions are included with their reason, and come last.
        let all = entries(&state, "");
        let why = |e: &Entry| matches!(e, Entry::Act(_, Some(_)));
        assert!(all.is_sorted_by_key(why) && all.iter().any(why));
    }

    proptest! {
        #[test]
        fn any_palette_text_is_searched_without_panic(text in ".{0,40}") {
            entries(&State::default(), &text);
        }

        #[test]
        fn a_name_finds_its_action_first(k in 0..61usize) {
            let Some(action) = Action::all().nth(k).filter(|a| *a != Action::Palette) else {
                return Ok(());
            };
            let state = State::default();
            let all = entries(&state, action.info().name);
            let place = all.iter().position(|e| matches!(e, Entry::Act(a, _) if *a == action));
            prop_assert_eq!(place, Some(0));
        }
    }
}
