"""What a script may be converted for beside towers: `registry.py` lists the targets, each has a folder here."""
