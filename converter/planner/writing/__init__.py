"""Text and names: what stands where in the files, and how planned lines are written."""
