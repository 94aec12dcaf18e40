"""What `--variables partitioned` cannot cut."""
