use super::*;
use crate::dataset::{Sharing, Tail, TokenDtype};
use loadscope_trace::{Argument, Nanos, RunOptions, quote};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

fn cost() -> impl Strategy<Value = Nanos> {
    (0i64..=86_400_000_000_000).prop_map(Nanos)
}

prop_compose! {
    fn model()(
        len in 100usize..5000,
        cost_ in cost(),
        slow in prop::collection::btree_map(0usize..100, cost(), 0..4),
        every in prop::option::of((1usize..50, cost())),
        jitter in prop_oneof![Just(0.0), 0.0..=1.0],
        tail in prop::option::of((0.0..=1.0, 0.0..1e6)),
        fail in prop::collection::btree_set(0usize..100, 0..3),
        panic in prop::collection::btree_set(0usize..100, 0..3),
        flags in any::<(bool, u64)>(),
        shape in prop::collection::vec(1i64..12, 1..5),
    ) -> CostModel {
        let tail = tail.map(|(fraction, factor)| Tail { fraction, factor });
        CostModel {
            len, cost: cost_, slow, every, jitter, tail, fail, panic, cpu: flags.0, seed: flags.1, shape,
        }
    }
}

prop_compose! {
    fn tokens()(
        path in "[^\u{0}]{1,12}(,block=[0-9]{0,2}|,dtype=int64)?",
        block in 1usize..5000,
        stride in 1usize..5000,
        narrow in any::<bool>(),
    ) -> TokenSpec {
        let dtype = if narrow { TokenDtype::UInt16 } else { TokenDtype::Int64 };
        TokenSpec { path: path.into(), block, stride, dtype }
    }
}

fn spec() -> impl Strategy<Value = DatasetSpec> {
    prop_oneof![
        Just(DatasetSpec::Digits),
        "[^\u{0}]{1,20}".prop_map(|path| DatasetSpec::Folder { path: path.into() }),
        model().prop_map(DatasetSpec::Synthetic),
        tokens().prop_map(DatasetSpec::Tokens),
        (model(), any::<bool>()).prop_map(|(cost, shared)| {
            let sharing = if shared {
                Sharing::Strided
            } else {
                Sharing::Everything
            };
            DatasetSpec::Stream(StreamModel { cost, sharing })
        }),
        (model(), prop::collection::vec(0usize..100, 1..5)).prop_map(|(cost, mut sizes)| {
            // Costs name samples up to 100, so the dataset needs that many.
            sizes[0] = 100;
            let ends = sizes.iter().enumerate().filter(|(_, size)| **size > 0);
            let len = ends.map(|(id, size)| 100 * id + size).max().unwrap();
            let cost = CostModel { len, ..cost };
            DatasetSpec::Stream(StreamModel {
                cost,
                sharing: Sharing::Shards(sizes),
            })
        }),
    ]
}

/// Returns the text of any format with arbitrary places and values. Options that it refuses are left out.
fn data() -> impl Strategy<Value = DatasetSpec> {
    let pool = [
        "true",
        "false",
        "7",
        "a;b",
        "tab",
        "|",
        "original",
        "square",
        "segmentation",
        "captions",
        "npy",
        "char",
        "a, b",
        "\"",
        "x=\"1\"",
        "SELECT a, \"b\" FROM t",
    ];
    let value = prop_oneof![
        prop::sample::select(pool.to_vec()).prop_map(str::to_owned),
        "[^\u{0}\\s]{1,12}",
    ];
    let words: Vec<&str> = DataSpec::FORMATS.iter().map(|format| format.word).collect();
    let place = "[^\u{0}\\s]([^\u{0}]{0,12}[^\u{0}\\s])?";
    (
        prop::sample::select(words),
        (place, place),
        prop::collection::vec(value, 8),
        any::<u32>(),
    )
        .prop_map(|(word, (first, second), values, chosen)| {
            let mut text = format!("{word}:{}", quote(&first));
            if word == "coco" {
                text += &format!(",{}", quote(&second));
            }
            if word == "sql" {
                text += ",query=\"SELECT 1, 2\"";
            }
            let keys = DataSpec::format_of(word).unwrap().keys;
            for (at, (key, value)) in keys.iter().zip(&values).enumerate() {
                let longer = format!("{text},{}={}", key.name, quote(value));
                if chosen >> at & 1 == 1 && longer.parse::<DatasetSpec>().is_ok() {
                    text = longer;
                }
            }
            text.parse().unwrap()
        })
}

proptest! {
    #[test]
    fn data_specs_round_trip_through_text(spec in data()) {
        let text = spec.to_string();
        prop_assert_eq!(&text.parse::<DatasetSpec>().unwrap(), &spec, "{}", text);
        let told = RunOptions { dataset: text.clone(), ..RunOptions::default() };
        prop_assert_eq!(told.is_stream(), spec.is_stream(), "{}", text);
    }

    #[test]
    fn specs_round_trip_through_text_and_json(spec in spec()) {
        let text = spec.to_string();
        prop_assert_eq!(&text.parse::<DatasetSpec>().unwrap(), &spec, "{}", text);
        let json = serde_json::to_string(&spec).unwrap();
        prop_assert_eq!(&serde_json::from_str::<DatasetSpec>(&json).unwrap(), &spec);
    }

    #[test]
    fn parsing_any_text_does_not_panic(text in ".*", options in "[a-z_]{1,8}=[0-9:;.x-]{0,12}") {
        let _ = text.parse::<DatasetSpec>();
        let _ = format!("synthetic:{options}").parse::<DatasetSpec>();
    }
}

#[test]
fn valid_texts_are_parsed_and_invalid_ones_refused() {
    let parse = |text: &str| text.parse::<DatasetSpec>();
    assert_eq!(parse(" digits ").unwrap(), DatasetSpec::Digits);
    let DatasetSpec::Synthetic(model) = parse("synthetic:len=24,cost_ms=50,slow=4:1000").unwrap()
    else {
        panic!("not synthetic");
    };
    assert_eq!(model.slow, BTreeMap::from([(4, Nanos::from_millis(1000))]));
    assert_eq!(model.fail, BTreeSet::new());
    assert_eq!(model.to_string(), "len=24,cost_ms=50,slow=4:1000");
    assert_eq!(parse("synthetic").unwrap(), parse("synthetic:").unwrap());
    let error = parse("mnist").unwrap_err().to_string();
    assert!(error.contains("Valid: digits"), "{error}");
    assert!(parse("folder:").is_err());
    for (text, says) in [
        ("tokens:", "needs the path"),
        (
            "tokens:a,block=0",
            "block=0: '0' is not a whole number of at least 1",
        ),
        ("tokens:a,dtype=int8", "int64 or uint16"),
        ("coco:a", "coco:a: expected coco:IMAGES,ANNOTATIONS"),
        ("csv:a,sep=tab,sep=tab", "sep is given twice"),
        ("csv:a,sep=xy", "expected comma, tab, semicolon, space"),
        (
            "voc:a,task=boxes",
            "expected one of detection, segmentation",
        ),
        (
            "voc:a,sets=train",
            "unknown key 'sets'. Did you mean set? Valid: set=train",
        ),
        ("sql:sqlite:a.db", "query is missing"),
        (
            "sql:sqlite:a.db,query=SELECT a, b",
            "'b' is not of the form name=value. Put values that contain a comma in double quotes",
        ),
        ("sql:sqlite:a.db,query=\"SELECT", "a quote is not closed"),
        ("npy:a,stride=3", "stride needs window"),
    ] {
        let error = text.parse::<DatasetSpec>().unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn errors_and_descriptions_contain_no_password() {
    for text in [
        "sql:postgresql://me:secret@host/db",
        "sql:postgresql://me:secret@host/db,query=SELECT a, b",
        "sql:postgresql://me:secret@host/db,no=1",
        "sq:postgresql://me:secret@host/db",
        "sql:postgresql://me:secret@host/db,query=\"",
    ] {
        let error = text.parse::<DatasetSpec>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
    let spec: DatasetSpec = "sql:postgresql://me:secret@host/db,query=SELECT 1"
        .parse()
        .unwrap();
    assert!(spec.to_string().contains("secret"));
    let DatasetSpec::Data(data) = spec else {
        panic!("no data");
    };
    let words = data.describe(None);
    assert!(
        !words.contains("secret") && words.contains("me:***@host"),
        "{words}"
    );
}

#[test]
fn the_registry_of_formats_is_complete() {
    let read = |path: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(root.join("../..").join(path)).unwrap()
    };
    let (docs, help) = (
        read("docs/DATASETS.md"),
        read("app/program/src/cli/load.rs"),
    );
    for (at, format) in DataSpec::FORMATS.iter().enumerate() {
        let word = format.word;
        let first = DataSpec::FORMATS
            .iter()
            .position(|other| other.word == word);
        assert_eq!(first, Some(at), "{word}: two formats have this word");
        let needs_option = if word == "sql" { ",query=SELECT 1" } else { "" };
        let places = vec!["a"; format.places].join(",");
        let data = DataSpec::parse(&format!("{word}:{places}{needs_option}")).unwrap();
        let data = data.unwrap();
        assert_eq!(data.format().word, word);
        assert_eq!(data.size().is_some(), format.has_pictures(), "{word}");
        let options = RunOptions {
            dataset: format!("{word}:a"),
            ..RunOptions::default()
        };
        assert_eq!(
            Argument::ImageSize.has_row(&options),
            format.has_pictures(),
            "{word}: the images in the table of arguments"
        );
        assert!(format.form.first.starts_with(&format!("{word}:")), "{word}");
        assert!(
            docs.contains(&format!("`{word}:")),
            "{word}: docs/DATASETS.md"
        );
        assert!(
            help.contains(&format!("{word}:")),
            "{word}: the help of --dataset"
        );
        for name in format
            .endings
            .iter()
            .map(|ending| format!("/a/Train{ending}"))
        {
            let kind = dataset_kind_of(name.to_uppercase().as_ref());
            assert_eq!(kind, Some(word), "{name}");
        }
        for name in format.contents {
            let dir = tempfile::tempdir().unwrap();
            assert_eq!(dataset_kind_of(dir.path()), None);
            std::fs::create_dir(dir.path().join(name)).unwrap();
            assert_eq!(dataset_kind_of(dir.path()), Some(word), "{name}");
        }
    }
    assert_eq!(dataset_kind_of("a.txt".as_ref()), None);
}
