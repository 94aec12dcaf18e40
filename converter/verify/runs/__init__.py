"""The kinds of runs: one for each choice, whole folders, other scripts, whole runs, a strategy, a trace."""
