#!/bin/sh
# As in many sbatch scripts: a PYTHONPATH of its own takes the place of what was there.
cd "$(dirname "$0")" || exit 1
PYTHONPATH=. exec python -m training.train
