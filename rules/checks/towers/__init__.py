"""Values that would differ from tower to tower, or after the towers."""
