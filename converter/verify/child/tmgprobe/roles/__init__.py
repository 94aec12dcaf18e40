"""The roles of a script's process: record the conversion's steps, replay them with the original, profile, trace."""
