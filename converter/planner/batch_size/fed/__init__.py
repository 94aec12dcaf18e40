"""What the training steps are fed, and the numbers that determine how many rows it has."""
