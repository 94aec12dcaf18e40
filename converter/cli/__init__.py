"""The command line: parses what is asked for, runs it, prints what came of it."""
