//! Orders are written while they are computed.

use super::*;

/// Reads the first `bytes` of a command's output. Returns the child, this output, and the peak memory in kB, if the system reports it.
fn begun(args: &[&str], bytes: usize) -> (Child, String, Option<u64>) {
    let mut child = command(args, USUAL).spawn().expect("the executable starts");
    let mut out = child.stdout.take().expect("it is piped");
    let mut text = vec![0; bytes];
    out.read_exact(&mut text).expect("it says so much");
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let peak = status.ok().and_then(|status| {
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))?;
        line.split_whitespace().next()?.parse().ok()
    });
    // The pipe is closed at the end of this function.
    (child, String::from_utf8(text).expect("UTF-8"), peak)
}

#[test]
fn an_order_is_streamed_and_ends_with_its_reader() {
    for args in [
        "order --len 1000000000 --epochs 1000000",
        "order --len 1000 --shuffle --epochs 1000000 --seed 1 --num-workers 1000",
        "order --len 1000000000 --iterable=whole --num-workers 1000 --global-seed 1 --json",
        "order --len 1000 --sampler random --num-samples 1000000000 --seed 1 --json",
        "order --len 5000000 --shuffle --epochs 1000 --seed 1 --batch-size 100 --json",
    ] {
        let args: Vec<&str> = args.split_whitespace().collect();
        let (child, text, peak) = begun(&args, 40_000_000);
        assert!(
            text.starts_with("epoch 0: ") || text.starts_with("{\"len\":"),
            "{args:?}"
        );
        // libtorch alone needs 100 MB.
        assert!(peak.is_none_or(|kb| kb < 350_000), "{args:?}: {peak:?} kB");
        let output = finished(child, Duration::from_secs(20));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && said.is_empty(),
            "{args:?}: {said}"
        );
    }
}

#[test]
fn an_order_ends_with_ctrl_c() {
    let args = ["order", "--len", "1000000000", "--json"];
    let mut child = command(&args, USUAL)
        .spawn()
        .expect("the executable starts");
    let mut out = child.stdout.take().expect("it is piped");
    let reader = std::thread::Builder::new()
        .spawn(move || std::io::copy(&mut out, &mut std::io::sink()))
        .expect("a thread");
    std::thread::sleep(Duration::from_millis(500));
    signal(child.id(), libc::SIGINT);
    let output = finished(child, Duration::from_secs(10));
    assert_eq!(output.status.signal(), Some(libc::SIGINT));
    assert!(reader.join().expect("it ends").is_ok());
}
