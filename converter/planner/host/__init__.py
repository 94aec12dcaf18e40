"""The script around the towers: the number of GPUs, sessions, devices."""
