"""Scripts that an Estimator or Keras trains, under tf.distribute.MirroredStrategy on virtual devices."""
