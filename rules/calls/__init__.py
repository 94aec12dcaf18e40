"""What each call means to a batch: one file for each family of calls."""
