"""What must be refused, or warned of, before anything is planned."""
