//! Brace expansion like that of the package `braceexpand`.

use loadscope_words::say;

/// Maximum number of names of a pattern. Checks of more files would take too long.
pub(super) const MOST: usize = 1 << 20;
/// Maximum size of all names of a pattern, bytes.
const MOST_BYTES: usize = 1 << 28;
/// Maximum nesting of braces.
const DEEPEST: usize = 64;

/// Error in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BraceError {
    /// A brace without a counterpart.
    #[error("{}", say!("a brace is not closed"))]
    Unbalanced,
    /// Too many or too long names.
    #[error("{}", say!("it names more than {MOST} shards"))]
    TooMany,
    /// Too deeply nested braces.
    #[error("{}", say!("its braces are nested more than {DEEPEST} deep"))]
    TooDeep,
}

/// Expands a pattern to at most `most` names: `a{0..2}` to `a0`, `a1`, `a2`, `{08..10}` to `08`, `09`, `10`, `{a..e..2}` to `a`, `c`, `e`,
/// `{x,y}` to `x`, `y`. A backslash escapes the next character.
///
/// # Errors
/// If a brace has no counterpart, or there are too many names.
pub fn expand(pattern: &str, most: usize) -> Result<Vec<String>, BraceError> {
    let names = pattern_names(pattern, most, 0)?;
    Ok(names.iter().map(|name| unescape(name)).collect())
}

/// Resolves `\x` to `x`.
fn unescape(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut characters = name.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => match characters.next() {
                // The regular expression of `braceexpand` does not match a line end.
                Some('\n') => text.push_str("\\\n"),
                Some(next) => text.push(next),
                None => text.push('\\'),
            },
            other => text.push(other),
        }
    }
    text
}

/// Calls `each` with the offset, the character and the depth of each brace and comma.
fn scan(text: &str, mut each: impl FnMut(usize, char, usize)) -> Result<(), BraceError> {
    let mut depth = 0usize;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '{' => {
                each(at, character, depth);
                depth += 1;
            }
            '}' => {
                depth = depth.checked_sub(1).ok_or(BraceError::Unbalanced)?;
                each(at, character, depth);
            }
            ',' => each(at, character, depth),
            _ => {}
        }
    }
    if depth == 0 {
        Ok(())
    } else {
        Err(BraceError::Unbalanced)
    }
}

/// Returns all names of a pattern, with their backslashes.
fn pattern_names(pattern: &str, most: usize, depth: usize) -> Result<Vec<String>, BraceError> {
    if depth > DEEPEST {
        return Err(BraceError::TooDeep);
    }
    let mut pairs = Vec::new();
    let mut open = 0;
    scan(pattern, |at, character, depth| match (character, depth) {
        ('{', 0) => open = at,
        ('}', 0) => pairs.push((open, at)),
        _ => {}
    })?;
    let mut names = vec![String::new()];
    let mut begin = 0;
    for (open, close) in pairs {
        append(&mut names, &[slice(pattern, begin, open).to_owned()], most)?;
        let inside = slice(pattern, open + 1, close);
        let parts = match expression(inside, most, depth)? {
            Some(parts) => parts,
            // Braces without a range or a list are part of the name.
            None => {
                let inner = pattern_names(inside, most, depth + 1)?;
                inner
                    .into_iter()
                    .map(|name| format!("{{{name}}}"))
                    .collect()
            }
        };
        append(&mut names, &parts, most)?;
        begin = close + 1;
    }
    append(
        &mut names,
        &[slice(pattern, begin, pattern.len()).to_owned()],
        most,
    )?;
    Ok(names)
}

fn slice(text: &str, begin: usize, end: usize) -> &str {
    text.get(begin..end).unwrap_or_default()
}

/// Appends each part to each name.
fn append(names: &mut Vec<String>, parts: &[String], most: usize) -> Result<(), BraceError> {
    if let [part] = parts {
        if !part.is_empty() {
            names.iter_mut().for_each(|name| name.push_str(part));
        }
        return Ok(());
    }
    let count = names.len().saturating_mul(parts.len());
    let long = |texts: &[String]| texts.iter().map(String::len).sum::<usize>();
    let bytes = long(names)
        .saturating_mul(parts.len())
        .saturating_add(long(parts).saturating_mul(names.len()));
    if count > most || bytes > MOST_BYTES {
        return Err(BraceError::TooMany);
    }
    let both = names
        .iter()
        .flat_map(|name| parts.iter().map(move |part| format!("{name}{part}")));
    *names = both.collect();
    Ok(())
}

/// Expands the content of braces. Returns `None` if it is neither a range nor a list.
fn expression(text: &str, most: usize, depth: usize) -> Result<Option<Vec<String>>, BraceError> {
    if let Some(range) = numbers(text, most)? {
        return Ok(Some(range));
    }
    if let Some(range) = letters(text) {
        return Ok(Some(range));
    }
    let mut commas = Vec::new();
    scan(text, |at, character, depth| {
        if (character, depth) == (',', 0) {
            commas.push(at);
        }
    })?;
    if commas.is_empty() {
        return Ok(None);
    }
    commas.push(text.len());
    let (mut names, mut begin) = (Vec::new(), 0);
    for comma in commas {
        names.extend(pattern_names(slice(text, begin, comma), most, depth + 1)?);
        if names.len() > most {
            return Err(BraceError::TooMany);
        }
        begin = comma + 1;
    }
    Ok(Some(names))
}

/// Splits `a..b` or `a..b..step`. The sign of the step has no effect, and a step of 0 is 1.
fn range(text: &str) -> Option<(&str, &str, u64)> {
    let (begin, rest) = text.split_once("..")?;
    let (end, step) = match rest.split_once("..") {
        Some((end, step)) => (end, step.strip_prefix('-').unwrap_or(step)),
        None => (rest, "1"),
    };
    let is_number = !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit());
    // A step beyond 64 bits skips all other items.
    let step = if is_number {
        step.parse().unwrap_or(u64::MAX)
    } else {
        return None;
    };
    Some((begin, end, step.max(1)))
}

/// Expands a range of integers. Returns `None` if the text is not one. A leading zero pads all numbers to equal width.
fn numbers(text: &str, most: usize) -> Result<Option<Vec<String>>, BraceError> {
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    };
    let Some((begin, end, step)) = range(text) else {
        return Ok(None);
    };
    if !is_number(begin) || !is_number(end) {
        return Ok(None);
    }
    let is_padded = [begin, end]
        .iter()
        .any(|t| t.trim_start_matches('-').starts_with('0') && **t != *"0" && **t != *"-0");
    let width = if is_padded {
        begin.len().max(end.len())
    } else {
        0
    };
    let (Ok(begin), Ok(end)) = (begin.parse::<i64>(), end.parse::<i64>()) else {
        return Err(BraceError::TooMany);
    };
    let count = begin.abs_diff(end) / step;
    if count >= most as u64 || width > MOST_BYTES / most.max(1) {
        return Err(BraceError::TooMany);
    }
    let number = |i: u64| {
        let offset = i128::from(i) * i128::from(step);
        let number = if begin < end {
            i128::from(begin) + offset
        } else {
            i128::from(begin) - offset
        };
        // Python and Rust count the sign as part of the width.
        format!("{number:0width$}")
    };
    Ok(Some((0..=count).map(number).collect()))
}

/// Expands a range of letters. `Z` precedes `a`.
fn letters(text: &str) -> Option<Vec<String>> {
    let alphabet: Vec<char> = ('A'..='Z').chain('a'..='z').collect();
    let (begin, end, step) = range(text)?;
    let place = |text: &str| {
        let only = text.chars().next_back()?;
        let place = alphabet.iter().position(|letter| *letter == only)?;
        (text.len() == 1).then_some(place)
    };
    let (begin, end) = (place(begin)?, place(end)?);
    let step = usize::try_from(step).unwrap_or(usize::MAX);
    let letter = |place: usize| alphabet.get(place).map(char::to_string);
    Some(if begin < end {
        (begin..=end).step_by(step).filter_map(letter).collect()
    } else {
        (end..=begin)
            .rev()
            .step_by(step)
            .filter_map(letter)
            .collect()
    })
}
