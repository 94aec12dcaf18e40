"""The processes that scripts run in: their jobs, the line to the starter, the TensorFlow that scripts are given."""
