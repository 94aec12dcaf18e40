"""Optimizers, sessions, devices and the files of a project."""
