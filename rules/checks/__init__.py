"""Refusals and warnings: their pages, and the checks that find them."""
