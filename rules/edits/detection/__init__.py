"""Changes of configurations of the Object Detection API."""
