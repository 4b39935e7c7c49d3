//! `loadscope order` prints the batches of a loader.

use crate::support::{command_error, json, loadscope};
/// Checks the layout and the errors. Another test compares the indices with PyTorch's.
#[test]
fn order_output_and_errors_are_exact() {
    let args = "order --len 23 --sampler distributed --world 8 --rank 3 --seed 7 --batch-size 2 --epochs 2 --num-workers 2 --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let order = json(&loadscope(&args));
    assert_eq!(order["len"], 2);
    assert_eq!(order["epochs"][0].as_array().map(Vec::len), Some(2));
    assert_ne!(order["epochs"][0], order["epochs"][1]);
    assert_eq!(order["workers"][1], serde_json::json!([0, 1]));
    let seed = |epoch: usize, worker: usize| order["seeds"][epoch][worker].as_u64();
    assert_eq!(seed(0, 0).map(|s| s + 1), seed(0, 1));
    assert_ne!(seed(0, 0), seed(1, 0));

    let stream = "order --len 5 --iterable --num-workers 2 --batch-size none --json";
    let stream: Vec<&str> = stream.split_whitespace().collect();
    let order = json(&loadscope(&stream));
    assert_eq!(order["epochs"][0].as_array().map(Vec::len), Some(10));
    assert!(order["len"].is_null());

    let text = command_error(&["order", "--len", "5", "--sampler", "bogus"]);
    assert!(text.contains("distributed"), "{text}");
    let text = command_error(&["order", "--len", "5", "--sampler", "weighted:/nowhere"]);
    assert!(text.contains("/nowhere"), "{text}");
    let text = command_error(&["order", "--len", "5", "--num-samples", "3"]);
    assert!(text.contains("random or weighted"), "{text}");
    let text = command_error(&["order", "--len", "5", "--world", "2"]);
    assert!(text.contains("distributed"), "{text}");
}

#[test]
fn an_unseeded_order_is_reproduced_with_its_printed_seed() {
    let shuffled = ["order", "--len", "50", "--sampler", "random", "--json"];
    let once = loadscope(&shuffled);
    let said = String::from_utf8_lossy(&once.stderr).into_owned();
    let (_, seed) = said.rsplit_once("--global-seed ").expect("it says which");
    let (seed, _) = seed.split_once(' ').expect("and how to have it again");
    let again = loadscope(&[&shuffled[..], &["--global-seed", seed]].concat());
    assert_eq!(json(&once), json(&again));
    assert!(again.stderr.is_empty());
    let sequential = loadscope(&["order", "--len", "50"]);
    assert!(sequential.status.success() && sequential.stderr.is_empty());
}

/// Compares with the reference cases of the real PyTorch.
#[test]
fn orders_equal_those_of_pytorch() {
    let cases = include_str!("../../../tests/reference/golden/loader_order.json");
    let cases: serde_json::Value = serde_json::from_str(cases).expect("the cases are JSON");
    let mut checked = 0;
    for case in cases["cases"].as_array().expect("a list") {
        let input = &case["in"];
        if case["op"] != "DataLoader" || !input["prefetch_factor"].is_null() {
            continue;
        }
        // Only every eighth case is compared, because each starts the program.
        checked += 1;
        if checked % 8 != 0 {
            continue;
        }
        let text = |key: &str| input[key].to_string();
        let size = match input["batch_size"].as_u64() {
            Some(size) => size.to_string(),
            None => "none".to_owned(),
        };
        let seed = match input["rng"].as_str() {
            Some("default") => "--global-seed",
            _ => "--seed",
        };
        let (n, workers, value) = (text("n"), text("num_workers"), text("seed"));
        let mut args = vec![
            "order",
            "--len",
            &n,
            "--batch-size",
            &size,
            "--num-workers",
            &workers,
        ];
        args.extend([seed, &value, "--epochs", "2", "--json"]);
        for (key, flag) in [
            ("drop_last", "--drop-last"),
            ("persistent_workers", "--persistent-workers"),
        ] {
            if input[key] == true {
                args.push(flag);
            }
        }
        if input["shuffle"] == true {
            args.extend(["--sampler", "random"]);
        }
        let order = json(&loadscope(&args));
        let out = &case["out"];
        assert_eq!(order["len"], out["len"], "{args:?}");
        for epoch in 0..2 {
            // Without batches, PyTorch yields single indices.
            let expected: Vec<serde_json::Value> = out["epochs"][epoch]["batches"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|b| {
                    if b.is_array() {
                        b.clone()
                    } else {
                        serde_json::json!([b])
                    }
                })
                .collect();
            assert_eq!(
                order["epochs"][epoch],
                serde_json::json!(expected),
                "{args:?}"
            );
            assert_eq!(
                order["workers"][epoch], out["epochs"][epoch]["workers"],
                "{args:?}"
            );
            if let Some(seed) = out["epochs"][epoch]["base_seed"].as_u64() {
                assert_eq!(order["seeds"][epoch][0].as_u64(), Some(seed), "{args:?}");
            }
        }
    }
    assert!(checked > 80, "{checked}");
}
