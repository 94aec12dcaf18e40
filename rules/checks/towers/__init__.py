"""What would not be the same in each tower, or after them."""
