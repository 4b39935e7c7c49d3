"""Makes pipeline.sqlite with SPDL itself, logged as its example `examples/sqlite_stats_logger.py` logs, and truth.json.

python make.py        (SPDL 0.8 was used)
"""

import asyncio
import dataclasses
import json
import pathlib
import sqlite3
import sys
import time

from spdl.pipeline import PipelineBuilder, StatsQueue, TaskStatsHook

HERE = pathlib.Path(__file__).parent
FILE = HERE / "pipeline.sqlite"
INTERVAL = 0.2

SCHEMA = """
CREATE TABLE IF NOT EXISTS task_stats (timestamp REAL NOT NULL, name TEXT NOT NULL, num_tasks INTEGER NOT NULL,
    num_failures INTEGER NOT NULL, ave_time REAL NOT NULL, p90_time REAL NOT NULL, p99_time REAL NOT NULL);
CREATE TABLE IF NOT EXISTS queue_stats (timestamp REAL NOT NULL, name TEXT NOT NULL, elapsed REAL NOT NULL,
    num_items INTEGER NOT NULL, ave_put_time REAL NOT NULL, ave_get_time REAL NOT NULL, p90_put_time REAL NOT NULL,
    p99_put_time REAL NOT NULL, p90_get_time REAL NOT NULL, p99_get_time REAL NOT NULL, occupancy_rate REAL NOT NULL);
CREATE TABLE IF NOT EXISTS event_stats (timestamp REAL NOT NULL, event_name TEXT NOT NULL);
"""


def put(table, *values):
    with sqlite3.connect(FILE, timeout=10) as file:
        file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)


class Queue(StatsQueue):
    def __init__(self, info, *, buffer_size=1):
        super().__init__(info, buffer_size=buffer_size, interval=INTERVAL)

    async def interval_stats_callback(self, stats):
        s = stats
        put("queue_stats", time.time(), str(self.info), s.elapsed, s.num_items, s.ave_put_time, s.ave_get_time, s.p90_put_time,
            s.p99_put_time, s.p90_get_time, s.p99_get_time, s.occupancy_rate)


class Hook(TaskStatsHook):
    async def interval_stats_callback(self, stats):
        s = stats
        put("task_stats", time.time(), str(self.info), s.num_tasks, s.num_failures, s.ave_time, s.p90_time, s.p99_time)


def load(number):
    time.sleep(0.004)
    return number


def decode(number):
    time.sleep(0.020)
    return number


def main():
    FILE.unlink(missing_ok=True)
    with sqlite3.connect(FILE) as file:
        file.executescript(SCHEMA)
    builder = PipelineBuilder().add_source(range(150)).pipe(load).pipe(decode, concurrency=2)
    pipeline = builder.add_sink(2).build(
        num_threads=4, queue_class=Queue, task_hook_factory=lambda info: [Hook(info, interval=INTERVAL)]
    )
    items, waited = 0, 0.0
    with pipeline.auto_stop():
        begun = asked = time.perf_counter()
        for _ in pipeline:
            waited += time.perf_counter() - asked
            items += 1
            time.sleep(0.003)
            asked = time.perf_counter()
        took = time.perf_counter() - begun
    put("event_stats", time.time(), "gc")
    truth = {"items": items, "waited_share": waited / took, "seconds": took}
    (HERE / "truth.json").write_text(json.dumps(truth) + "\n")


if __name__ == "__main__":
    sys.exit(main())
