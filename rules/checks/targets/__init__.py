"""What is asked of a target, whichever it is, that it cannot do."""
