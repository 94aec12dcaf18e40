"""Calls through which batches, flags and settings enter a script."""
