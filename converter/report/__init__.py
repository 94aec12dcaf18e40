"""Shows what was found and done, as text, as a diff, as pages and as data; nothing is decided here."""
