"""A program that spends half of its time in Python code, three tenths in a sleep, and the rest in C code."""

import time
import zlib

DATA = bytes(1 << 18)


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:  # spin
        pass


def rest(seconds):
    time.sleep(seconds)  # rest


def compress(seconds):
    end = time.perf_counter() + seconds
    while True:
        zlib.adler32(DATA)  # compress
        if time.perf_counter() > end:
            return


while True:
    spin(0.05)
    rest(0.03)
    compress(0.02)
