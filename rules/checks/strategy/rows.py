"""Numbers of rows that the GPUs cannot share."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG382",
        title="evaluate() and predict() need rows that the GPUs can share",
        why="Under a strategy Keras shares each batch of evaluate(), predict() and the validation in fit() between the "
        "GPUs. On TensorFlow 1.15 arrays whose rows are no multiple of the batch size raise a ValueError, on newer "
        "versions a last batch that leaves a GPU fewer rows may. A tf.data dataset works on 1.15.",
        before="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
    tf.keras.layers.Dense(10, activation='softmax'),
])
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(images, labels, batch_size=64, epochs=5)
print(model.evaluate(images, labels))
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
