"""Calls by which batches and flags enter a script."""
