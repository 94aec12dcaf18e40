"""Scripts that were converted for a cluster: what their workers do, and the original on the workers' rows."""
