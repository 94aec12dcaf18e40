"""Layers, cells and variables."""
