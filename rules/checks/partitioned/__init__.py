"""Variables that `--variables partitioned` cannot cut."""
