//! What a file says of its modules: what is defined in them, what they import, and which names they mention.

use std::collections::{BTreeMap, BTreeSet};

use super::lex::{Token, tokens};

/// A module as it is written in one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Module {
    /// Names of what is defined here, but for the modules.
    pub items: BTreeSet<String>,
    /// Modules that are written out here.
    pub inline: BTreeMap<String, Module>,
    /// Modules in files of their own.
    pub files: Vec<Outside>,
    /// What `use` brings here, also inside of functions.
    pub imports: Vec<Import>,
    /// Paths of at least two names, outside of `use`.
    pub paths: BTreeSet<Vec<String>>,
    /// First names of all paths outside of `use`.
    pub mentioned: BTreeSet<String>,
}

/// A module that is declared here and written elsewhere.
#[derive(Debug, PartialEq, Eq)]
pub struct Outside {
    /// Its name.
    pub name: String,
    /// The files that attributes name.
    pub paths: Vec<String>,
}

/// A name that `use` brings.
#[derive(Debug, PartialEq, Eq)]
pub struct Import {
    /// What is brought.
    pub path: Vec<String>,
    /// What it is called here; nothing if everything inside is brought.
    pub name: Option<String>,
    /// Others may take it from here.
    pub is_public: bool,
}

/// Reads a file. What is compiled for tests only is left out.
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

/// What the attributes before an item say of it.
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

    /// The sign before the next token, if it is one.
    fn sign_before(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at.checked_sub(1)?).copied()
    }

    fn takes(&mut self, token: Token<'_>) -> bool {
        let is_next = self.peek(0) == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    /// A module up to the brace that ends it, or to the end of the file.
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

    /// Goes behind the group in brackets that begins here.
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

    /// Goes behind an item, a statement or a field: its last sign is `;`, its body, or a comma.
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
                // A comma between type parameters ends nothing.
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

    /// Goes behind `(crate)`, `(super)` or `(in …)`.
    fn visibility(&mut self) {
        let is_restricted = matches!(self.name(1), Some("crate" | "super" | "self" | "in"));
        if self.peek(0) == Some(Token::Sign('(')) && is_restricted {
            self.skip_group();
        }
    }

    /// `use` begins an import here, not a list of what an `impl Trait` captures.
    fn is_use(&self) -> bool {
        self.name(0) == Some("use") && self.peek(1) != Some(Token::Sign('<'))
    }

    /// One tree of `use`, behind the names `before`.
    fn import(&mut self, before: &mut Vec<String>, is_public: bool, imports: &mut Vec<Import>) {
        let outer = before.len();
        // A path that begins with `::` names another crate, which the first name says as well.
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
                    // `{self}` brings what stands before it.
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
                // Not Rust, or a variable of a macro.
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

    /// What stands behind `mod`.
    fn submodule(&mut self, module: &mut Module, attributes: Attributes) {
        let Some(name) = self.name(0) else {
            return;
        };
        self.at += 1;
        if self.takes(Token::Sign('{')) {
            let inside = self.module();
            module.inline.insert(name.to_owned(), inside);
        } else {
            module.files.push(Outside {
                name: name.to_owned(),
                paths: attributes.paths,
            });
        }
    }

    /// The name that an item which begins with `keyword` defines.
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

    /// A path, unless it is the name of a field or a method, or goes on behind a type.
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
