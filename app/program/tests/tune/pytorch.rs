//! Settings that are tried on real PyTorch programs.

use super::*;

/// Samples that sleep. One worker is too few on any host.
const SLEEPER: &str = r#"
import atexit, sys, time
import torch, torch.utils.data as data
class Sleeper(data.Dataset):
    def __len__(self): return 4000
    def __getitem__(self, index):
        time.sleep(0.004)
        return torch.zeros(4) + index
def main():
    loader = data.DataLoader(Sleeper(), batch_size=4, num_workers=1)
    other = data.DataLoader(Sleeper(), batch_size=2, num_workers=1)
    print("workers", loader.num_workers, loader.prefetch_factor, other.num_workers, flush=True)
    try:
        for batch in loader: time.sleep(0.002)
    finally: print("cleaned up", flush=True)
if __name__ == "__main__":
    atexit.register(lambda: print("goodbye", flush=True))
    main()
"#;

#[test]
fn more_workers_are_advised_for_one_slow_worker() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("train.py"), SLEEPER).expect("written");
    let word = format!("unmistakable-{}", std::process::id());
    let mut command = loadscope(dir.path());
    command
        .args([
            "tune",
            "--stop-after",
            "40",
            "--tries",
            "2",
            "--json",
            "-o",
            "out",
            "--",
        ])
        .arg(python)
        .args(["train.py", &word]);
    let output = within_deadline(command);
    let table = json(&output);
    assert_eq!(table["loader"], "train.py:10", "{table:#}");
    let runs = table["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 4, "{table:#}");
    let best = table["recommended"]["num_workers"]
        .as_u64()
        .expect("more workers");
    assert!(best >= 3, "{table:#}");
    let best_run = runs
        .iter()
        .find(|run| run["set"] == table["recommended"])
        .expect("it was tried");
    assert_eq!(best_run["outcome"], "faster");
    assert!(
        best_run["seconds"].as_f64() < runs[0]["seconds"].as_f64().map(|own| own * 0.6),
        "{table:#}"
    );
    assert!(!best_run["forecast"]["seconds"].is_null(), "{table:#}");
    // The arguments were changed for this loader only, and the program ended normally.
    for (at, run) in runs.iter().enumerate() {
        let workers = run["set"]["num_workers"].as_u64().unwrap_or(1);
        let factor = run["set"]["prefetch_factor"].as_u64().unwrap_or(2);
        let name = run["recording"]
            .as_str()
            .expect("a name")
            .replace(".jsonl.zst", ".log");
        let log = std::fs::read_to_string(dir.path().join("out").join(name)).expect("the output");
        let expected = format!("workers {workers} {factor} 1");
        let own = |line: &&str| [expected.as_str(), "cleaned up", "goodbye"].contains(line);
        // In between, PyTorch may warn about more workers than cores.
        let lines: Vec<&str> = log.lines().filter(own).collect();
        assert_eq!(
            lines,
            [expected.as_str(), "cleaned up", "goodbye"],
            "{at}: {log}"
        );
        assert!(!log.contains("Traceback"), "{at}: {log}");
    }
    assert_eq!(
        std::fs::read_to_string(dir.path().join("train.py")).expect("it is there"),
        SLEEPER
    );
    assert!(!self::runs(&word));
}

/// Samples with optional random noise. The seed is the same in each run.
const NOISY: &str = r#"
import sys, time
import torch, torch.utils.data as data
class Noisy(data.Dataset):
    def __len__(self): return 400
    def __getitem__(self, index):
        time.sleep(0.002)
        noise = torch.rand(3, 8) if sys.argv[1] == "noise" else torch.zeros(3, 8)
        return {"image": noise + index, "label": index, "name": f"{index}.png"}
if __name__ == "__main__":
    torch.manual_seed(0)
    for batch in data.DataLoader(Noisy(), batch_size=4, num_workers=1): time.sleep(0.001)
"#;

#[test]
fn values_that_depend_on_the_worker_are_reported() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(dir.path().join("train.py"), NOISY).expect("written");
    let notes = |kind: &str| {
        let mut command = loadscope(dir.path());
        command
            .args(["tune", "--stop-after", "20", "--json", "-o", kind])
            .args(["--try", "num_workers=3", "--try", "prefetch_factor=4", "--"])
            .arg(&python)
            .args(["train.py", kind]);
        json(&within_deadline(command))["notes"].to_string()
    };
    let noise = notes("noise");
    // Worker 0 has the same seed for any number of workers.
    assert!(
        noise.contains("num_workers=3 changes the values of the batches: batch 1 differs"),
        "{noise}"
    );
    assert!(!noise.contains("prefetch_factor=4 changes"), "{noise}");
    let plain = notes("plain");
    assert!(!plain.contains("changes the"), "{plain}");
}

#[test]
fn record_sets_valid_arguments_and_reports_invalid_ones() {
    let Some(python) = needed_pytorch() else {
        return;
    };
    let dir = tempfile::tempdir().expect("a temporary folder");
    let program = "import sys, torch.utils.data as data\n\
                   def show(loader): print(loader.num_workers, loader.prefetch_factor, loader.persistent_workers, loader.in_order, sum(map(len, loader)))\n\
                   if __name__ == '__main__':\n\
                   \x20   show(data.DataLoader(range(40), 4, num_workers=0))\n\
                   \x20   show(data.DataLoader(range(40), 4, num_workers=1, prefetch_factor=3, persistent_workers=True, timeout=9))\n";
    std::fs::write(dir.path().join("train.py"), program).expect("written");
    let record = |log: &str, set: &[&str]| {
        let mut command = loadscope(dir.path());
        command
            .args(["record", "-o", log])
            .args(set)
            .arg("--")
            .arg(&python)
            .arg("train.py");
        let output = within_deadline(command);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut lines: Vec<String> = text(&output.stdout).lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let plain = record("plain.jsonl", &[]);
    assert_eq!(plain, ["0 None False True 40", "1 3 True True 40"]);
    let set = record(
        "set.jsonl",
        &["--set", "num_workers=2", "--set", "in_order=false"],
    );
    assert_eq!(set, ["2 2 False False 40", "2 3 True False 40"]);
    let log = std::fs::read_to_string(dir.path().join("set.jsonl")).expect("the recording");
    assert!(
        log.contains("Loadscope set num_workers=2 (it was 0), in_order=False (it was True)"),
        "{log}"
    );
    // Without workers, the arguments that need workers are removed.
    let none = record(
        "none.jsonl",
        &["--set", "num_workers=0", "--loader", "train.py:5"],
    );
    assert_eq!(none, ["0 None False True 40", "0 None False True 40"]);
    let one = record(
        "one.jsonl",
        &["--set", "prefetch_factor=7", "--loader", "train.py"],
    );
    assert_eq!(one, ["0 None False True 40", "1 7 True True 40"]);
    let mut wrong = loadscope(dir.path());
    wrong
        .args(["record", "--set", "batch_size=3", "--"])
        .arg(&python)
        .arg("train.py");
    let wrong = within_deadline(wrong);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(
        text(&wrong.stderr).contains("unknown key 'batch_size'"),
        "{}",
        text(&wrong.stderr)
    );
}
