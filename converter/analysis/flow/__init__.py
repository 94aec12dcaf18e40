"""Branches and loops: values after a branch, changes that a branch makes, limits for loops and calls."""
