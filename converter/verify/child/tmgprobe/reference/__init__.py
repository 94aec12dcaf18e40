"""The reference: a step that the original takes on the shards of the batch, and comparisons with it."""
