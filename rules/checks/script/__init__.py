"""Sessions, devices and functions that the towers cannot have."""
