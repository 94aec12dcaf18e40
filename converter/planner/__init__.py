"""From facts to a plan: decides, and refuses where it cannot be sure."""
