"""The cases of `make_cases.py`: one module for what belongs together, one function for a file."""
