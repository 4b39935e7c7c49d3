use std::collections::BTreeSet;

use super::*;
use crate::options::{Collate, OnError, Overrides, StartMethod};

/// Returns options that all differ from the defaults. A new option must be added here.
fn other() -> RunOptions {
    RunOptions {
        dataset: "synthetic".to_owned(),
        image_size: 1,
        extra_cost: "cost_ms=1".to_owned(),
        batch_size: None,
        shuffle: true,
        sampler: "random".to_owned(),
        replacement: true,
        num_samples: Some(1),
        world_size: 3,
        rank: 2,
        sampler_drop_last: true,
        set_epoch: false,
        seed: Some(1),
        global_seed: Some(2),
        num_workers: 1,
        prefetch_factor: Some(1),
        drop_last: true,
        collate: Collate::List,
        in_order: false,
        pin_memory: PinMemory::On,
        persistent_workers: true,
        timeout: 1.0,
        multiprocessing_context: "spawn".to_owned(),
        epochs: 2,
        step_ms: 1.0,
        on_error: OnError::Skip,
    }
}

#[test]
fn every_option_belongs_to_one_argument() {
    let (plain, other) = (RunOptions::default(), other());
    assert_eq!(Argument::changed(&plain, &other), Argument::ALL);
    let mut copy = plain.clone();
    for one in Argument::ALL {
        assert_ne!(one.value(&other), one.value(&copy), "{one:?}");
        one.copy(&other, &mut copy);
        assert_eq!(one.value(&other), one.value(&copy), "{one:?}");
    }
    assert_eq!(copy, other);
    assert_eq!(Argument::changed(&copy, &other), []);
    // The files have the same options.
    let json = serde_json::to_value(&other).unwrap();
    let names: BTreeSet<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut fields: Vec<&str> = Argument::ALL
        .iter()
        .flat_map(|a| a.fields())
        .copied()
        .collect();
    fields.sort_unstable();
    assert_eq!(fields, names.into_iter().collect::<Vec<_>>());
}

#[test]
fn an_argument_is_found_by_its_names() {
    assert_eq!(
        Argument::of_option("global_seed"),
        Some(Argument::Generator)
    );
    assert_eq!(Argument::of_option("generator"), Some(Argument::Generator));
    assert_eq!(Argument::of_option("num_wrokers"), None);
    for one in Argument::ALL {
        for name in one.fields().iter().chain([&one.name()]) {
            assert_eq!(Argument::of_option(name), Some(*one));
        }
    }
}

#[test]
fn the_call_and_the_overrides_list_each_of_their_arguments_once() {
    let listed = |list: &[Argument]| {
        let mut list = list.to_vec();
        list.sort_unstable();
        list
    };
    let all = |is_part: fn(&Spec) -> bool| {
        let all = Argument::ALL.iter().copied();
        all.filter(|a| is_part(&a.spec())).collect::<Vec<_>>()
    };
    assert_eq!(listed(&Argument::CALL), all(|spec| spec.call.is_some()));
    assert_eq!(
        listed(&Argument::OVERRIDABLE),
        all(|spec| spec.overrides.is_some())
    );
    // The call or the code around it contains each argument of PyTorch.
    let base = RunOptions {
        sampler: "weighted:w".to_owned(),
        num_workers: 2,
        ..RunOptions::default()
    };
    let without = "dataset image_size extra_cost num_replicas rank sampler_drop_last set_epoch epochs step on_error";
    for one in Argument::ALL {
        let mut changed = base.clone();
        one.copy(&other(), &mut changed);
        let is_in_call = changed.python_line() != base.python_line();
        assert_eq!(is_in_call, !is_named(*one, without), "{one:?}");
    }
}

#[test]
fn every_override_is_written_and_read() {
    let mut all = Overrides::default();
    for one in Argument::OVERRIDABLE {
        let access = one.overrides().unwrap();
        assert_eq!(access.value(&all), None);
        match access {
            Override::Count(_, set) => set(&mut all, 3),
            Override::Flag(_, set) => set(&mut all, true),
            Override::Method(_, set) => set(&mut all, StartMethod::Spawn),
        }
        assert!(access.value(&all).is_some());
        let example = one.override_example().unwrap().say();
        assert!(
            example.starts_with(&format!("{}=", one.name())),
            "{example}"
        );
    }
    let json = serde_json::to_value(&all).unwrap();
    let names: BTreeSet<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let listed: BTreeSet<&str> = Argument::OVERRIDABLE.iter().map(|a| a.name()).collect();
    assert_eq!(names, listed);
}

#[test]
fn options_without_effect_have_no_row() {
    let of = |dataset: &str, sampler: &str| RunOptions {
        dataset: dataset.to_owned(),
        sampler: sampler.to_owned(),
        ..RunOptions::default()
    };
    let map = of("synthetic:len=8", "");
    assert!(Argument::Shuffle.has_row(&map) && !Argument::SetEpoch.has_row(&map));
    for text in ["stream:len=8", " stream:len=8"] {
        let stream = of(text, "");
        assert!(!Argument::Shuffle.has_row(&stream) && !Argument::Sampler.has_row(&stream));
        assert!(!Argument::Rank.has_row(&stream) && !Argument::ExtraCost.has_row(&stream));
    }
    let shared = of("webdataset:a.tar", "");
    assert!(Argument::Rank.has_row(&shared) && Argument::ExtraCost.has_row(&shared));
    let random = of("synthetic:len=8", "random");
    assert!(!Argument::Shuffle.has_row(&random) && Argument::Replacement.has_row(&random));
    let ranks = of("synthetic:len=8", "distributed");
    assert!(Argument::SetEpoch.has_row(&ranks) && Argument::SamplerDropLast.has_row(&ranks));
    let equi = of("synthetic:len=8", "equi:labels");
    assert!(Argument::SetEpoch.has_row(&equi) && !Argument::SamplerDropLast.has_row(&equi));
    let folder = of("folder:/data", "");
    assert!(Argument::ImageSize.has_row(&folder) && Argument::ExtraCost.has_row(&folder));
    assert!(!Argument::ImageSize.has_row(&map) && !Argument::ExtraCost.has_row(&map));
}

/// A new argument belongs to the list or to the exceptions.
#[test]
fn the_documented_and_the_exported_arguments_are_complete() {
    let of_loop = "dataset image_size extra_cost num_replicas rank sampler_drop_last set_epoch generator epochs step on_error";
    let of_order =
        "shuffle sampler replacement num_samples timeout multiprocessing_context collate_fn";
    for one in Argument::ALL {
        let is_documented = Argument::DOCUMENTED.contains(one);
        assert_eq!(is_documented, !is_named(*one, of_loop), "{one:?}");
        let is_exported = Argument::EXPORTED.contains(one);
        let is_column = is_documented && !is_named(*one, of_order);
        assert_eq!(is_exported, is_column, "{one:?}");
    }
}

fn is_named(argument: Argument, names: &str) -> bool {
    names.split(' ').any(|name| name == argument.name())
}
