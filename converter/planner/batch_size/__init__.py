"""Where the script says its batch size, and what changes there."""
