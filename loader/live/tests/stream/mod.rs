//! Helpers that send the lines of a program's processes.

#![allow(dead_code, reason = "each test program uses a part of it")]

use loadscope_live::{Introduction, Join, Record, StreamId};
use loadscope_trace::{Event, Run};

pub const MAIN: StreamId = StreamId(0);
pub const WORKER: StreamId = StreamId(1);

/// Encodes 64-bit integers in base64.
pub fn packed(numbers: &[i64]) -> String {
    use base64::Engine as _;
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

pub fn introduction(pid: u64) -> Introduction {
    let line = format!(
        r#"{{"loadscope_stream":1,"token":"t","pid":{pid},"parent":1,"monotonic":1000,"realtime":5000,"host":"h","boot":"b","torch":"2.13.0"}}"#
    );
    Introduction::parse(line.as_bytes()).expect("a sound introduction")
}

fn send(join: &mut Join, id: StreamId, line: &str) {
    join.push(id, Record::parse(line.as_bytes()).expect(line));
}

/// Sends a line of the main process.
pub fn from_main(join: &mut Join, line: &str) {
    send(join, MAIN, line);
}

/// Sends a line of the worker.
pub fn from_worker(join: &mut Join, line: &str) {
    send(join, WORKER, line);
}

/// Opens a loader with one worker, whose process id is 20.
pub fn loader(join: &mut Join) {
    join.open(MAIN, introduction(10));
    from_main(
        join,
        r#"["loader",1000,0,{"dataset":"D","num_workers":1,"batch_size":2,"in_order":true}]"#,
    );
    from_main(join, r#"["epoch",1000,0,0,0]"#);
    from_main(join, r#"["workers",1010,0,[[20,77]]]"#);
}

pub fn dispatch(join: &mut Join, batch: u32, count: u64, at: i64) {
    let indices = packed(&[i64::from(batch) * 2, i64::from(batch) * 2 + 1]);
    from_main(
        join,
        &format!(r#"["dispatch",{at},0,0,{batch},0,{count},"{indices}"]"#),
    );
}

pub fn fetch(join: &mut Join, generation: u32, count: u64, at: i64) {
    from_worker(
        join,
        &format!(r#"["begin",{at},null,{generation},{count}]"#),
    );
    let times = packed(&[at, at + 10, at + 30]);
    let end = at + 40;
    let collating = at + 30;
    from_worker(
        join,
        &format!(r#"["fetch",{at},null,{generation},{count},{collating},{end},0,"{times}","",[]]"#),
    );
}

pub fn folded(join: &mut Join) -> Run {
    let mut events: Vec<Event> = join.events().collect();
    events.sort_by_key(|e| e.at);
    let mut run = Run::default();
    events.iter().for_each(|e| run.apply(e));
    assert_eq!(run.anomalies(), (0, 0), "{events:#?}");
    run
}
