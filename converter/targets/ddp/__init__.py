"""PyTorch scripts become one process for each GPU, started by torchrun, with DistributedDataParallel.

Each process holds the model, takes a batch of its own, and applies the mean of all gradients, so that the models stay
the same. Rank 0 prints, evaluates and saves.
"""
