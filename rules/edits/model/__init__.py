"""Layers and variables."""
