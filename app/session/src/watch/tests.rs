use std::fs;

use loadscope_files::file_for_others;

use super::*;

/// Where a window cannot watch a program, the program does not run on unseen.
#[test]
fn a_program_that_no_session_follows_is_ended() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let command: Vec<OsString> = ["sh", "-c", "echo $$ > id; exec sleep 600"]
        .map(OsString::from)
        .into();
    let printed = file_for_others(&folder.path().join("output.txt")).expect("it is new");
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
        std::thread::sleep(LOOK_EVERY);
    };
    assert!(!watched.has_ended());
    watched.end_unfollowed();
    assert!(watched.has_ended());
    assert_eq!(watched.wait(), End::Signal(9));
    assert!(
        !Path::new("/proc/self").exists() || !Path::new(&format!("/proc/{id}")).exists(),
        "it runs on"
    );
    // Once it has ended, nothing is left to be ended.
    watched.end_unfollowed();
    assert_eq!(watched.wait(), End::Signal(9));
}
