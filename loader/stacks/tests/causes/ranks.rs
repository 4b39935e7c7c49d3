//! Ranks that wait for one another.

use super::*;

#[test]
fn a_collective_is_the_cause_and_names_the_ranks_outside_of_it() {
    let rank = |number: u32, function: &str, file: &str| {
        let mut rank = process(10 + number, MAIN, Wait::Sleep);
        rank.role = Role::Rank(number);
        let frame = Frame::new(function.to_owned(), file.to_owned(), 7);
        rank.threads[0].frames = vec![frame];
        rank
    };
    let joined = |number| {
        rank(
            number,
            "all_reduce",
            "torch/distributed/distributed_c10d.py",
        )
    };
    let launcher = process(MAIN, 0, Wait::Sleep);
    let outside = rank(1, "save", "train.py");
    let snapshot = snapshot(vec![launcher, joined(0), outside, joined(2)]);
    let analysis = Analysis::of(&snapshot);
    let found = analysis.conclusion(&snapshot).expect("a cause");
    let (function, missing) = ("all_reduce".to_owned(), vec![11]);
    assert_eq!(found.cause, Cause::Collective { function, missing });
    assert_eq!(
        analysis.text(&snapshot),
        "Rank 0 (process 10) waits in all_reduce for ranks that have not called it: rank 1 (process 11) sleeps in save (train.py:7)."
    );
    let chain: Vec<u32> = analysis.chain.iter().map(|node| node.pid).collect();
    assert_eq!(chain, [10, 11]);
}

#[test]
fn a_rank_that_waits_in_backward_needs_one_that_has_left_its_step() {
    let lock = Wait::Lock {
        address: 64,
        timed: false,
    };
    let rank = |number: u32, native: &str, wait: &Wait, function: &str, file: &str| {
        let mut rank = process(10 + number, MAIN, wait.clone());
        rank.role = Role::Rank(number);
        let frame = Frame::new(function.to_owned(), file.to_owned(), 7);
        rank.threads[0].frames = vec![frame];
        let mut gloo = rank.threads[0].clone();
        (gloo.tid, gloo.role, gloo.wait) = (20 + number, ThreadRole::Native, Wait::Running);
        native.clone_into(&mut gloo.name);
        gloo.frames.clear();
        rank.threads.push(gloo);
        rank
    };
    let (gloo, engine) = ("pt_gloo_runloop", "torch/autograd/graph.py");
    let cases = [
        (gloo, &Wait::Sleep, "save", "train.py", true),
        ("python", &Wait::Sleep, "save", "train.py", false),
        (gloo, &lock, "_engine_run_backward", engine, false),
        (
            gloo,
            &Wait::Sleep,
            "_call_impl",
            "torch/nn/modules/module.py",
            false,
        ),
        (
            gloo,
            &Wait::Sleep,
            "_get_data",
            "torch/utils/data/dataloader.py",
            false,
        ),
    ];
    for (native, wait, function, file, is_cause) in cases {
        let first = rank(0, native, &lock, "_engine_run_backward", engine);
        let second = rank(1, native, wait, function, file);
        let found = conclusion(vec![process(MAIN, 0, Wait::Sleep), first, second]);
        let (function, missing) = ("backward".to_owned(), vec![11]);
        let wanted = Cause::Collective { function, missing };
        assert_eq!(found, is_cause.then_some(wanted), "{native} {file}");
    }
}
