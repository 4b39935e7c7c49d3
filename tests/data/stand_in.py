"""A program without PyTorch that tells of one loader as the probe does: for tests of what runs a program again and again."""

import json, os, socket, sys, time, signal
open("written.txt", "a").write("run\n")
print("hello from the program")
if "fails" in sys.argv: sys.exit(9)
path = os.environ["LOADSCOPE_PROBE_TO"].partition(":")[2]
there = socket.socket(socket.AF_UNIX); there.connect(path)
now = time.monotonic_ns
def say(*line): there.sendall((json.dumps(line[0] if len(line) == 1 else line) + "\n").encode())
set_, stop = (json.loads(os.environ.get("LOADSCOPE_PROBE_" + name, "{}")) for name in ("SET", "STOP"))
arguments = {"num_workers": 1, "in_order": True, **set_.get("set", {})}
workers = arguments["num_workers"]
say({"loadscope_stream": 1, "token": os.environ["LOADSCOPE_PROBE_TOKEN"], "pid": os.getpid(), "parent": os.getppid(),
     "monotonic": now(), "realtime": time.time_ns(), "host": "here", "boot": "now", "torch": "2.13.0", "program": "stand_in.py", "cores": 8})
t0 = now()
say("loader", t0, 0, {"dataset": "Spoken", "batch_size": 2, "file": "/home/me/stand_in.py", "line": 7, "place": "stand_in.py:7", **arguments})
say("epoch", t0, 0, 0, 0)
if "boom" in sys.argv and workers > 6:
    print("boom", file=sys.stderr); sys.exit(3)
every = max(0.024 / max(workers, 1), 0.004)
total = 400
try:
    print("ready", flush=True)
    for batch in range(total):
        if "batches" in stop and batch >= stop["batches"]:
            say("stop", now(), 0, 0); say("end", now(), 0, 0); say("bye", now(), 0)
            print("stopped"); sys.exit(130)
        say("wait", now(), 0)
        say("dispatch", now(), 0, 0, batch, None, batch, "AAAAAAAAAAABAAAAAAAAAA==")
        begin = now(); say("begin", begin, 0, 0, batch)
        time.sleep(every)
        end = now(); say("fetch", begin, 0, 0, batch, end - 1000, end, 0, "", "", [])
        say("yield", now(), 0, 0, batch)
        if "slow" in sys.argv: time.sleep(0.2)
        time.sleep(0.001)
    say("end", now(), 0, 0); say("bye", now(), 0)
except KeyboardInterrupt:
    print("interrupted"); sys.exit(130)
