use std::fs;

use super::*;

/// Returns the import cycles of a crate with these files.
fn cycles_of(files: &[(&str, &str)]) -> Result<Vec<String>> {
    let home = tempfile::tempdir()?;
    for (name, text) in files {
        let path = home.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(home.path()))?;
        fs::write(path, text)?;
    }
    let circles = find(&home.path().join(files[0].0))?;
    Ok(circles.iter().map(|c| c.format(home.path())).collect())
}

fn none(files: &[(&str, &str)]) -> Result<()> {
    assert_eq!(cycles_of(files)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn siblings_that_use_each_other_are_reported_as_a_circle() -> Result<()> {
    let said = cycles_of(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "use crate::b::Low; pub struct High; fn f(_: Low) {}",
        ),
        (
            "b.rs",
            "pub struct Low; impl Low { fn g(_: super::a::High) {} }",
        ),
    ])?;
    assert_eq!(
        said,
        ["  a.rs uses `Low` of b.rs\n  b.rs uses `High` of a.rs\n"]
    );
    Ok(())
}

#[test]
fn the_shortest_of_connected_circles_is_shown() -> Result<()> {
    let said = cycles_of(&[
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::c::C; pub struct B;"),
        ("c.rs", "use crate::a::A; use crate::d::D; pub struct C;"),
        ("d.rs", "use crate::c::C; pub struct D;"),
    ])?;
    assert_eq!(said, ["  c.rs uses `D` of d.rs\n  d.rs uses `C` of c.rs\n"]);
    Ok(())
}

#[test]
fn a_parent_that_only_reexports_names_is_in_no_circle() -> Result<()> {
    none(&[
        ("lib.rs", "mod a;"),
        (
            "a.rs",
            "mod b; mod c; pub use b::{B, f}; pub(crate) use c::*; pub struct A;",
        ),
        (
            "a/b.rs",
            "use super::{A, C}; pub struct B; pub fn f(_: A, _: C) {}",
        ),
        ("a/c.rs", "use super::A; pub struct C(A);"),
    ])
}

#[test]
fn a_parent_that_uses_its_reexports_can_be_in_a_circle() -> Result<()> {
    let parent = "mod b; pub use b::B; pub struct A { b: B }";
    let with = |child| cycles_of(&[("lib.rs", "mod a;"), ("a.rs", parent), ("a/b.rs", child)]);
    let circle = ["  a.rs uses `B` of a/b.rs\n  a/b.rs uses `A` of a.rs\n"];
    assert_eq!(with("use super::A; pub struct B;")?, circle);
    assert_eq!(with("pub struct B; impl crate::a::A {}")?, circle);
    assert_eq!(with("use super::*; pub struct B; impl A {}")?, circle);
    assert!(with("use super::*; pub struct B;")?.is_empty());
    Ok(())
}

#[test]
fn a_call_by_its_path_is_a_use() -> Result<()> {
    let circle = cycles_of(&[
        (
            "main.rs",
            "mod a; fn main() { a::run() } pub const LIMIT: u8 = 1;",
        ),
        ("a.rs", "pub fn run() { println!(\"{}\", crate::LIMIT) }"),
    ])?;
    assert_eq!(
        circle,
        ["  main.rs uses `run` of a.rs\n  a.rs uses `LIMIT` of main.rs\n"]
    );
    Ok(())
}

#[test]
fn names_are_followed_to_the_file_that_defines_them() -> Result<()> {
    // `lib.rs` re-exports an item of `a/low.rs`. `a/high.rs` uses it, but does not use `a.rs`, which uses `a/high.rs`.
    none(&[
        ("lib.rs", "mod a; pub use a::Low;"),
        (
            "a.rs",
            "mod low; mod high; pub use low::Low; pub fn f() { high::g() }",
        ),
        ("a/low.rs", "pub struct Low;"),
        (
            "a/high.rs",
            "use crate::Low as L; use super::low; pub fn g() { let _: (L, low::Low); }",
        ),
    ])
}

#[test]
fn tests_comments_and_texts_do_not_count() -> Result<()> {
    none(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "pub struct A; #[cfg(test)] mod tests { use crate::b::B; }\n// crate::b::B\n",
        ),
        (
            "b.rs",
            "use crate::a::A; pub struct B; #[cfg(all(test, unix))] fn t<T, U>() { crate::c::C }",
        ),
    ])?;
    none(&[
        ("lib.rs", "mod a; mod b;"),
        (
            "a.rs",
            "pub struct A; const S: &str = \"crate::b::B\"; #[cfg(test)] use crate::b::{B};",
        ),
        ("b.rs", "use crate::a::A; pub struct B;"),
    ])
}

#[test]
fn other_crates_and_inline_modules_are_not_files() -> Result<()> {
    none(&[
        ("lib.rs", "mod a; use a::inner::X; pub struct Y(X);"),
        (
            "a.rs",
            "use std::fmt; use a::b::C; pub mod inner { use super::Z; pub struct X(Z); } struct Z;",
        ),
    ])
}

#[test]
fn both_files_of_a_path_attribute_are_read() -> Result<()> {
    let files = |other| {
        [
            (
                "lib.rs",
                "#[cfg_attr(unix, path = \"other.rs\")] mod a; pub fn f() { a::g() } pub struct L;",
            ),
            ("a.rs", "pub fn g() {}"),
            ("other.rs", other),
        ]
    };
    none(&files("pub fn g() {}"))?;
    let circle = cycles_of(&files("use crate::L; pub fn g() {}"))?;
    assert_eq!(
        circle,
        ["  lib.rs uses `g` of other.rs\n  other.rs uses `L` of lib.rs\n"]
    );
    Ok(())
}

#[test]
fn names_from_a_macro_belong_to_the_invoking_file() -> Result<()> {
    let circle = cycles_of(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "ids!(Made); use crate::b::B;"),
        ("b.rs", "use crate::a::Made; pub struct B(Made);"),
    ])?;
    assert_eq!(
        circle,
        ["  a.rs uses `B` of b.rs\n  b.rs uses `Made` of a.rs\n"]
    );
    Ok(())
}

#[test]
fn workspace_targets_are_read_from_cargo_metadata() -> Result<()> {
    let metadata =
        r#"{"packages": [{"targets": [{"src_path": "/a/lib.rs"}, {"src_path": "/a/main.rs"}]}]}"#;
    assert_eq!(
        roots(metadata)?,
        [Path::new("/a/lib.rs"), Path::new("/a/main.rs")]
    );
    assert!(roots("{}").is_err() && roots("").is_err());
    Ok(())
}
