"""What the tool knows about TensorFlow: one file per pattern family, found by walking the package."""
