"""Functions and methods of Python's own library, as far as they decide how a graph is built."""
