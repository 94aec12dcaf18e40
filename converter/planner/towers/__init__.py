"""The towers: one copy of the model for each GPU, in a loop. What goes in, what comes out, and the gradient."""
