"""Runs inside the interpreter that verifies: never imported by the converter, and imports nothing of it.

These files keep to the syntax that Python 2.7 and Python 3.4 and later share. `probe.py` is run by
its path; the package beside it bears a name that no user's module has, as it shares a process with one.
"""
