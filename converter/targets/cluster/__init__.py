"""Several machines: each worker runs the script on its rows of every batch; parameter servers hold the variables."""
