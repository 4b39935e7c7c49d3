use loadscope_trace::{Event, EventKind, Fetched, RunId, SampleTiming, Stage};
use proptest::prelude::*;

use super::*;

fn any_query() -> impl Strategy<Value = Query> {
    let subject = prop_oneof![
        Just(Subject::Samples),
        Just(Subject::Batches),
        Just(Subject::Waits)
    ];
    // `f64` represents these times exactly to the nanosecond.
    let time = || (0..1i64 << 50).prop_map(Nanos);
    prop_oneof![
        (any::<u64>(), prop::option::of(any::<u64>()))
            .prop_map(|(idx, epoch)| Query::Batch { idx, epoch }),
        any::<u64>().prop_map(Query::Sample),
        any::<u64>().prop_map(Query::Worker),
        (subject.clone(), time()).prop_map(|(s, t)| Query::Slow(s, t)),
        subject.prop_map(Query::Slowest),
        time().prop_map(Query::At),
        Just(Query::Trouble),
        Just(Query::Warnings),
        Just(Query::OutOfOrder),
        Just(Query::Stalls),
        "(key|value|dead) error( in [a-z]{1,9})?".prop_map(Query::Text),
    ]
}

proptest! {
    #[test]
    fn any_text_parses_unless_it_is_blank(text in any::<String>()) {
        let query = Query::parse(&text);
        prop_assert_eq!(query.is_none(), text.replace(['\u{2009}', '\u{a0}'], " ").trim().is_empty());
    }

    #[test]
    fn a_printed_query_parses_to_the_same_query(query in any_query()) {
        prop_assert_eq!(Query::parse(&query.to_string()), Some(query));
    }

    #[test]
    fn capitals_and_blanks_do_not_matter(query in any_query()) {
        let text = format!("  {}\u{2009} ", query.to_string().to_uppercase().replace(' ', "  "));
        // The capital of µ is another character.
        prop_assume!(text.is_ascii() || !text.contains('Μ'));
        prop_assert_eq!(Query::parse(&text), Some(query));
    }
}

#[test]
fn everyday_phrases_parse_as_queries() {
    let batch = |idx| Query::Batch { idx, epoch: None };
    let slow = |ms| Query::Slow(Subject::Samples, Nanos::from_millis(ms));
    for (text, meant) in [
        ("512", batch(512)),
        ("batch 1,024", batch(1024)),
        ("b7", batch(7)),
        ("#7", batch(7)),
        ("sample 40123", Query::Sample(40123)),
        ("s 3", Query::Sample(3)),
        ("worker 3", Query::Worker(3)),
        ("w3", Query::Worker(3)),
        ("slower than 200 ms", slow(200)),
        ("slower than 200", slow(200)),
        ("> 0.2 s", slow(200)),
        (
            "batches slower than 2s",
            Query::Slow(Subject::Batches, Nanos::from_millis(2_000)),
        ),
        (
            "waits over 1 min",
            Query::Slow(Subject::Waits, Nanos::from_millis(60_000)),
        ),
        ("Slowest", Query::Slowest(Subject::Samples)),
        ("slow batches", Query::Slowest(Subject::Batches)),
        ("longest", Query::Slowest(Subject::Waits)),
        ("slow motion", Query::Text("slow motion".to_owned())),
        ("Error", Query::Trouble),
        ("held", Query::OutOfOrder),
        ("1.5 s", Query::At(Nanos::from_millis(1_500))),
        ("at 20", Query::At(Nanos::from_millis(20))),
        ("batch of", Query::Text("batch of".to_owned())),
        ("KeyError", Query::Text("keyerror".to_owned())),
        ("slower than", Query::Text("slower than".to_owned())),
    ] {
        assert_eq!(Query::parse(text), Some(meant), "{text}");
    }
    for example in Query::EXAMPLES {
        let query = Query::parse(example);
        assert!(!matches!(query, None | Some(Query::Text(_))), "{example}");
    }
}

fn apply(run: &mut Run, at: i64, kind: EventKind) {
    run.apply(&Event {
        at: Nanos(at),
        run: RunId(0),
        kind,
    });
}

fn fetch(run: &mut Run, idx: u32, walls: &[i64]) {
    let batch = BatchId { epoch: 0, idx };
    let at = run.end().0;
    let enter = |stage| EventKind::Entered { batch, stage };
    apply(run, at, enter(Stage::Fetching));
    let mut end = at;
    let mut samples = Vec::new();
    for wall in walls {
        samples.push(SampleTiming {
            start: Nanos(end),
            wall: Nanos(*wall),
            cpu: None,
        });
        end += wall;
    }
    let fetched = Fetched {
        batch,
        samples,
        stages: Vec::new(),
    };
    apply(run, end, EventKind::Fetched(Box::new(fetched)));
    apply(run, end, enter(Stage::Collating));
    apply(run, end, enter(Stage::Held));
}

fn dispatched(count: u32) -> Run {
    let mut run = Run::default();
    apply(&mut run, 0, EventKind::EpochStarted { epoch: 0 });
    for idx in 0..count {
        let batch = BatchId { epoch: 0, idx };
        let indices = [u64::from(idx) * 2, u64::from(idx) * 2 + 1];
        apply(&mut run, 0, EventKind::dispatched(batch, Some(1), indices));
    }
    run
}

fn found(search: &mut Search, run: &Run) -> Vec<Hit> {
    let landmarks = Landmarks::of(run);
    while search.advance(run, &landmarks, &Budget::none()) {}
    assert!(search.is_complete(run));
    search.hits().to_vec()
}

#[test]
fn hits_appear_while_the_run_grows_and_stay_in_order() {
    let mut run = dispatched(1_300);
    let mut search = Search::default();
    search.set("slower than 100 ns".to_owned());
    assert_eq!(found(&mut search, &run), []);
    // Batch 2 is ready before batch 1.
    fetch(&mut run, 0, &[50, 200]);
    fetch(&mut run, 2, &[300, 300]);
    let two = found(&mut search, &run);
    assert_eq!(
        two,
        [Hit::Sample(0, 1), Hit::Sample(2, 0), Hit::Sample(2, 1)]
    );
    search.current = Some(1);
    fetch(&mut run, 1, &[101, 100]);
    let three = found(&mut search, &run);
    assert_eq!(three.len(), 4);
    assert_eq!(three[1], Hit::Sample(1, 0));
    assert_eq!(search.current, Some(2), "it stays with its hit");
    search.set("batches slower than 250 ns".to_owned());
    assert_eq!(found(&mut search, &run), [Hit::Batch(2)]);
}

#[test]
fn batches_samples_and_workers_are_found_by_number() {
    let mut run = dispatched(1_300);
    let mut search = Search::default();
    for (text, hits) in [
        ("7", vec![Hit::Batch(7)]),
        ("batch 7 of epoch 1", vec![]),
        ("batch 99999999999", vec![]),
        ("sample 2401", vec![Hit::Sample(1200, 1)]),
        ("sample 2600", vec![]),
        ("worker 1", vec![Hit::Lane(Lane::Worker(1))]),
        ("worker 70000", vec![]),
        ("at 0 s", vec![Hit::Moment(Nanos::ZERO)]),
        ("at 1 min", vec![]),
        ("errors", vec![]),
    ] {
        fetch(&mut run, 1299, &[]);
        search.set(text.to_owned());
        assert_eq!(found(&mut search, &run), hits, "{text}");
        for hit in search.hits() {
            let (what, _) = hit.describe(&run);
            assert!(!what.is_empty());
        }
    }
}

#[test]
fn late_samples_are_sorted_among_the_slowest() {
    let mut run = dispatched(1_300);
    let mut search = Search::default();
    search.set("slowest".to_owned());
    assert_eq!(found(&mut search, &run), []);
    fetch(&mut run, 1, &[10, 400]);
    fetch(&mut run, 0, &[300, 20]);
    let four = [
        Hit::Sample(1, 1),
        Hit::Sample(0, 0),
        Hit::Sample(0, 1),
        Hit::Sample(1, 0),
    ];
    assert_eq!(found(&mut search, &run), four);
    search.current = Some(1);
    fetch(&mut run, 2, &[500, 350]);
    let six = found(&mut search, &run);
    assert_eq!(
        six[..4],
        [Hit::Sample(2, 0), four[0], Hit::Sample(2, 1), four[1]]
    );
    assert_eq!(search.current, Some(3), "it stays with its hit");
    search.set("slowest batch".to_owned());
    assert_eq!(
        found(&mut search, &run),
        [Hit::Batch(2), Hit::Batch(1), Hit::Batch(0)]
    );
    // The number of hits is limited.
    for idx in 3..30 {
        fetch(&mut run, idx, &[1, 1]);
    }
    assert_eq!(found(&mut search, &run).len(), 24);
}
