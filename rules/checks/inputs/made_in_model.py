"""An input is made by the same statement as the model that reads it."""

from __future__ import annotations

from converter.planner.found import Found
from converter.planner.wording import Words
from converter.rule import Rule

RULES = (
    Rule(
        code="TMG204",
        title="an input is made by the same statement as the model that reads it",
        why="The inputs stand before the loop, the model inside. Here one statement makes both, by a function that "
        "reads a batch and builds the model, so the loop has no place to begin between them. Each tower would read "
        "batches of its own. Read the batch first and hand it to the function. Placeholders that tf.placeholder makes "
        "in such a function may stay there: each tower is handed its rows (TMG124).",
        before="""\
import tensorflow as tf

batch_size = 64


def model():
    x, y = tf.train.batch(read_example(), batch_size)
    return tf.layers.dense(x, 64), y


hidden, Y = model()
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(hidden, 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.start_queue_runners(sess)
    for step in range(100):
        sess.run(train_op)
""",
        after="""\
import tensorflow as tf

batch_size = 64


def model(x):
    return tf.layers.dense(x, 64)


X, Y = tf.train.batch(read_example(), batch_size)
loss = tf.losses.sparse_softmax_cross_entropy(Y, tf.layers.dense(model(X), 10))
train_op = tf.train.AdamOptimizer(0.001).minimize(loss)

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    tf.train.start_queue_runners(sess)
    for step in range(100):
        sess.run(train_op)
""",
    ),
)

WORDS = {
    Found.FED_IN_PLACE_OF_RESULT: Words(
        "TMG204",
        "this is computed by the model, and this run feeds a value in its place",
        "build what follows it once more on a placeholder, with reuse=True, and feed that",
    ),
    Found.DEFAULT_OF_BATCH: Words(
        "TMG204",
        "the default of this input is computed from the batch by the model",
        "compute it before the statements that build the model",
    ),
    Found.INPUT_OF_UNCALLED_CODE: Words(
        "TMG204",
        "nothing here calls {name}: in which order its methods make this input, the model and the loss is not seen",
        "convert the script that calls it: this file changes with it (--output-dir)",
    ),
    Found.INPUT_BY_STATEMENT_OF_MODEL: Words(
        "TMG204",
        "this input is made by the same statement as the model that reads it, {line}",
        "make it in a statement of its own before the model: a placeholder, or what get_next() gives",
    ),
}
