//! Loaders of iterable-style datasets.

use std::sync::Arc;

use loadscope_engine::{Convert, LoaderBuilder, LoaderError};
use serde_json::{Value as Json, json};

use super::loader::{batched, built, configure, generators, run};
use super::rows::{Idx, Kind, Stream, alone, delays, list, number, numbers};
use super::verdict::{Case, Verdict};

fn stream(kind: Kind, len: Option<usize>, name: &'static str) -> Arc<Stream> {
    Arc::new(Stream { kind, len, name })
}

/// Returns the stream that a case describes.
pub fn described(input: &Json) -> Arc<Stream> {
    let kind = match input["kind"].as_str() {
        Some("naive") => Kind::Naive(number(&input["n"])),
        Some("strided") => Kind::Strided(number(&input["n"])),
        _ => Kind::Shards {
            sizes: numbers(&input["sizes"]),
            delay: delays(&input["delay_s"]),
        },
    };
    stream(kind, None, "Stream")
}

fn epochs(case: &Case<'_>) -> Verdict {
    let (default, generator) = generators(case.input);
    let mut builder = LoaderBuilder::iterable(described(case.input));
    builder = builder.default_generator(Arc::clone(&default));
    if let Some(generator) = generator {
        builder = builder.generator(generator);
    }
    let batched = batched(case.input);
    let builder = configure(builder, case.input);
    case.returns(&built!(builder, batched, |loader| run(
        loader, batched, &default
    )))
}

/// Returns the reported length, the number of batches, and the warnings about the length.
fn lengths(input: &Json, reported: usize, actual: usize, name: &'static str) -> Json {
    let data = stream(Kind::Naive(actual), Some(reported), name);
    let builder = configure(LoaderBuilder::iterable(data), input);
    built!(
        builder,
        batched(input),
        |mut loader: loadscope_engine::DataLoader<_>| {
            let len = loader.len().expect("a length");
            loader.take_warnings();
            let yielded = loader
                .iter()
                .expect("an epoch")
                .filter(|b| b.is_ok())
                .count();
            let warnings: Vec<String> = loader
                .take_warnings()
                .into_iter()
                .filter(|text| text.contains("Length of IterableDataset"))
                .collect();
            json!({"len": len, "batches_yielded": yielded, "warnings": warnings})
        }
    )
}

/// Replaces the object's class and address in PyTorch's text by the type's name, as in the engine's text.
fn without_address(out: &Json) -> Json {
    let mut out = out.clone();
    if let Some(warnings) = out["warnings"].as_array_mut() {
        for text in warnings {
            let shown = text.as_str().unwrap_or_default();
            let begin = shown.find("IterableDataset <").map(|i| i + 16);
            let end = shown.find("0xADDR>").map(|i| i + 7);
            if let (Some(begin), Some(end)) = (begin, end) {
                *text = json!(format!("{}Liar{}", &shown[..begin], &shown[end..]));
            }
        }
    }
    out
}

fn len_only(input: &Json, iterable: bool) -> Result<usize, LoaderError> {
    let n = number(&input["n"]);
    if iterable {
        let data = stream(Kind::Naive(n), Some(n), "NaiveLen");
        let builder = configure(LoaderBuilder::iterable(data), input);
        builder.collate_fn(list).build()?.len()
    } else {
        let builder = configure(LoaderBuilder::new(Idx::new(n)), input);
        builder.collate_fn(list).build()?.len()
    }
}

fn after_end(input: &Json) -> Json {
    let data = stream(Kind::Naive(number(&input["n"])), None, "Naive");
    let builder = configure(LoaderBuilder::iterable(data), input);
    let mut loader = builder.collate_fn(list).build().expect("a loader");
    let mut iter = loader.iter().expect("an epoch");
    let yielded = iter.by_ref().count();
    let again = [iter.next().is_none(), iter.next().is_none()];
    json!({"yielded": yielded, "again": again})
}

pub fn check(case: &Case<'_>) -> Verdict {
    let input = case.input;
    match case.op {
        "DataLoader_iterable" => epochs(case),
        "iterable_len" => {
            let n = number(&input["n"]);
            case.returns(&lengths(input, n, n, "NaiveLen"))
        }
        "iterable_len_liar" => {
            let (reported, actual) = (number(&input["reported"]), number(&input["actual"]));
            let actual = lengths(input, reported, actual, "Liar");
            Verdict::equal(&without_address(case.out()), &actual)
        }
        "iterable_len_missing" => {
            let data = stream(Kind::Naive(3), None, "Naive");
            let loader = LoaderBuilder::iterable(data).collate_fn(list).build();
            match loader.and_then(|loader| loader.len()) {
                Ok(len) => case.returns(&json!(len)),
                Err(e) => case.raises(e.exception_kind().as_str(), &e.python_message()),
            }
        }
        "iterable_len_only" | "map_len_only" => {
            match len_only(input, case.op == "iterable_len_only") {
                Ok(len) => case.returns(&json!(len)),
                Err(e) => case.raises(e.exception_kind().as_str(), &e.python_message()),
            }
        }
        "iterable_next_after_end" => case.returns(&after_end(input)),
        _ => Verdict::fail("a check of this case", case.op),
    }
}
