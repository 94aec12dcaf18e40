"""The checks: each takes figures of the runs and says whether the conversion passes, and why not."""
