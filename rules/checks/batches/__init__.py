"""Batches, their sizes and their rows."""
