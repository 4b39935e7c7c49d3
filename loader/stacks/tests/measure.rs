#![allow(clippy::all)]
use loadscope_stacks::*;
use std::collections::HashMap;
use std::time::{Duration, Instant};
fn on_cpu() -> HashMap<String, u64> {
    let mut m = HashMap::new();
    for t in std::fs::read_dir("/proc/self/task").unwrap().flatten() {
        let p = t.path();
        let (Ok(c), Ok(s)) = (
            std::fs::read_to_string(p.join("comm")),
            std::fs::read_to_string(p.join("schedstat")),
        ) else {
            continue;
        };
        *m.entry(c.trim().to_owned()).or_insert(0) +=
            s.split(' ').next().unwrap().parse::<u64>().unwrap();
    }
    m
}
#[test]
fn measure() {
    let pid: u32 = std::env::var("PID").unwrap().parse().unwrap();
    let seconds: u64 = std::env::var("SECONDS_")
        .unwrap_or("20".into())
        .parse()
        .unwrap();
    let rate: u32 = std::env::var("RATE_")
        .unwrap_or("100".into())
        .parse()
        .unwrap();
    let kids = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let mut pids: Vec<u32> = kids
        .split_whitespace()
        .map(|k| k.parse().unwrap())
        .collect();
    pids.push(pid);
    let sampler = Sampler::start(rate).unwrap();
    sampler.set_processes(pids.clone());
    std::thread::sleep(Duration::from_secs(3));
    sampler.take();
    let a = on_cpu();
    let t = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds));
    let b = on_cpu();
    let t = t.elapsed();
    let s = sampler.take();
    let ns = b["sampler"] - a["sampler"];
    let ticks = t.as_secs_f64() * f64::from(rate);
    println!(
        "sampler thread: {:.1} ms in {:.2} s = {:.3} % of a core; {:.1} us per process sample ({} processes); kept {} in {} entries, nodes {}, skipped {}",
        ns as f64 / 1e6,
        t.as_secs_f64(),
        100.0 * ns as f64 / 1e9 / t.as_secs_f64(),
        ns as f64 / 1e3 / ticks / pids.len() as f64,
        pids.len(),
        s.samples.iter().map(|x| u64::from(x.count)).sum::<u64>(),
        s.samples.len(),
        s.nodes.len(),
        s.skipped
    );
}
