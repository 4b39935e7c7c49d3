//! Macros of `loadscope-words`, which read the catalogs of the compiled crate and pass the texts of all languages to `format!`,
//! which checks their placeholders. A missing text falls back to English.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock};

use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

mod catalog;
mod template;

use catalog::Catalog;

/// Languages other than English: variant of `Language`, and extension of its catalogs.
const OTHERS: [(&str, &str); 1] = [("Zh", "zh")];

/// Texts of a literal: English, then [`OTHERS`].
struct Entry {
    texts: Vec<String>,
    has_placeholders: bool,
    span: Span,
    /// A comma and the arguments, or nothing.
    arguments: TokenStream,
}

/// Returns a text of the catalog in the language of the program.
#[proc_macro]
pub fn say(input: TokenStream) -> TokenStream {
    or_error(parse_entry(input).map(|entry| {
        let mut arms = TokenStream::new();
        let languages = std::iter::once("En").chain(OTHERS.map(|(name, _)| name));
        for (language, text) in languages.zip(&entry.texts) {
            arms.extend(code(&format!("::loadscope_words::Language::{language} =>")));
            arms.extend(entry.expression(text, language != "En"));
            arms.extend(code(","));
        }
        let mut out = code("match ::loadscope_words::language()");
        out.extend([group(Delimiter::Brace, arms)]);
        // Parentheses make the output an expression in any position.
        [group(Delimiter::Parenthesis, out)].into_iter().collect()
    }))
}

/// Returns a `Text` of the catalog, for constants.
#[proc_macro]
pub fn text(input: TokenStream) -> TokenStream {
    or_error(parse_entry(input).and_then(|entry| {
        if entry.has_placeholders || !entry.arguments.is_empty() {
            return Err((
                entry.span,
                "a constant text has no placeholders: use say!".to_owned(),
            ));
        }
        Ok(text_of(&entry.texts))
    }))
}

/// Makes Cargo recompile the crate after a change to its catalogs.
#[proc_macro]
pub fn catalogs(_: TokenStream) -> TokenStream {
    let folder = folder();
    let mut out = String::new();
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    for path in files.map(|file| file.path()) {
        if path.extension().is_some_and(|e| e == "toml") {
            // Writing to a `String` cannot fail.
            let _ = write!(
                out,
                "const _: &str = include_str!({:?});",
                path.display().to_string()
            );
        }
    }
    code(&out)
}

/// Returns all entries of a catalog, sorted by their English text.
#[proc_macro]
pub fn table(input: TokenStream) -> TokenStream {
    let name = template::unquoted(&input.to_string()).unwrap_or_default();
    let catalogs: Result<Vec<Catalog>, String> = OTHERS
        .iter()
        .map(|(_, code)| with_catalog(&format!("{name}.{code}.toml"), Clone::clone))
        .collect();
    or_error(
        catalogs
            .map_err(|why| (Span::call_site(), why))
            .map(|catalogs| {
                let mut rows = TokenStream::new();
                for key in catalogs[0].keys() {
                    let others = catalogs
                        .iter()
                        .map(|c| c.get(key).cloned().unwrap_or_default());
                    let texts: Vec<String> = std::iter::once(key.clone()).chain(others).collect();
                    let mut row: TokenStream = [TokenTree::from(Literal::string(key))]
                        .into_iter()
                        .collect();
                    row.extend(code(","));
                    row.extend(text_of(&texts));
                    rows.extend([group(Delimiter::Parenthesis, row)]);
                    rows.extend(code(","));
                }
                let mut out = code("&");
                out.extend([group(Delimiter::Bracket, rows)]);
                out
            }),
    )
}

impl Entry {
    /// Returns the expression for one language.
    fn expression(&self, text: &str, has_joints: bool) -> TokenStream {
        // The span of the English literal makes names in the text refer to the surrounding function.
        let literal = |text: &str| {
            let mut literal = Literal::string(text);
            literal.set_span(self.span);
            TokenStream::from(TokenTree::from(literal))
        };
        if !self.has_placeholders {
            return literal(&template::plain(text));
        }
        let mut arguments = match has_joints {
            true => literal(&template::with_joints(text)),
            false => literal(text),
        };
        arguments.extend(self.arguments.clone());
        let mut made = code("::std::format!");
        made.extend([group(Delimiter::Parenthesis, arguments)]);
        if !has_joints {
            return made;
        }
        let mut out = code("::loadscope_words::spaced");
        out.extend([group(Delimiter::Parenthesis, made)]);
        out
    }
}

fn text_of(texts: &[String]) -> TokenStream {
    let mut all = TokenStream::new();
    for text in texts {
        all.extend([TokenTree::from(Literal::string(&template::plain(text)))]);
        all.extend(code(","));
    }
    let mut out = code("::loadscope_words::Text::new");
    let list = TokenStream::from(group(Delimiter::Bracket, all));
    out.extend([group(Delimiter::Parenthesis, list)]);
    out
}

/// Parses `"English", arguments` or `context: "English", arguments`, and looks up the text.
fn parse_entry(input: TokenStream) -> Result<Entry, (Span, String)> {
    let here = Span::call_site();
    let mut tokens = input.into_iter().peekable();
    let context = match tokens.peek() {
        Some(TokenTree::Ident(name)) => Some(name.to_string()),
        _ => None,
    };
    if context.is_some() {
        tokens.next();
        tokens.next();
    }
    let mut token = tokens.next().ok_or((here, "expected a text".to_owned()))?;
    // A literal from another macro is in a group.
    while let TokenTree::Group(inner) = &token {
        token = inner
            .stream()
            .into_iter()
            .next()
            .ok_or((here, "expected a text".to_owned()))?;
    }
    let span = token.span();
    let fail = |why: String| (span, why);
    let english = template::unquoted(&token.to_string());
    let english = english.ok_or_else(|| fail("expected a text in quotes".to_owned()))?;
    let key = match context {
        Some(context) => format!("{context}|{english}"),
        None => english.clone(),
    };
    let wanted = template::placeholders(&english).map_err(fail)?;
    let mut texts = vec![english];
    for (_, code) in OTHERS {
        let file = format!("{code}.toml");
        let translated = with_catalog(&file, |catalog| catalog.get(&key).cloned()).map_err(fail)?;
        let Some(text) = translated else {
            texts.push(texts[0].clone());
            continue;
        };
        let has = template::placeholders(&text).map_err(fail)?;
        if has != wanted {
            return Err(fail(format!(
                "words/{file}: {text:?} has other placeholders than {key:?}: {has:?}, {wanted:?}"
            )));
        }
        texts.push(text);
    }
    // A trailing comma is not an argument.
    let arguments: TokenStream = match tokens.clone().nth(1) {
        Some(_) => tokens.collect(),
        None => TokenStream::new(),
    };
    Ok(Entry {
        texts,
        has_placeholders: !wanted.is_empty(),
        span,
        arguments,
    })
}

/// Returns the folder with the catalogs of the compiled crate.
fn folder() -> PathBuf {
    PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("words")
}

/// Queries a catalog of the compiled crate. Each catalog is read once.
fn with_catalog<T>(file: &str, ask: impl FnOnce(&Catalog) -> T) -> Result<T, String> {
    static READ: OnceLock<Mutex<BTreeMap<PathBuf, Catalog>>> = OnceLock::new();
    let path = folder().join(file);
    let mut all = READ
        .get_or_init(Mutex::default)
        .lock()
        .map_err(|e| e.to_string())?;
    if !all.contains_key(&path) {
        all.insert(path.clone(), catalog::read(&path)?);
    }
    all.get(&path).map(ask).ok_or_else(String::new)
}

fn group(delimiter: Delimiter, inner: TokenStream) -> TokenTree {
    Group::new(delimiter, inner).into()
}

/// Parses code of this file to tokens.
fn code(text: &str) -> TokenStream {
    text.parse().unwrap_or_default()
}

fn or_error(made: Result<TokenStream, (Span, String)>) -> TokenStream {
    made.unwrap_or_else(|(span, why)| {
        let mut literal = Literal::string(&why);
        literal.set_span(span);
        let mut out = code("::std::compile_error!");
        let mut call = Group::new(Delimiter::Parenthesis, TokenTree::from(literal).into());
        call.set_span(span);
        out.extend([TokenTree::from(call)]);
        out.into_iter()
            .map(|mut token| {
                token.set_span(span);
                token
            })
            .collect()
    })
}
