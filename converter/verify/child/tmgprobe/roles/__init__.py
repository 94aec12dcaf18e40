"""What a script's process does: record the converted one's steps, replay the original's, profile, trace."""
