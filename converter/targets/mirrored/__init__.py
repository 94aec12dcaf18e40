"""Scripts that an Estimator or Keras trains get tf.distribute.MirroredStrategy.

A distribution strategy does what towers do, in TensorFlow's own training loops: each GPU holds a replica of the model,
takes a batch of its own, and the mean of the gradients is applied once.
"""
