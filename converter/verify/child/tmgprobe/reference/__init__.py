"""The reference: what the original computes on the shards of a recorded batch, and comparisons with it."""
