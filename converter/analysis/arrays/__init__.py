"""The shapes and rows of arrays that NumPy and Python make, as far as a script shows them."""
