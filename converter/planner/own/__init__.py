"""Inputs of which each tower has its own: which these are, and how the script's reader of examples fills them."""
