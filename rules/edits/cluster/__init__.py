"""Pages of what is written for a cluster."""
