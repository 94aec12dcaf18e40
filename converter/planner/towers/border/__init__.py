"""Values and names that enter or leave the loop."""
