"""A program with two forked processes and a spawned one, which work, and with processes that end soon."""

import multiprocessing
import time


def work():
    while True:
        time.sleep(0.001)  # work


def end():
    time.sleep(0.05)


if __name__ == "__main__":
    fork = multiprocessing.get_context("fork")
    spawn = multiprocessing.get_context("spawn")
    for context in (fork, fork, spawn):
        context.Process(target=work, daemon=True).start()
    while True:
        process = fork.Process(target=end)
        process.start()
        process.join()  # join
