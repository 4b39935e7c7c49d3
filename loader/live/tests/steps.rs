//! Tests of training steps, and of the CPU time of fetches and steps.

use crate::stream;

use loadscope_diagnose::{Diagnosis, FindingId, VerdictId};
use loadscope_live::Join;
use loadscope_trace::{AsideKind, BatchId, Nanos, Part, Run, Stage};
use stream::{
    MAIN, WORKER, dispatch, folded, from_main, from_worker, introduction, loader, packed,
};

/// Returns a run with a batch that is yielded at 2000 and trained on until 2500, when the program iterates another loader.
fn turned_away(end: &[&str]) -> Run {
    let mut join = Join::default();
    loader(&mut join);
    dispatch(&mut join, 0, 0, 1020);
    join.open(WORKER, introduction(20));
    from_worker(&mut join, r#"["fetcher",1015,0]"#);
    from_worker(&mut join, r#"["begin",1100,null,0,0]"#);
    let times = packed(&[1100, 1110, 1130]);
    let fetch = format!(r#"["fetch",1100,null,0,0,1130,1140,0,"{times}","",[],25,7,90]"#);
    from_worker(&mut join, &fetch);
    for line in [
        r#"["wait",1900,0]"#,
        r#"["arrive",1950,0,0,0,"ready","",0,0]"#,
        r#"["yield",2000,0,0,0]"#,
    ] {
        from_main(&mut join, line);
    }
    end.iter().for_each(|line| from_main(&mut join, line));
    folded(&mut join)
}

fn row(run: &Run) -> usize {
    run.row(BatchId { epoch: 0, idx: 0 })
        .expect("it was dispatched")
}

#[test]
fn a_step_ends_when_the_program_uses_another_loader() {
    let run = turned_away(&[r#"["step",2500,0,0,0,400,30]"#, r#"["end",9000,0,0]"#]);
    assert_eq!(run.entered(row(&run), Stage::Done), Some(Nanos(1500)));
    // The iterator exists long afterwards, but the loop ended with that step.
    assert_eq!(run.in_loop(), Nanos(20 + 100 + 500));
    let step = run
        .cpu_time(row(&run), Part::Step)
        .expect("it was measured");
    assert_eq!((step.cpu, step.core_wait), (Nanos(400), Some(Nanos(30))));
}

#[test]
fn a_wait_record_contains_the_cpu_time_of_the_step() {
    let run = turned_away(&[r#"["wait",2500,0,300,null]"#]);
    let step = run
        .cpu_time(row(&run), Part::Step)
        .expect("it was measured");
    assert_eq!((step.cpu, step.core_wait), (Nanos(300), None));
}

#[test]
fn fetch_cpu_time_is_assigned_to_its_batch() {
    let run = turned_away(&[]);
    let fetch = run
        .cpu_time(row(&run), Part::Fetch)
        .expect("it was measured");
    assert_eq!(
        (fetch.cpu, fetch.core_wait, fetch.other_threads),
        (Nanos(25), Some(Nanos(7)), Some(Nanos(90)))
    );
}

#[test]
fn a_loader_has_its_source_line_and_arguments() {
    let mut join = Join::default();
    join.open(MAIN, introduction(10));
    from_main(
        &mut join,
        r#"["loader",1000,0,{"dataset":"D","class":"StatefulDataLoader","arguments":["collate_fn=pad"],"batch_sampler":"Buckets","batch_size":4,"in_order":true,"file":"/home/me/train.py","line":42,"place":"train.py:42"}]"#,
    );
    let run = folded(&mut join);
    let made_at = run.info.made_at.clone().expect("it is known");
    assert_eq!((made_at.name.as_str(), made_at.line), ("train.py:42", 42));
    assert_eq!(
        run.info.python_line().as_deref(),
        Some("StatefulDataLoader(dataset, batch_sampler=Buckets(…), collate_fn=pad)")
    );
}

#[test]
fn each_main_process_is_reached_once() {
    let mut join = Join::default();
    join.open(MAIN, introduction(10));
    let mut worker = introduction(20);
    worker.parent = 10;
    join.open(WORKER, worker);
    let reached: Vec<u64> = join
        .take_new_processes()
        .iter()
        .map(|who| who.pid)
        .collect();
    assert_eq!(reached, [10]);
    assert!(join.take_new_processes().is_empty());
    from_main(&mut join, r#"["other",1100,"torchdata.nodes"]"#);
    assert_eq!(
        join.other_libraries().collect::<Vec<_>>(),
        ["torchdata.nodes"]
    );
}

#[test]
fn other_work_in_a_step_is_left_out_by_its_kind() {
    for (name, kind) in [
        ("checkpoint", AsideKind::Checkpoint),
        ("evaluation", AsideKind::Evaluation),
    ] {
        let aside = format!(r#"["aside",2400,0,0,0,2100,"{name}"]"#);
        let mut lines = vec![aside.as_str(), r#"["wait",2500,0,10,null]"#];
        let next = [
            r#"["dispatch",2500,0,0,1,0,1,""]"#,
            r#"["arrive",2500,0,0,1,"ready","",0,0]"#,
            r#"["yield",2500,0,0,1]"#,
            r#"["wait",2600,0,10,null]"#,
        ];
        lines.extend(next);
        let run = turned_away(&lines);
        assert_eq!(run.trained(), Nanos(200 + 100), "{name}");
        assert_eq!(run.time_outside_loop().asides[&kind], Nanos(300));
    }
}

/// A program iterates another loader in a step and then continues the step.
#[test]
fn a_step_continues_after_another_loader() {
    let run = turned_away(&[
        r#"["step",2100,0,0,0,10,null]"#,
        r#"["aside",2400,0,0,0,2100,"loader"]"#,
        r#"["wait",2500,0,10,null]"#,
        r#"["dispatch",2500,0,0,1,0,1,""]"#,
        r#"["arrive",2500,0,0,1,"ready","",0,0]"#,
        r#"["yield",2500,0,0,1]"#,
        r#"["wait",2600,0,10,null]"#,
    ]);
    assert_eq!(run.trained(), Nanos(200 + 100));
    assert_eq!(
        run.time_outside_loop().asides[&AsideKind::Loader],
        Nanos(300)
    );
}

#[test]
fn a_training_error_ends_the_run_in_its_step() {
    for order in [[0, 1], [1, 0]] {
        let lines = [
            r#"["raised",2900,0,0,0,"LossIsNaN: step 0"]"#,
            r#"["end",2900,0,0]"#,
        ];
        let run = turned_away(&order.map(|k| lines[k]));
        let (at, message, failed) = run.step_failure().expect("an error");
        assert_eq!((at, failed), (Nanos(1900), row(&run)));
        assert_eq!(message.text, "LossIsNaN: step 0");
        let diagnosis = Diagnosis::of(&run, None, Vec::new());
        assert_eq!(
            diagnosis.verdict.id,
            VerdictId::Finding(FindingId::StepFailed)
        );
        let found = diagnosis.findings.iter().map(|finding| finding.id);
        assert!(found.clone().all(|id| id != FindingId::Failed), "{found:?}");
    }
}

#[test]
fn a_dead_worker_is_no_error_of_the_training_step() {
    let run = turned_away(&[
        r#"["raised",2900,0,0,0,"RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed. "]"#,
        r#"["end",2900,0,0]"#,
    ]);
    assert_eq!(run.step_failure(), None);
    let diagnosis = Diagnosis::of(&run, None, Vec::new());
    assert_eq!(diagnosis.verdict.id, VerdictId::Finding(FindingId::Failed));
}
