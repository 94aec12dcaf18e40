"""What a distribution strategy cannot do for a script that an Estimator or Keras trains, or does otherwise."""
