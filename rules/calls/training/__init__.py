"""Losses, optimizers, sessions and what is run."""
