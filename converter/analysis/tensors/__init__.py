"""What operations do to the axis of the batch."""
