"""The training step: gradients and the learning rate."""
