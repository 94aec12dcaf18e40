"""Questions about arrays: differences, batch axes, slices of variables, entries of summaries."""
