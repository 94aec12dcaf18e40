"""Follows Python: statements, expressions, calls, imports, and where branches join."""
