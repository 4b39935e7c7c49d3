use std::fs;
use std::time::Instant;

use loadscope_files::create_file_for_process;
use loadscope_trace::Event;

use super::receiver::POLL_INTERVAL;
use super::*;
use crate::SessionEvent;

/// A program that a window cannot watch is ended.
#[test]
fn a_program_without_a_session_is_killed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let command: Vec<OsString> = ["sh", "-c", "echo $$ > id; exec sleep 600"]
        .map(OsString::from)
        .into();
    let printed = create_file_for_process(&folder.path().join("output.txt")).expect("it is new");
    let (request, output) = (Request::default(), Output::File(printed));
    let watched = Watched::start_in(Some(folder.path()), &command, &request, output);
    let watched = watched.expect("there is a shell");
    let until = Instant::now() + Duration::from_secs(20);
    let id = loop {
        let written = fs::read_to_string(folder.path().join("id")).unwrap_or_default();
        match written.trim().parse::<u32>() {
            Ok(id) => break id,
            Err(_) => assert!(Instant::now() < until, "it does not begin"),
        }
        std::thread::sleep(POLL_INTERVAL);
    };
    assert!(!watched.has_ended());
    watched.kill_unwatched();
    assert!(watched.has_ended());
    assert_eq!(watched.wait(), End::Signal(9));
    assert!(
        !Path::new("/proc/self").exists() || !Path::new(&format!("/proc/{id}")).exists(),
        "it runs on"
    );
    // After the end, another call has no effect.
    watched.kill_unwatched();
    assert_eq!(watched.wait(), End::Signal(9));
}

/// A stop is recognized by a report of the processes, not by the text of a message.
#[test]
fn a_stop_is_recognized_by_its_report_not_by_text() {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    let folder = tempfile::tempdir().expect("a temporary folder");
    let script = "echo $LOADSCOPE_PROBE_TO > part; echo $LOADSCOPE_PROBE_TOKEN >> part; mv part to; exec sleep 600";
    let command = ["sh", "-c", script].map(OsString::from);
    let printed = create_file_for_process(&folder.path().join("output.txt")).expect("it is new");
    let (request, output) = (Request::default(), Output::File(printed));
    let watched = Watched::start_in(Some(folder.path()), &command, &request, output);
    let watched = watched.expect("there is a shell");
    let session = crate::Session::watch(&watched, crate::Record::Off, Arc::new(|| {}));
    let session = session.expect("there is a thread");
    let deadline = Instant::now() + Duration::from_secs(20);
    let until = |is_so: &dyn Fn() -> bool| {
        while !is_so() {
            assert!(Instant::now() < deadline, "it does not happen");
            std::thread::sleep(POLL_INTERVAL);
        }
    };
    let to = folder.path().join("to");
    until(&|| to.exists());
    let to = fs::read_to_string(to).expect("it is written");
    let (address, token) = to.split_once('\n').expect("two lines");
    let path = address.strip_prefix("unix:").expect("a socket");
    let mut process = UnixStream::connect(path).expect("it listens");
    let sentence = "Loadscope ends the program here: it raises SystemExit";
    let lines = [
        format!(
            r#"{{"loadscope_stream":1,"token":"{}","pid":1,"parent":1,"monotonic":1000,"realtime":5000,"host":"h","boot":"b","torch":"2.13.0"}}"#,
            token.trim()
        ),
        r#"["loader",1000,0,{"dataset":"D"}]"#.to_owned(),
        r#"["epoch",1000,0,0,0]"#.to_owned(),
        format!(r#"["fail",1100,0,0,null,"{sentence}"]"#),
    ];
    for line in lines {
        writeln!(process, "{line}").expect("it is read");
    }
    let has_sentence = |event: &Event| matches!(&event.kind, loadscope_trace::EventKind::Message(m) if m.text == sentence);
    until(&|| {
        session.events.try_iter().any(
            |event| matches!(event, SessionEvent::Events(events) if events.iter().any(has_sentence)),
        )
    });
    assert!(!watched.effects().stopped, "a text is not a stop");
    writeln!(process, r#"["stop",1200,0,0]"#).expect("it is read");
    until(&|| watched.effects().stopped);
    watched.request_end(EndRequest::Kill);
    assert_eq!(watched.wait(), End::Signal(9));
}
