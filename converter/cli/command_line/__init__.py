"""The command line: the table of commands and options, its help, and how it is read."""
