//! The lines of the palette: every action, and what the run holds, found by typing.

use loadscope_insight::search::Query;
use loadscope_model::command::Action;
use loadscope_model::state::State;
use loadscope_model::update::obstacle;

/// A line of the palette.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// An action, and why it is impossible now, if it is.
    Act(Action, Option<&'static str>),
    /// Compare the run that is shown with the one with this number and name.
    Compare(u32, String),
    /// Look for this in the run.
    Find(Query),
}

/// So much worse must something fit to come after what is impossible now.
const IMPOSSIBLE: i32 = 20;

/// The lines for what is typed, best first.
pub fn entries(state: &State, text: &str) -> Vec<Entry> {
    let mut found: Vec<(i32, Action, Option<&'static str>)> = Action::all()
        // The palette is open already.
        .filter(|a| *a != Action::Palette)
        .filter_map(|action| {
            let info = action.info();
            let by_name = score(info.name, text);
            let score = by_name.or_else(|| score(info.tooltip, text).map(|s| s - 100))?;
            Some((score, action, obstacle(state, action)))
        })
        .collect();
    // What is impossible now comes after what fits as well and is not; otherwise the order of the table stays.
    let handicap = |obstacle: &Option<&str>| if obstacle.is_some() { IMPOSSIBLE } else { 0 };
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
        // The other runs of this window are nearer than a file.
        let others = state.runs.all().iter();
        let others = others.map(|run| Entry::Compare(run.number(), run.line.name.clone()));
        let others: Vec<Entry> = others.collect();
        found.splice(at..at, others);
    }
    let found = found.into_iter();
    let query = Query::parse(text).filter(|_| state.has_run());
    match query {
        // Words may mean an action; a number or a pattern of the search cannot.
        Some(query @ Query::Text(_)) => found.chain([Entry::Find(query)]).collect(),
        Some(query) => std::iter::once(Entry::Find(query)).chain(found).collect(),
        None => found.collect(),
    }
}

/// How well `text` fits what was typed: its letters in this order, better at the beginnings of words and side by side.
/// `None`: not at all.
fn score(text: &str, typed: &str) -> Option<i32> {
    if typed.trim().is_empty() {
        return Some(0);
    }
    let letters: Vec<char> = text.chars().flat_map(char::to_lowercase).collect();
    let mut score = 0;
    let mut from = 0;
    let mut last = None;
    for wanted in typed.chars().flat_map(char::to_lowercase) {
        if wanted.is_whitespace() {
            continue;
        }
        let starts = |k: usize| k == 0 || !letters[k - 1].is_alphanumeric();
        let fits = |k: &usize| letters[*k] == wanted;
        // The next letter, or the beginning of a later word, before anywhere else.
        let next = Some(from).filter(|k| *k > 0 && *k < letters.len() && letters[*k] == wanted);
        let found = next
            .or_else(|| (from..letters.len()).filter(fits).find(|k| starts(*k)))
            .or_else(|| (from..letters.len()).find(fits))?;
        score += match last {
            Some(before) if before + 1 == found => 5,
            _ if starts(found) => 8,
            _ => -(found as i32 - from as i32).min(6),
        };
        from = found + 1;
        last = Some(found);
    }
    // Of two that fit as well, the shorter one is meant.
    Some(score * 4 - letters.len() as i32 / 4)
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
    fn a_few_letters_are_enough() {
        assert_eq!(first("run demo"), Some(Action::RunDemo));
        assert_eq!(first("sim"), Some(Action::Simulate));
        assert_eq!(first("DARK"), Some(Action::ToggleTheme));
        assert_eq!(first("insp"), Some(Action::ToggleInspector));
        assert_eq!(first("quit"), Some(Action::Quit));
    }

    #[test]
    fn everything_is_there_while_nothing_is_typed() {
        let state = State::default();
        assert_eq!(entries(&state, "").len(), Action::all().count() - 1);
        // What is impossible is there as well, says why, and comes last.
        let all = entries(&state, "");
        let why = |e: &Entry| matches!(e, Entry::Act(_, Some(_)));
        assert!(all.is_sorted_by_key(why) && all.iter().any(why));
    }

    proptest! {
        #[test]
        fn anything_can_be_typed(text in ".{0,40}") {
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
