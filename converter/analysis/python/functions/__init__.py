"""Functions of the script: what their decorators and the names of their parameters say."""
