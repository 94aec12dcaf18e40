"""Training steps and losses."""
