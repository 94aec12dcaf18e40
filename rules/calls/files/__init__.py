"""Calls of Python's own modules by which scripts find their files."""
