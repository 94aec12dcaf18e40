"""Batches, their sizes and the flags around them."""
