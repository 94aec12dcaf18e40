"""What changes in a PyTorch script for a process for each GPU."""
