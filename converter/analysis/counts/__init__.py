"""What numbers count: sums of products of batch sizes, loop counters, lengths of data, unknown numbers."""
