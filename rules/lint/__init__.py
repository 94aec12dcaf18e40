"""Mistakes in scripts that use several GPUs by towers of their own: each file finds one, words and documents it."""
