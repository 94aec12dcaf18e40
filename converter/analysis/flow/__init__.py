"""Branches and loops: what either branch leaves, what it changes, and how many turns are followed."""
