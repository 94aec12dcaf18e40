"""What Keras cannot do under a strategy."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG289",
        title="this use of Keras does not work with a distribution strategy",
        why="fit_generator(), train_on_batch(), class_weight and validation_split raise an error under a strategy on "
        "TensorFlow 1.15; a GradientTape applies gradients without it; a model that is built before compile() is "
        "out of sight, or data without a name, cannot be changed safely. A stateful layer hands its state on to "
        "the next batch, which is another GPU's. A session that the script makes for Keras (`K.set_session`) takes the "
        "place of the one that Keras would make for the strategy. The message says which it is, and what to write "
        "instead.",
        before="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
    tf.keras.layers.Dense(10, activation='softmax'),
])
model.compile('adam', 'sparse_categorical_crossentropy')
model.fit(images, labels, batch_size=64, epochs=5, validation_split=0.1)
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
