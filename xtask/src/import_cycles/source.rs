//! A parser for the modules of a file: their items, their imports, and the names that they mention.

use std::collections::{BTreeMap, BTreeSet};

use super::lex::{Token, tokens};

/// Module, as one file defines it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Names of the items defined here, without modules.
    pub items: BTreeSet<String>,
    /// Modules with a body in this file.
    pub inline: BTreeMap<String, Module>,
    /// Modules in separate files.
    pub files: Vec<FileModule>,
    /// Names that `use` imports, also inside of functions.
    pub imports: Vec<Import>,
    /// Paths of at least two names, outside of `use`.
    pub paths: BTreeSet<Vec<String>>,
    /// First names of all paths outside of `use`.
    pub mentioned: BTreeSet<String>,
}

/// Module that is declared here and defined in another file.
#[derive(Debug, PartialEq, Eq)]
pub struct FileModule {
    /// Name of the module.
    pub name: String,
    /// Paths in its `path` attributes.
    pub paths: Vec<String>,
}

/// Name that `use` imports.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// Path of the imported item.
    pub path: Vec<String>,
    /// Local name of the item. `None` for a glob import.
    pub name: Option<String>,
    /// True for a re-export (`pub use`).
    pub is_public: bool,
}

/// Parses a file. Skips code that is compiled only for tests.
pub fn read(source: &str) -> Module {
    let mut reader = Reader {
        tokens: &tokens(source),
        at: 0,
    };
    reader.module()
}

struct Reader<'a> {
    tokens: &'a [Token<'a>],
    at: usize,
}

/// Attributes of an item.
#[derive(Default)]
struct Attributes {
    is_for_tests: bool,
    paths: Vec<String>,
}

impl<'a> Reader<'a> {
    fn peek(&self, ahead: usize) -> Option<Token<'a>> {
        self.tokens.get(self.at + ahead).copied()
    }

    fn name(&self, ahead: usize) -> Option<&'a str> {
        match self.peek(ahead)? {
            Token::Name(name) => Some(name),
            Token::Text(_) | Token::Colons | Token::Sign(_) => None,
        }
    }

    /// Returns the token before the next one.
    fn sign_before(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let is_next = self.peek(0) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    /// Reads a module up to its closing brace, or to the end of the file.
    fn module(&mut self) -> Module {
        let mut module = Module::default();
        let mut attributes = Attributes::default();
        let mut depth = 0usize;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign('#') if self.is_attribute() => {
                    self.attribute(&mut attributes);
                    continue;
                }
                _ if attributes.is_for_tests => {
                    self.skip_item();
                    attributes = Attributes::default();
                    continue;
                }
                Token::Sign('{' | '(' | '[') => depth += 1,
                Token::Sign('}' | ')' | ']') => match depth.checked_sub(1) {
                    Some(outer) => depth = outer,
                    None => break,
                },
                Token::Name("pub") => {
                    self.at += 1;
                    self.visibility();
                    if self.is_use() {
                        self.at += 1;
                        self.import(&mut Vec::new(), true, &mut module.imports);
                    }
                    continue;
                }
                Token::Name("use") if self.is_use() => {
                    self.at += 1;
                    self.import(&mut Vec::new(), false, &mut module.imports);
                    continue;
                }
                Token::Name("mod") if depth == 0 => {
                    self.at += 1;
                    self.submodule(&mut module, std::mem::take(&mut attributes));
                    continue;
                }
                Token::Name(name) => {
                    if depth == 0 {
                        module.items.extend(self.defined(name).map(str::to_owned));
                    }
                    self.path(&mut module);
                    attributes = Attributes::default();
                    continue;
                }
                Token::Text(_) | Token::Colons | Token::Sign(_) => {}
            }
            attributes = Attributes::default();
            self.at += 1;
        }
        self.at += 1;
        module
    }

    fn is_attribute(&self) -> bool {
        let behind = match self.peek(1) {
            Some(Token::Sign('!')) => self.peek(2),
            other => other,
        };
        behind == Some(Token::Sign('['))
    }

    fn attribute(&mut self, attributes: &mut Attributes) {
        while self.peek(0).is_some_and(|token| token != Token::Sign('[')) {
            self.at += 1;
        }
        let start = self.at;
        self.skip_group();
        let inside = &self.tokens[start..self.at.min(self.tokens.len())];
        const TEST: [Token<'_>; 3] = [Token::Name("cfg"), Token::Sign('('), Token::Name("test")];
        const ALL: [Token<'_>; 3] = [Token::Name("all"), Token::Sign('('), Token::Name("test")];
        attributes.is_for_tests |= inside
            .windows(3)
            .any(|window| window == TEST || window == ALL);
        for window in inside.windows(3) {
            if let [Token::Name("path"), Token::Sign('='), Token::Text(path)] = window {
                attributes.paths.push((*path).to_owned());
            }
        }
    }

    /// Skips the group in brackets that begins here.
    fn skip_group(&mut self) {
        let mut depth = 0usize;
        while let Some(token) = self.peek(0) {
            self.at += 1;
            match token {
                Token::Sign('{' | '(' | '[') => depth += 1,
                Token::Sign('}' | ')' | ']') => depth = depth.saturating_sub(1),
                Token::Name(_) | Token::Text(_) | Token::Colons | Token::Sign(_) => {}
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// Skips an item, a statement or a field. It ends with `;`, with its body, or with a comma.
    fn skip_item(&mut self) {
        const OPENERS: [&str; 8] = [
            "fn", "impl", "struct", "enum", "trait", "union", "type", "where",
        ];
        let mut is_item = false;
        while let Some(token) = self.peek(0) {
            match token {
                Token::Sign('{') => {
                    self.skip_group();
                    self.takes(Token::Sign(';'));
                    return;
                }
                Token::Sign('(' | '[') => {
                    self.skip_group();
                    continue;
                }
                Token::Sign('}' | ')' | ']') => return,
                Token::Sign(';') => {
                    self.at += 1;
                    return;
                }
                // A comma between type parameters is not the end.
                Token::Sign(',') if !is_item => {
                    self.at += 1;
                    return;
                }
                Token::Name(name) => is_item |= OPENERS.contains(&name),
                Token::Text(_) | Token::Colons | Token::Sign(_) => {}
            }
            self.at += 1;
        }
    }

    /// Skips `(crate)`, `(super)` or `(in …)`.
    fn visibility(&mut self) {
        let is_restricted = matches!(self.name(1), Some("crate" | "super" | "self" | "in"));
        if self.peek(0) == Some(Token::Sign('(')) && is_restricted {
            self.skip_group();
        }
    }

    /// Returns true if `use` begins an import. In `impl Trait + use<…>`, it begins a list of captures.
    fn is_use(&self) -> bool {
        self.name(0) == Some("use") && self.peek(1) != Some(Token::Sign('<'))
    }

    /// Reads one tree of `use` after the path prefix `before`.
    fn import(&mut self, before: &mut Vec<String>, is_public: bool, imports: &mut Vec<Import>) {
        let outer = before.len();
        // A leading `::` means that the first name is a crate. The name alone is enough here.
        self.takes(Token::Colons);
        loop {
            match self.peek(0) {
                Some(Token::Sign('{')) => {
                    self.at += 1;
                    while !self.takes(Token::Sign('}')) && self.peek(0).is_some() {
                        self.import(before, is_public, imports);
                        self.takes(Token::Sign(','));
                    }
                    break;
                }
                Some(Token::Sign('*')) => {
                    self.at += 1;
                    imports.push(Import {
                        path: before.clone(),
                        name: None,
                        is_public,
                    });
                    break;
                }
                Some(Token::Name(name)) => {
                    self.at += 1;
                    // `{self}` imports the path before the braces.
                    if name != "self" || before.is_empty() {
                        before.push(name.to_owned());
                    }
                    if self.takes(Token::Colons) {
                        continue;
                    }
                    let mut called = before.last().cloned();
                    if self.name(0) == Some("as") {
                        called = self.name(1).map(str::to_owned);
                        self.at += 2;
                    }
                    imports.push(Import {
                        path: before.clone(),
                        name: called,
                        is_public,
                    });
                    break;
                }
                // The token is not Rust, or a variable of a macro.
                _ => {
                    self.at += 1;
                    break;
                }
            }
        }
        before.truncate(outer);
        if outer == 0 {
            self.takes(Token::Sign(';'));
        }
    }

    /// Reads a module after `mod`.
    fn submodule(&mut self, module: &mut Module, attributes: Attributes) {
        let Some(name) = self.name(0) else {
            return;
        };
        self.at += 1;
        if self.takes(Token::Sign('{')) {
            let inside = self.module();
            module.inline.insert(name.to_owned(), inside);
        } else {
            module.files.push(FileModule {
                name: name.to_owned(),
                paths: attributes.paths,
            });
        }
    }

    /// Returns the name of the item that begins with `keyword`.
    fn defined(&self, keyword: &str) -> Option<&'a str> {
        match keyword {
            "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" => self
                .name(1)
                .filter(|name| !matches!(*name, "fn" | "unsafe")),
            "static" => self.name(1 + usize::from(self.name(1) == Some("mut"))),
            "macro_rules" => self.name(2),
            _ => None,
        }
    }

    /// Reads a path. Ignores names of fields and methods, and paths that continue after a type.
    fn path(&mut self, module: &mut Module) {
        let before = self.sign_before();
        let mut path = Vec::new();
        while let Some(name) = self.name(0) {
            self.at += 1;
            path.push(name.to_owned());
            if !matches!(self.peek(1), Some(Token::Name(_))) || !self.takes(Token::Colons) {
                break;
            }
        }
        if matches!(before, Some(Token::Sign('.') | Token::Colons)) {
            return;
        }
        module.mentioned.extend(path.first().cloned());
        if path.len() > 1 {
            module.paths.insert(path);
        }
    }
}
