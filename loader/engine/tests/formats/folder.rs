//! Class folders, compared with torchvision's ImageFolder.

use std::collections::BTreeMap;

use loadscope_engine::dataset::{DatasetSpec, OpenDataset as _, SampleClock};
use loadscope_engine::value::Value;

use super::expected::{difference, parts, run, samples};
use super::interpreter::python;

/// Maximum and mean difference of pixels, because decoders of lossy formats round differently.
const ROUNDING: (i64, f64) = (12, 1.0);
const SIDE: u32 = 24;

#[test]
fn class_folder_pictures_match_torchvision() {
    let Some(python) = python(&["torchvision"]) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    run(&python, "folders.py", folder.path());
    let text = std::fs::read_to_string(folder.path().join("kinds.json")).expect("a file");
    let kinds: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let theirs = samples(&folder.path().join("expected"), "folder");
    let open = |path: &std::path::Path| {
        let spec: DatasetSpec = format!("folder:{}", path.display())
            .parse()
            .expect("a dataset");
        spec.open(SIDE)
    };
    let ours = open(&folder.path().join("data")).expect("it opens");
    assert_eq!(serde_json::json!(ours.classes()), kinds["classes"]);
    assert_eq!(ours.len(), theirs.len());
    let (mut all, mut wrong) = (BTreeMap::new(), Vec::new());
    for (index, theirs) in theirs.iter().enumerate() {
        let (their_picture, their_class) = parts(theirs);
        let Value::Int(class) = their_class else {
            panic!("{their_class:?}");
        };
        let kind = ours.classes()[usize::try_from(*class).expect("a class")].clone();
        let sample = match ours.get(index, &mut SampleClock::off()) {
            Ok(sample) => sample,
            Err(error) => {
                wrong.push(format!("{kind}: {error}"));
                continue;
            }
        };
        let (picture, own_class) = parts(&sample);
        assert!(own_class.same(their_class), "{kind}");
        let (most, mean) = difference(picture, their_picture);
        let exact = kinds["exact"]
            .as_array()
            .is_some_and(|exact| exact.contains(&kind.as_str().into()));
        let limit = if exact { (0, 0.0) } else { ROUNDING };
        if most > limit.0 || mean > limit.1 {
            wrong.push(format!("{kind} {index}: {most}, {mean:.3} on average"));
        }
        let (count, worst) = all.entry(kind).or_insert((0, 0));
        (*count, *worst) = (*count + 1, most.max(*worst));
    }
    for (kind, (count, worst)) in &all {
        println!("{kind}: {count} pictures, pixels differ by at most {worst}");
    }
    for case in kinds["refused"].as_array().expect("a list") {
        let (name, says) = (
            case[0].as_str().expect("a name"),
            case[1].as_str().expect("a text"),
        );
        let refused = open(&folder.path().join("refused").join(name)).expect("it opens");
        match refused.get(0, &mut SampleClock::off()) {
            Ok(_) => wrong.push(format!("{name}: it was read")),
            Err(error) if error.message.contains(says) && error.message.contains(name) => {}
            Err(error) => wrong.push(format!("{name}: {error} is not {says}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
