"""Losses that are computed once, behind the towers, from their merged results."""
