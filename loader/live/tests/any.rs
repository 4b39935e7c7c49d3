//! Property tests with arbitrary streams: no panic, no invalid events, and a `Run` accepts all events.

use loadscope_live::{Introduction, Join, Record, StreamId};
use loadscope_trace::{Event, EventKind, Run};
use proptest::prelude::*;

/// Returns mostly small numbers, which collide often, and some large ones, which overflow.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => 0i64..4,
        1 => Just(-1i64),
        1 => any::<i64>(),
        1 => any::<u32>().prop_map(i64::from),
    ]
}

fn packed() -> impl Strategy<Value = String> {
    use base64::Engine as _;
    let engine = &base64::engine::general_purpose::STANDARD;
    prop_oneof![
        Just(String::new()),
        prop::collection::vec(number(), 0..4).prop_map(|numbers| {
            let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
            engine.encode(bytes)
        }),
        "[A-Za-z0-9+/=]{0,12}",
    ]
}

/// Returns a stream id and a line.
fn line() -> impl Strategy<Value = (u32, String)> {
    let n = number;
    let place = || {
        prop_oneof![
            (n(), n()).prop_map(|(a, b)| format!("null,{a},{b}")),
            (n(), n(), n()).prop_map(|(a, b, c)| format!("{a},{b},{c}")),
        ]
    };
    let plain = prop::sample::select(vec![
        "epoch", "end", "wait", "ready", "yield", "gone", "fetcher", "lost", "bye", "pin",
        "nonsense",
    ]);
    let text = prop_oneof![
        (plain, prop::collection::vec(n(), 0..6)).prop_map(|(name, numbers)| {
            let numbers: String = numbers.iter().map(|n| format!(",{n}")).collect();
            format!("[\"{name}\"{numbers}]")
        }),
        (n(), n())
            .prop_map(|(t, l)| format!(r#"["loader",{t},{l},{{"dataset":"D","num_workers":2}}]"#)),
        (n(), n(), n(), n()).prop_map(|(t, l, i, e)| format!(r#"["epoch",{t},{l},{i},{e}]"#)),
        (n(), n(), n())
            .prop_map(|(t, i, p)| format!(r#"["workers",{t},{i},[[{p},1,{t}],[{p},null]]]"#)),
        (n(), n(), n(), n(), n(), n(), packed()).prop_map(|(t, i, e, b, w, k, x)| format!(
            r#"["dispatch",{t},{i},{e},{b},{w},{k},"{x}"]"#
        )),
        (n(), n(), n(), n(), n()).prop_map(|(t, i, e, b, p)| format!(
            r#"["arrive",{t},{i},{e},{b},"held","pin",{p},{t}]"#
        )),
        (n(), n(), n(), n())
            .prop_map(|(t, i, e, b)| format!(r#"["fail",{t},{i},{e},{b},"broken"]"#)),
        (n(), n(), n(), n()).prop_map(|(t, i, w, c)| format!(r#"["left",{t},{i},[[{w},{c}]]]"#)),
        (n(), place()).prop_map(|(t, at)| format!(r#"["begin",{t},{at}]"#)),
        (n(), place(), n(), n(), 0..4u8, packed(), packed(), packed()).prop_map(
            |(t, at, c, end, how, a, b, d)| {
                format!(r#"["fetch",{t},{at},{c},{end},{how},"{a}","{b}",[["Resize","{d}"]]]"#)
            }
        ),
        (n(), n(), n()).prop_map(|(t, i, w)| format!(r#"["earlier",{t},{i},{w}]"#)),
        (n(), n(), n()).prop_map(|(t, l, b)| format!(r#"["length",{t},{l},{b}]"#)),
        (n(), n()).prop_map(|(t, l)| format!(r#"["changed",{t},{l},["epoch"]]"#)),
        (n(), n()).prop_map(|(t, g)| format!(r#"["undivided",{t},{g}]"#)),
        (n(), place(), n()).prop_map(|(t, at, p)| format!(r#"["file",{t},{at},{p},"a/b.png"]"#)),
        (n(), place(), n(), n()).prop_map(|(t, at, p, k)| format!(
            r#"["misfit",{t},{at},{p},"[0]","shape","[1]","[3]",{k}]"#
        )),
        ".{0,20}",
    ];
    (0u32..3, text)
}

fn introduction(pid: u32) -> Introduction {
    let line = format!(r#"{{"loadscope_stream":1,"pid":{pid},"monotonic":{pid},"realtime":0}}"#);
    Introduction::parse(line.as_bytes()).expect("sound")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_records_give_valid_events(lines in prop::collection::vec(line(), 0..80), closes in prop::collection::vec(0usize..80, 0..3)) {
        let mut join = Join::default();
        for id in 0..3 {
            join.open(StreamId(id), introduction(id));
        }
        let mut events: Vec<Event> = Vec::new();
        for (at, (id, line)) in lines.iter().enumerate() {
            match Record::parse(line.as_bytes()) {
                Ok(record) => join.push(StreamId(*id), record),
                Err(_) => join.count_invalid_line(StreamId(*id)),
            }
            if closes.contains(&at) {
                join.close(StreamId(*id));
            }
            if at % 7 == 0 {
                events.extend(join.events());
                join.processes();
            }
        }
        join.finish();
        events.extend(join.events());
        prop_assert!(events.iter().all(|e| e.at.0 >= 0));
        events.sort_by_key(|e| e.at);
        let mut run = Run::default();
        events.iter().for_each(|e| run.apply(e));
        prop_assert_eq!(run.events(), events.len() as u64);
    }

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Record::parse(&bytes);
        let _ = Introduction::parse(&bytes);
    }
}

/// The cost of untrusted input is proportional to its length: no field of a line is copied for each entry of another line.
#[test]
fn long_names_are_not_copied_for_each_list_entry() {
    let mut join = Join::default();
    let host = "h".repeat(60_000);
    let line = format!(
        r#"{{"loadscope_stream":1,"pid":1,"monotonic":1,"realtime":0,"host":"{host}","boot":"{host}"}}"#
    );
    let introduction = Introduction::parse(line.as_bytes()).expect("sound");
    assert!(introduction.host.len() < 1_000 && introduction.boot.len() < 1_000);
    join.open(StreamId(0), introduction);
    let workers: String = (0..200_000).map(|pid| format!("[{pid},1],")).collect();
    let workers = workers.trim_end_matches(',');
    for line in [
        r#"["loader",5,0,{}]"#.to_owned(),
        r#"["epoch",6,0,0,0]"#.to_owned(),
        format!(r#"["workers",7,0,[{workers}]]"#),
    ] {
        let record = Record::parse(line.as_bytes()).expect("a record");
        join.push(StreamId(0), record);
    }
    let events: Vec<Event> = join.events().collect();
    let started = events
        .iter()
        .filter(|e| matches!(e.kind, EventKind::WorkerStarted(_)));
    assert_eq!(started.count(), 1 << 16);
    let lost = events.iter().map(|e| match e.kind {
        EventKind::Dropped { count } => count,
        _ => 0,
    });
    assert_eq!(lost.sum::<u64>(), 200_000 - (1 << 16));
    assert!(Record::parse(format!("[\"fetch\"{}]", ",0".repeat(1 << 20)).as_bytes()).is_err());
}

#[test]
fn refusals_are_shorter_than_500_bytes() {
    let long = "x".repeat(1 << 20);
    for line in [
        format!(r#"["wait","{long}",0]"#),
        format!(r#"["{long}",0]"#),
        format!(r#"["dispatch",0,0,0,0,0,0,{{"{long}":1}}]"#),
        format!(r#"["arrive",0,0,0,0,"{long}","",0,0]"#),
    ] {
        let error = Record::parse(line.as_bytes()).expect_err("no record");
        assert!(error.to_string().len() < 500);
    }
    let line = format!(r#"{{"loadscope_stream":1,"pid":"{long}"}}"#);
    let error = Introduction::parse(line.as_bytes()).expect_err("no process");
    assert!(error.to_string().len() < 500);
}
