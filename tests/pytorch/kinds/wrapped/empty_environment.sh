#!/bin/sh
# A clean environment, as for reproducible runs.
cd "$(dirname "$0")" || exit 1
env -i PATH="$PATH" HOME="$HOME" python training/train.py
