#!/bin/sh
# -I: Python heeds no variable of the environment.
cd "$(dirname "$0")" || exit 1
exec python -I training/train.py
