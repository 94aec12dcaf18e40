"""Batch normalisation under a strategy."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG381",
        title="batch normalisation takes its statistics from the examples of one GPU",
        why="Each replica normalises its own batch, as the original does with its batch; the moving averages are the "
        "mean over the GPUs (with Keras 3 those of the first). The weights therefore differ from those of one GPU that "
        "takes all of the examples at once, as they do with towers.",
        before="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
    tf.keras.layers.BatchNormalization(),
    tf.keras.layers.Dense(10, activation='softmax'),
])
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(images, labels, batch_size=64, epochs=5)
""",
        after="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
    tf.keras.layers.Dense(10, activation='softmax'),
])
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(images, labels, batch_size=64, epochs=5)
""",
    ),
)
