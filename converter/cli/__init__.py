"""The command line: parses arguments, runs the command, prints the result."""
