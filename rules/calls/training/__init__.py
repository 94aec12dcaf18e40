"""Losses, optimizers and sessions."""
