//! Tests of streams that end normally, by a signal, with an error, or with records that match no batch.

use crate::stream;

use loadscope_live::Join;
use loadscope_trace::{BatchId, EndReason, Event, EventKind, Level, Stage};
use stream::{
    MAIN, WORKER, dispatch, fetch, folded, from_main, from_worker, introduction, loader, packed,
};

#[test]
fn records_without_a_batch_are_counted_as_dropped() {
    let mut join = Join::default();
    loader(&mut join);
    join.open(WORKER, introduction(20));
    // The dispatch of the first task was lost.
    dispatch(&mut join, 1, 1, 1021);
    fetch(&mut join, 0, 0, 1100);
    fetch(&mut join, 0, 1, 1200);
    join.count_invalid_line(MAIN);
    join.finish();
    let events: Vec<Event> = join.events().collect();
    let dropped: u64 = events
        .iter()
        .filter_map(|e| match e.kind {
            EventKind::Dropped { count } => Some(count),
            _ => None,
        })
        .sum();
    assert_eq!(
        dropped, 3,
        "two lines of the first fetch, and the one that was not understood"
    );
    assert_eq!(
        events
            .iter()
            .filter(|e| matches!(e.kind, EventKind::Fetched(_)))
            .count(),
        1
    );
}

#[test]
fn a_stream_without_an_end_record_is_a_killed_process() {
    for (bye, warnings) in [(true, 0), (false, 1)] {
        let mut join = Join::default();
        loader(&mut join);
        if bye {
            from_main(&mut join, r#"["bye",2000,0]"#);
        }
        join.close(MAIN);
        let run = folded(&mut join);
        let said: Vec<&str> = run
            .messages()
            .iter()
            .filter(|(_, m)| m.level == Level::Warning)
            .map(|(_, m)| m.text.as_str())
            .collect();
        assert_eq!(said.len(), warnings);
        assert!(
            said.iter()
                .all(|text| text.contains("The program was killed or crashed")),
            "{said:?}"
        );
        assert!(run.has_ended());
    }
}

#[test]
fn a_killed_process_ends_with_its_connection() {
    let end = |bye: bool, end: fn(&mut Join)| {
        let mut join = Join::default();
        loader(&mut join);
        if bye {
            from_main(&mut join, r#"["bye",2000,0]"#);
        }
        end(&mut join);
        folded(&mut join).end()
    };
    let hung_up = |join: &mut Join| join.disconnect(MAIN, Some(9_000));
    let detached = |join: &mut Join| {
        join.detach(Some(9_000));
        join.finish();
    };
    let closed = end(false, |join| join.close(MAIN));
    assert!(end(false, hung_up) > closed);
    assert_eq!(end(false, detached), end(false, hung_up));
    assert_eq!(end(true, hung_up), end(true, |join| join.close(MAIN)));
}

#[test]
fn exit_codes_distinguish_dead_from_finished_workers() {
    for (code, reason) in [
        (0, EndReason::Finished),
        (-15, EndReason::Finished),
        (-9, EndReason::Died),
        (1, EndReason::Died),
    ] {
        let mut join = Join::default();
        loader(&mut join);
        from_main(&mut join, &format!(r#"["left",1500,0,[[0,{code}]]]"#));
        // The record is sent again when the iterator is shut down.
        from_main(&mut join, &format!(r#"["left",1600,0,[[0,{code}]]]"#));
        let run = folded(&mut join);
        assert_eq!(
            run.workers()[0].end.map(|(_, how)| how),
            Some(reason),
            "{code}"
        );
    }
}

#[test]
fn the_failed_sample_is_named_in_any_order_of_streams() {
    let times = packed(&[1100, 1110]);
    let fetch = format!(r#"["fetch",1100,null,0,0,0,1120,1,"{times}","",[]]"#);
    let fail = r#"["fail",1130,0,0,0,"ValueError: broken"]"#;
    for worker_first in [true, false] {
        let mut join = Join::default();
        loader(&mut join);
        join.open(WORKER, introduction(20));
        dispatch(&mut join, 0, 0, 1020);
        from_worker(&mut join, r#"["begin",1100,null,0,0]"#);
        if worker_first {
            from_worker(&mut join, &fetch);
        }
        from_main(&mut join, fail);
        if !worker_first {
            from_worker(&mut join, &fetch);
        }
        let run = folded(&mut join);
        let (_, message) = &run.messages()[0];
        assert_eq!((message.sample, message.worker), (Some(1), Some(0)));
        let row = run.row(BatchId { epoch: 0, idx: 0 }).expect("dispatched");
        assert_eq!(run.batches()[row].stage, Stage::Failed);
    }
}

#[test]
fn an_error_is_reported_even_if_its_worker_sends_nothing() {
    let mut join = Join::default();
    loader(&mut join);
    dispatch(&mut join, 0, 0, 1020);
    from_main(&mut join, r#"["fail",1130,0,0,0,"ValueError: broken"]"#);
    let is_error = |e: &Event| matches!(&e.kind, EventKind::Message(m) if m.level == Level::Error);
    let told = (0..20).position(|_| join.events().any(|e| is_error(&e)));
    assert!(told.is_some_and(|turns| turns > 0), "{told:?}");
}

#[test]
fn the_run_ends_after_its_last_worker() {
    let mut join = Join::default();
    loader(&mut join);
    join.open(WORKER, introduction(20));
    dispatch(&mut join, 0, 0, 1020);
    from_worker(&mut join, r#"["fetcher",1015,0]"#);
    join.close(MAIN);
    fetch(&mut join, 0, 0, 1100);
    assert!(
        join.events()
            .all(|e| !matches!(e.kind, EventKind::RunEnded))
    );
    join.close(WORKER);
    let events: Vec<Event> = join.events().collect();
    let is_end = |e: &&Event| matches!(e.kind, EventKind::RunEnded);
    assert_eq!(events.iter().filter(is_end).count(), 1, "{events:?}");
}

#[test]
fn ended_iterators_are_forgotten_and_open_ones_are_kept() {
    let mut join = Join::default();
    loader(&mut join);
    for iterator in 1..1000 {
        let at = 2000 + iterator;
        from_main(
            &mut join,
            &format!(r#"["epoch",{at},0,{iterator},{iterator}]"#),
        );
        from_main(
            &mut join,
            &format!(r#"["dispatch",{at},{iterator},{iterator},0,null,0,""]"#),
        );
        from_main(&mut join, &format!(r#"["end",{at},{iterator},{iterator}]"#));
    }
    // The first iterator has a worker that has not ended.
    join.open(WORKER, introduction(20));
    dispatch(&mut join, 0, 0, 5000);
    from_worker(&mut join, r#"["fetcher",5001,0]"#);
    fetch(&mut join, 0, 0, 5100);
    let fetched = |e: &Event| matches!(e.kind, EventKind::Fetched(_));
    assert_eq!(join.events().filter(fetched).count(), 1);
    // An iterator that ended long ago is removed. The latest one is kept.
    from_main(&mut join, r#"["wait",6000,5]"#);
    assert_eq!(join.events().count(), 0);
    from_main(&mut join, r#"["wait",6000,999]"#);
    assert_eq!(join.events().count(), 1);
}
