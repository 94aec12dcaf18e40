"""One process for each GPU, on one machine or several: each runs the script on its part of the data."""
