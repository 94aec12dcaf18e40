"""Scripts that an Estimator or Keras trains get a distribution strategy."""
