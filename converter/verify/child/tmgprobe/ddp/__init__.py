"""Watches a PyTorch script: a process of a conversion for torchrun, or its original that takes the same batches."""
