"""Where the loop stands, and which statements go into the towers, before them and after them."""
