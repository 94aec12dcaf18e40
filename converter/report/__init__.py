"""What was found and done, as text, as a diff, and as data; nothing is decided here."""
