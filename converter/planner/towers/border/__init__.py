"""What crosses the border of the loop."""
