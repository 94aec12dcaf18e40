"""Variables cut into slices (`--variables partitioned`)."""
