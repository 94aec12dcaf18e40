"""What is run: one verification for each choice, whole folders, other scripts, whole runs, a strategy, a trace."""
