"""What comes out of the towers: merged values, names, scopes and collections."""
