"""The algebra of batch axes: how operations move, keep or reduce the batch."""
