"""Questions about graphs: what reaches what, what costs how much, which lines of the script made it."""
