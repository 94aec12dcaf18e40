"""What changes in a script that trains by Keras."""

from __future__ import annotations

from converter.rule import Rule

RULES = (
    Rule(
        code="TMG153",
        title="a Keras model is built under a distribution strategy",
        why="Variables that are made inside strategy.scope() have a copy on each GPU, and fit() runs under the "
        "strategy of the scope in which the model was compiled. The statements from the first layer to compile() "
        "move into the scope and are only indented.",
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
""",
        after="""\
strategy = tf.distribute.MirroredStrategy(['/gpu:0', '/gpu:1'])
with strategy.scope():
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
        tf.keras.layers.Dense(10, activation='softmax'),
    ])
    model.compile('adam', 'sparse_categorical_crossentropy')
""",
        references=("tf.distribute.MirroredStrategy (tensorflow/python/distribute/mirrored_strategy.py, 1.15)",),
    ),
    Rule(
        code="TMG154",
        title="the batch size of fit() is that of all GPUs together",
        why="fit() shares each batch between the GPUs, so the script's batch size is multiplied by their number: each "
        "GPU takes as many examples as one did before. An Estimator takes a batch for each GPU instead. With "
        "--batch total the batch of the script stays the one of all GPUs: an Estimator's is divided.",
        before="""\
import numpy as np
import tensorflow as tf

images, labels = np.load('images.npy'), np.load('labels.npy')
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation='relu', input_shape=(784,)),
    tf.keras.layers.Dense(10, activation='softmax'),
])
model.compile('adam', 'sparse_categorical_crossentropy')
data = tf.data.Dataset.from_tensor_slices((images, labels))
data = data.batch(64)
model.fit(data, epochs=5)
""",
        after="""\
data = data.batch(64 * strategy.num_replicas_in_sync, drop_remainder=True)
""",
    ),
    Rule(
        code="TMG155",
        title="fit() takes whole batches only",
        why="A last batch that the GPUs cannot share evenly is an error on some versions of TensorFlow, and a step "
        "with other weights than one GPU would take on others. The rows that do not fill a batch of all GPUs are "
        "left out, the same in each epoch. Where there are fewer rows than a batch of all GPUs has, a GPU's batch "
        "is its share of them.",
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
""",
        after="""\
replicas = strategy.num_replicas_in_sync
global_batch = min(64, len(images) // replicas) * replicas
rows = len(images) // global_batch * global_batch  # whole batches, the same for each GPU
model.fit(images[:rows], labels[:rows], batch_size=global_batch, epochs=5)
""",
    ),
)
