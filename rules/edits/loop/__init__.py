"""The loop over the towers, and what leaves it."""
