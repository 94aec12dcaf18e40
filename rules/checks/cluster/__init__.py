"""Pages of what keeps a script from a cluster."""
