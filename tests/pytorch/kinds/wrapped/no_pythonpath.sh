#!/bin/sh
# What another tool has put into PYTHONPATH must not get into this training.
cd "$(dirname "$0")" || exit 1
env -u PYTHONPATH python training/train.py
