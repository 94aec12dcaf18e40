"""Questions about the facts that several stages ask; nothing is decided here."""
